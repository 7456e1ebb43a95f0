package main

import "testing"

func TestNewChildStat(t *testing.T) {
	for _, tt := range []struct {
		nodesWith map[int64]int64
		want      childStat
	}{
		{nil, childStat{}},
		{map[int64]int64{5: 1}, childStat{Mean: 5, P99: 5, Max: 5}},
		{map[int64]int64{1: 99, 101: 1}, childStat{Mean: 2, P99: 1, Max: 101}},
		{map[int64]int64{1: 98, 51: 2}, childStat{Mean: 2, P99: 51, Max: 51}},
		{map[int64]int64{1: 1, 3: 1}, childStat{Mean: 2, P99: 3, Max: 3}},
	} {
		if got := *newChildStat(tt.nodesWith); got != tt.want {
			t.Errorf("%v: %+v, want %+v", tt.nodesWith, got, tt.want)
		}
	}
}

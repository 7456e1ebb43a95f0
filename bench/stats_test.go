package bench

import (
	"math"
	"testing"
	"time"
)

func TestSummarize(t *testing.T) {
	const ms = time.Millisecond
	for _, tc := range []struct {
		name  string
		times []time.Duration
		ops   int
		want  Summary
	}{
		{"one", []time.Duration{2 * ms}, 100,
			Summary{Min: 2, Median: 2, Max: 2, Mean: 2, Std: 0, Ops: 50_000}},
		{"odd, unsorted", []time.Duration{9 * ms, 1 * ms, 2 * ms}, 1,
			// Mean 4; squares 25 + 9 + 4 = 38, over 2.
			Summary{Min: 1, Median: 2, Max: 9, Mean: 4, Std: math.Sqrt(19), Ops: 250}},
		{"even", []time.Duration{4 * ms, 2 * ms, 8 * ms, 6 * ms}, 10,
			// Mean 5; squares 1 + 9 + 9 + 1 = 20, over 3.
			Summary{Min: 2, Median: 5, Max: 8, Mean: 5, Std: math.Sqrt(20.0 / 3), Ops: 2000}},
		{"nanoseconds", []time.Duration{1500}, 1,
			Summary{Min: 0.0015, Median: 0.0015, Max: 0.0015, Mean: 0.0015, Ops: 1e6 / 1.5}},
		{"clock stood still", []time.Duration{0}, 1, Summary{}},
	} {
		first := tc.times[0]
		got := summarize(tc.times, tc.ops)
		for _, pair := range [][2]float64{
			{got.Min, tc.want.Min}, {got.Median, tc.want.Median}, {got.Max, tc.want.Max},
			{got.Mean, tc.want.Mean}, {got.Std, tc.want.Std}, {got.Ops, tc.want.Ops},
		} {
			if math.Abs(pair[0]-pair[1]) > 1e-6 {
				t.Errorf("%s: got %+v, want %+v", tc.name, got, tc.want)
				break
			}
		}
		if tc.times[0] != first {
			t.Errorf("%s: the times were reordered", tc.name)
		}
	}
}

func TestRatioRange(t *testing.T) {
	for _, tc := range []struct {
		okra, lmdb []time.Duration
		low, high  float64
	}{
		{[]time.Duration{30}, []time.Duration{10}, 3, 3},
		{[]time.Duration{30, 10, 20}, []time.Duration{10, 10, 10}, 1, 3},
		// Ratios 1..9: the quartiles are the third and the seventh.
		{[]time.Duration{9, 8, 7, 6, 5, 4, 3, 2, 1},
			[]time.Duration{1, 1, 1, 1, 1, 1, 1, 1, 1}, 3, 7},
	} {
		low, high := ratioRange(tc.okra, tc.lmdb)
		if low != tc.low || high != tc.high {
			t.Errorf("%v / %v: got %v..%v, want %v..%v", tc.okra, tc.lmdb, low, high, tc.low, tc.high)
		}
	}
}

func TestRatioIsFinite(t *testing.T) {
	for _, x := range []float64{ratio(0, 0), ratio(1, 0), ratio(0, 1)} {
		if math.IsInf(x, 0) || math.IsNaN(x) || x <= 0 {
			t.Errorf("ratio with a time of zero is %v", x)
		}
	}
	if ratio(0, 0) != 1 {
		t.Errorf("ratio(0, 0) = %v, want 1", ratio(0, 0))
	}
}

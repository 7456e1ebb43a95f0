package bench

import (
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	old := Spread{Mid: 2, Low: 1.9, High: 2.1}
	for _, tc := range []struct {
		name string
		new  Spread
		want string
	}{
		{"equal", old, VerdictSame},
		{"ranges overlap", Spread{Mid: 3, Low: 2.1, High: 3.5}, VerdictSame},
		{"within a fifth", Spread{Mid: 2.4, Low: 2.3, High: 2.5}, VerdictSame},
		{"slower", Spread{Mid: 2.5, Low: 2.3, High: 2.6}, VerdictSlower},
		{"faster", Spread{Mid: 1.5, Low: 1.4, High: 1.6}, VerdictFaster},
		{"a little faster", Spread{Mid: 1.7, Low: 1.6, High: 1.8}, VerdictSame},
	} {
		if got := Judge(old, tc.new); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
	if got := Judge(Spread{Mid: 3, Low: 3, High: 3}, old); got != VerdictFaster {
		t.Errorf("got %q, want %q", got, VerdictFaster)
	}
}

func TestCompareMatchesRowsAndSizes(t *testing.T) {
	old := Report{Results: []Result{
		{Entries: 1000, Row: "load", Ratio: 2, RatioLow: 2, RatioHigh: 2},
		{Entries: 50_000, Row: "load", Ratio: 9, RatioLow: 9, RatioHigh: 9},
		{Entries: 1000, Row: "gone", Ratio: 1, RatioLow: 1, RatioHigh: 1},
	}}
	current := Report{Results: []Result{
		{Entries: 1000, Row: "load", Ratio: 3, RatioLow: 3, RatioHigh: 3},
		{Entries: 1000, Row: "iterate", Ratio: 1, RatioLow: 1, RatioHigh: 1},
	}}
	got := compare(old, current)
	if len(got) != 2 {
		t.Fatalf("%d comparisons, want 2", len(got))
	}
	c := got[0]
	if c.Old.Mid != 2 || c.New.Mid != 3 || c.Change != 1.5 || c.Verdict != VerdictSlower {
		t.Errorf("load: %+v", c)
	}
	if c := got[1]; c.Verdict != VerdictNew || c.Old != (Spread{}) || c.Change != 0 {
		t.Errorf("iterate: %+v", c)
	}
}

func TestBaselineOfOtherWorkIsRefused(t *testing.T) {
	for _, tc := range []struct {
		env  Environment
		want string
	}{
		{Environment{Sync: true, ValueSize: 100}, "100 bytes"},
		{Environment{Sync: false, ValueSize: 8}, "syncs"},
	} {
		_, err := Config{Baseline: &Report{Env: tc.env}}.withDefaults()
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: error %v, want one with %q", tc.env, err, tc.want)
		}
	}
	_, err := Config{Baseline: &Report{Env: Environment{Sync: true, ValueSize: 8}}}.withDefaults()
	if err != nil {
		t.Error(err)
	}
}

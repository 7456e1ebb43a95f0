package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shirou/gopsutil/v4/process"
)

func TestRun(t *testing.T) {
	o, cells := plan(t, "plain", "helped")
	var done []Result
	var progress []Progress
	results, err := Run(t.Context(), testSuite(), o, cells, Hooks{
		Done:     func(r Result) error { done = append(done, r); return nil },
		Progress: func(p Progress) { progress = append(progress, p) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != 2 || len(done) != 2 {
		t.Fatalf("%d results, %d done", len(results), len(done))
	}
	// Two repetitions of two sides, and of one.
	if len(progress) != 6 || progress[5].Done != 5 || progress[5].Total != 6 {
		t.Errorf("progress %+v", progress)
	}
	r := results[0]
	if r.Suite != "test" || r.Name != "plain" || r.Param("n") != "7" || r.Seed != 9 || r.Repetitions != 2 ||
		r.Quick || r.Machine.Cores < 1 || r.Finished.IsZero() || len(r.Sides) != 3 {
		t.Errorf("result %+v", r)
	}
	for _, s := range r.Sides[:2] {
		if len(s.Measurements) != 2 || s.Median != 2 || s.FileSize != int64(len(entry)) {
			t.Errorf("side %+v", s)
		}
		if runtime.GOOS == "linux" && (s.PeakMemory < 1<<20 || s.PeakMemory > 1<<30) {
			t.Errorf("peak memory of %d bytes", s.PeakMemory)
		}
		// Another seed in each repetition: the sums are of the seed and the random numbers.
		if s.Measurements[0].Sum == s.Measurements[1].Sum {
			t.Errorf("two repetitions did the same")
		}
	}
	if fields := fmt.Sprint(Fields(results)); strings.Contains(fields, "cells") {
		t.Errorf("a run that is whole: %s", fields)
	}
	if r.Sides[1].Verdict != "same" || r.Sides[1].Ratio != 1 {
		t.Errorf("side %+v", r.Sides[1])
	}
	if s := r.Sides[2]; s.Absent != "not installed" || len(s.Measurements) != 0 {
		t.Errorf("absent side %+v", s)
	}
	again, err := Run(t.Context(), testSuite(), o, cells[:1], Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	if runs := Runs(slices.Concat(results, again)); len(runs) != 2 || len(runs[0]) != 2 || len(runs[1]) != 1 {
		t.Errorf("two runs are told apart as %d", len(runs))
	}
}

// The side that comes first in a repetition comes last in the next.
func TestSidesTakeTurns(t *testing.T) {
	o, cells := plan(t, "turns")
	results, err := Run(t.Context(), testSuite(), o, cells, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]float64{{1, 4}, {2, 3}} {
		var got []float64
		for _, m := range results[0].Sides[i].Measurements {
			got = append(got, m.Value)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s ran as number %v, want %v", results[0].Sides[i].Name, got, want)
		}
	}
}

// Each cell of failing has a side that does not do its work, or does it wrong. None may give
// figures, and none keeps the others from being measured.
func TestRunFailsWhenWorkIsNotDone(t *testing.T) {
	o, cells := plan(t, "failing", "plain")
	results, err := Run(t.Context(), testSuite(), o, cells, Hooks{})
	if len(results) != 1 || results[0].Name != "plain" {
		t.Fatalf("%d results", len(results))
	}
	// Who reads them must see that some are missing.
	want := fmt.Sprintf("cells: 1 of %d]", len(cells))
	if fields := fmt.Sprint(Fields(results)); len(cells) < 2 || !strings.Contains(fields, want) {
		t.Errorf("no %q in %s", want, fields)
	}
	if err == nil {
		t.Fatal("no error")
	}
	for name, f := range failing() {
		if !slices.ContainsFunc(strings.Split(err.Error(), "cells: "), func(one string) bool {
			return strings.HasPrefix(one, "failing "+name) && strings.Contains(one, "lmdb, repetition 1: ") &&
				strings.Contains(one, f.want)
		}) {
			t.Errorf("%s: no %q in:\n%v", name, f.want, err)
		}
	}
}

func TestRunShares(t *testing.T) {
	o, cells := plan(t, "shared")
	results, err := Run(t.Context(), testSuite(), o, cells, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	of := func(cell, side, repetition int) float64 {
		return results[cell].Sides[side].Measurements[repetition].Value
	}
	for side := range 2 {
		if of(0, side, 0) != of(0, side, 1) || of(0, side, 0) != of(1, side, 0) {
			t.Errorf("side %d was prepared twice", side)
		}
	}
	if of(0, 0, 0) == of(0, 1, 0) {
		t.Error("the sides share one folder")
	}
}

func TestRunSharesInPlace(t *testing.T) {
	o, cells := plan(t, "in place")
	results, err := Run(t.Context(), testSuite(), o, cells, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		for _, s := range r.Sides {
			if a, b := s.Measurements[0].Value, s.Measurements[1].Value; a != float64(2*i+1) || b != a+1 {
				t.Errorf("%s of %s: runs %v and %v in its folder", s.Name, r.Name, a, b)
			}
			if s.PeakMemory != 1<<41 {
				t.Errorf("peak memory %d instead of what the side says", s.PeakMemory)
			}
		}
	}
}

// alive reports whether the process of the number that the file at path holds still runs, after
// a little patience.
func alive(t *testing.T, path string) bool {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for range 3000 {
		p, err := process.NewProcess(int32(pid))
		if err != nil {
			return false
		}
		// One that has ended is there until somebody asks for its end, which nobody may do.
		status, err := p.Status()
		if err != nil || slices.Contains(status, process.Zombie) {
			return false
		}
		time.Sleep(20 * time.Millisecond)
	}
	return true
}

// A helper that nobody has waited for is gone when the cell is done.
func TestRunEndsHelpers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pid")
	t.Setenv("OKRA_TEST_PID", path)
	o, cells := plan(t, "abandoned")
	o.Repetitions = 1
	if _, err := Run(t.Context(), testSuite(), o, cells, Hooks{}); err != nil {
		t.Fatal(err)
	}
	if alive(t, path) {
		t.Error("the helper is still there")
	}
}

// Cancelling, as Ctrl-C does, kills processes and their helpers, leaves no folder and returns what
// was finished.
func TestRunCancel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pid")
	t.Setenv("OKRA_TEST_PID", path)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		defer cancel()
		for ctx.Err() == nil {
			if _, err := os.Stat(path); err == nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	o, cells := plan(t, "plain", "endless")
	results, err := Run(ctx, testSuite(), o, cells, Hooks{})
	if !errors.Is(err, context.Canceled) || len(results) != 1 || results[0].Name != "plain" {
		t.Errorf("%d results, %v", len(results), err)
	}
	if alive(t, path) {
		t.Error("the helper is still there")
	}
}

func TestRunStopsWhenResultIsRefused(t *testing.T) {
	full := errors.New("no space")
	o, cells := plan(t, "plain", "helped")
	results, err := Run(t.Context(), testSuite(), o, cells, Hooks{Done: func(Result) error { return full }})
	if !errors.Is(err, full) || len(results) != 1 {
		t.Errorf("%d results, %v", len(results), err)
	}
}

// What is only read is prepared once for each side and linked; who changes it fails.
func TestRunLinksWhatIsOnlyRead(t *testing.T) {
	o, cells := plan(t, "linked", "spoiling")
	results, err := Run(t.Context(), testSuite(), o, cells, Hooks{})
	if err == nil || !strings.Contains(err.Error(), "it has changed what it may only read") {
		t.Errorf("error %v", err)
	}
	if len(results) != 2 {
		t.Fatalf("%d results", len(results))
	}
	for i, side := range results[0].Sides {
		other := results[1].Sides[i]
		if side.Min != side.Max || side.Max != other.Min || other.Min != other.Max {
			t.Errorf("%s read what was prepared at %v to %v and %v to %v", side.Name, side.Min, side.Max,
				other.Min, other.Max)
		}
		if side.PeakMemory != 1<<40 {
			t.Errorf("peak memory %d", side.PeakMemory)
		}
	}
	if results[0].Sides[0].Min == results[0].Sides[1].Min {
		t.Error("the sides read the same folder")
	}
}

// A cell that nobody can do has the reasons.
func TestRunWithoutSides(t *testing.T) {
	o, cells := plan(t, "missing")
	results, err := Run(t.Context(), testSuite(), o, cells, Hooks{})
	if err != nil || len(results) != 1 || results[0].Sides[1].Absent != "not installed" {
		t.Fatalf("%+v, %v", results, err)
	}
	var lines bytes.Buffer
	if err := WriteJSON(&lines, results); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(&lines); err != nil {
		t.Error(err)
	}
	if err := WriteText(&lines, testSuite(), results); err != nil || !strings.Contains(lines.String(), "not installed") {
		t.Errorf("%v: %s", err, &lines)
	}
}

func TestRunRefusesCells(t *testing.T) {
	ok := Cell{Group: "g", Name: "n", Ops: 1, Sides: []Side{good("okra")}}
	idle, lonely, alone := ok, ok, ok
	idle.Ops = 0
	lonely.Sides = nil
	alone.ReadOnly = true
	for want, cells := range map[string][]Cell{
		"two cells":      {ok, ok},
		"no operations":  {idle},
		"no sides":       {lonely},
		"shares nothing": {alone},
	} {
		_, err := Run(t.Context(), Suite{Name: "x"}, Options{Dir: emptyDir(t)}, cells, Hooks{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	_, err := Run(t.Context(), Suite{Name: "x"}, Options{Dir: "no/such/folder"}, []Cell{ok}, Hooks{})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// Who is killed under a limit, as by the system for its memory, learns where to look.
func TestKilledUnderLimit(t *testing.T) {
	o, cells := plan(t, "plain")
	cells[0].Limit = func(pid int) (func(), error) {
		p, err := os.FindProcess(pid)
		if err == nil {
			err = p.Kill()
		}
		return func() {}, err
	}
	_, err := Run(t.Context(), testSuite(), o, cells, Hooks{})
	if !errors.Is(err, ErrKilled) || !strings.Contains(err.Error(), "limit may be too small") {
		t.Errorf("error %v", err)
	}
}

func TestPlan(t *testing.T) {
	s := testSuite()
	o, cells, err := Plan(s, Options{}, nil)
	if err != nil || o.Repetitions != 5 || !slices.Equal(o.Sizes["n"], []int{7, 8}) || o.SyncTime <= 0 {
		t.Errorf("options %+v, %v", o, err)
	}
	if got, want := Estimate(o, cells), time.Duration(len(cells)*5)*time.Second; got != want {
		t.Errorf("estimate %v, want %v", got, want)
	}
	// What cells share is made once for those that follow one another.
	one := Cell{Cost: time.Second, Shared: "a", SharedCost: time.Minute}
	other := Cell{Cost: time.Second, Shared: "b", SharedCost: time.Minute}
	if got, want := Estimate(o, []Cell{one, one, other, one}), 20*time.Second+3*time.Minute; got != want {
		t.Errorf("estimate %v, want %v", got, want)
	}
	o, cells, err = Plan(s, Options{Quick: true}, []string{"N=3 PLAIN", "helped"})
	if err != nil || o.Repetitions != 3 || len(cells) != 2 {
		t.Errorf("options %+v, %d cells, %v", o, len(cells), err)
	}
	if _, _, err = Plan(s, Options{}, []string{"plain x"}); err == nil || !strings.Contains(err.Error(), "cells: plain n=7") {
		t.Errorf("error %v", err)
	}
	for _, bad := range []Options{{Repetitions: -1}, {Sizes: map[string][]int{"n": {0}}}} {
		if _, _, err := Plan(s, bad, nil); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}

// Sizes are taken once, and several only where there may be.
func TestPlanSizes(t *testing.T) {
	s := testSuite()
	o, _, err := Plan(s, Options{Sizes: map[string][]int{"n": {5, 5, 4}}}, nil)
	if err != nil || !slices.Equal(o.Sizes["n"], []int{5, 4}) {
		t.Errorf("%v, %v", o.Sizes, err)
	}
	s.Sizes[0].List = false
	if _, _, err := Plan(s, Options{Sizes: map[string][]int{"n": {5, 4}}}, nil); err == nil {
		t.Error("two numbers where there can be one: no error")
	}
	if _, _, err := Plan(s, Options{Quick: true, Dir: "no/such/folder"}, nil); !errors.Is(err, ErrDir) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestNamed(t *testing.T) {
	c := Cell{Group: "In memory", Name: "get hit, Zipf", Params: []Param{{"goroutines", "16"}, {"value", "1.0 KiB"}}}
	for term, want := range map[string]bool{
		"memory": true, "get hit, Zipf": true, "ZIPF in": true, "goroutines=16": true, "hit goroutines=16 zipf": true,
		"value=1.0KiB": true, "value=1.0 KiB goroutines=16 get": true,
		"goroutines=1": false, "goroutines": false, "mem": false, "16": false, "value=1.0": false, "get miss": false,
		"": false, " ": false, "other=16": false,
	} {
		if c.named(term) != want {
			t.Errorf("%q: not %t", term, want)
		}
	}
}

func TestPercentiles(t *testing.T) {
	var times []time.Duration
	for i := range 101 {
		times = append(times, time.Duration(100-i)*time.Microsecond)
	}
	if p50, p99 := Percentiles(times); p50 != 50 || p99 != 99 {
		t.Errorf("%v and %v", p50, p99)
	}
	if p50, p99 := Percentiles(nil); p50 != 0 || p99 != 0 {
		t.Errorf("%v and %v of nothing", p50, p99)
	}
}

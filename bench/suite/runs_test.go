package suite

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/okradb/okra-go/bench"
)

// Two runs cut short, in one file, are told apart, and what follows from one has nothing of the
// other.
func TestRunsStandApart(t *testing.T) {
	of := func(name string, started time.Time, repetitions int) Result {
		r := resultOf(name, false, []float64{1}, []float64{1})
		r.Started, r.Repetitions = started, repetitions
		r.Finished = started.Truncate(time.Minute).Add(time.Hour)
		return r
	}
	began := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	var file bytes.Buffer
	err := WriteJSON(&file, []Result{
		of("a", began, 5), of("b", began, 5), of("c", began.Add(time.Minute), 5), of("d", began, 5),
		of("old", time.Time{}, 5), of("old, once", time.Time{}, 1),
	})
	if err != nil {
		t.Fatal(err)
	}
	results, err := Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	s := Suite{Derive: func(run []Result) []bench.Table {
		var names []string
		for _, r := range run {
			names = append(names, r.Name)
		}
		return []bench.Table{{Title: strings.Join(names, " ")}}
	}}
	var titles []string
	for _, table := range s.Derived(results) {
		titles = append(titles, table.Title)
	}
	if want := []string{"a b d, run 1", "c, run 2", "old, run 3", "old, once, run 4"}; !slices.Equal(titles, want) {
		t.Errorf("got %q, want %q", titles, want)
	}
	fields := fmt.Sprint(Fields(results))
	for _, want := range []string{
		"[Run 1 test, full, 5 repetitions, seed 1, 2026-01-02 04:04 UTC, cells: 3]",
		"[Run 2 test, full, 5 repetitions, seed 1, 2026-01-02 04:05 UTC, cells: 1]",
		"[Run 4 test, full, 1 repetition,",
	} {
		if !strings.Contains(fields, want) {
			t.Errorf("no %q in %s", want, fields)
		}
	}
	one := results[:2]
	if got := s.Derived(one)[0].Title; got != "a b" || strings.Contains(fmt.Sprint(Fields(one)), "Run 1") {
		t.Errorf("one run is numbered: %q, %v", got, Fields(one))
	}
}

package suite

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize/english"

	"github.com/okradb/okra-go/bench"
)

// Runs divides results into those of each run, in the order in which runs first appear. Results
// that do not say when their run began are told apart by its repetitions and seed only.
func Runs(results []Result) [][]Result {
	type run struct {
		started     time.Time
		repetitions int
		seed        uint64
	}
	return divide(results, func(r Result) run { return run{r.Started.UTC(), r.Repetitions, r.Seed} })
}

// divide returns results in parts of one key each, in the order in which keys first appear.
func divide[K comparable](results []Result, key func(Result) K) [][]Result {
	var parts [][]Result
	at := make(map[K]int)
	for _, r := range results {
		k := key(r)
		i, ok := at[k]
		if !ok {
			i = len(parts)
			at[k] = i
			parts = append(parts, nil)
		}
		parts[i] = append(parts[i], r)
	}
	return parts
}

// Fields returns where and how results were measured, on one machine, as lines of a name and what
// stands behind it. Each run has a line, which says how many of its cells there are if some are
// not: of a run that was interrupted, or in which cells failed.
func Fields(results []Result) [][2]string {
	fields := results[0].Machine.Fields()
	runs := Runs(results)
	for i, run := range runs {
		one, finished := run[0], run[0].Finished
		for _, r := range run {
			if r.Finished.After(finished) {
				finished = r.Finished
			}
		}
		kind := "full"
		if one.Quick {
			kind = "quick"
		}
		name, text := "Run", fmt.Sprintf("%s, %s, %s, seed %d, %s", one.Suite, kind,
			english.Plural(one.Repetitions, "repetition", ""), one.Seed, finished.Format("2006-01-02 15:04 MST"))
		if len(runs) > 1 {
			name = fmt.Sprintf("Run %d", i+1)
		}
		switch {
		case len(run) < one.Cells:
			text += fmt.Sprintf(", cells: %d of %d", len(run), one.Cells)
		case len(runs) > 1:
			text += fmt.Sprintf(", cells: %d", len(run))
		}
		fields = append(fields, [2]string{name, text})
	}
	return fields
}

// Derived returns the tables that Derive makes of results, of each run by itself: no figure is set
// against one of another run. Where there are several runs, titles say which.
func (s Suite) Derived(results []Result) []bench.Table {
	if s.Derive == nil {
		return nil
	}
	var tables []bench.Table
	runs := Runs(results)
	for i, run := range runs {
		for _, t := range s.Derive(run) {
			if len(runs) > 1 {
				t.Title += fmt.Sprintf(", run %d", i+1)
			}
			tables = append(tables, t)
		}
	}
	return tables
}

package report

import (
	"fmt"
	"time"

	"github.com/okradb/okra-go/bench"
	"github.com/okradb/okra-go/bench/suite"
)

// run is what makes a section.
type run struct {
	results []suite.Result
	at      map[string]int // results by their cells
	bench   *bench.Report  // nil if there are results
}

func (r run) cells() int {
	if r.bench != nil {
		return len(r.bench.Results)
	}
	return len(r.results)
}

// groupRuns divides what inputs hold into sections, in the order in which they first appear: a run
// of okra bench, or results of one suite, kind and machine. A section has no cell at two sizes.
func groupRuns(inputs []Input) []run {
	var runs []run
	for _, input := range inputs {
		if input.Bench != nil {
			runs = append(runs, run{bench: input.Bench})
		}
		before := -1 // where the result before it in the file is
		for _, result := range input.Results {
			if before = placeOf(runs, result, before); before < 0 {
				before = len(runs)
				runs = append(runs, run{at: make(map[string]int)})
			}
			runs[before].put(result)
		}
	}
	return runs
}

// placeOf returns which of runs result is of, or -1: that which has its cell at the same size, or
// else that of the result before it, as long as it has the cell at no other size, or else the
// first of which this can be said.
func placeOf(runs []run, result suite.Result, before int) int {
	first := -1
	for i, r := range runs {
		if !r.takes(result) {
			continue
		}
		if _, ok := r.at[cellKey(result)]; ok {
			return i
		}
		if first < 0 || i == before {
			first = i
		}
	}
	return first
}

// takes is whether result can stand beside what r has.
func (r run) takes(result suite.Result) bool {
	if r.bench != nil {
		return false
	}
	one := r.results[0]
	if one.Suite != result.Suite || one.Quick != result.Quick || one.Machine != result.Machine {
		return false
	}
	i, ok := r.at[cellKey(result)]
	return !ok || r.results[i].DataSize == result.DataSize && r.results[i].Ops == result.Ops
}

// put adds result, in place of an earlier one of its cell.
func (r *run) put(result suite.Result) {
	key := cellKey(result)
	if i, ok := r.at[key]; ok {
		r.results[i] = result
		return
	}
	r.at[key] = len(r.results)
	r.results = append(r.results, result)
}

// cellKey names the cell of r in its suite.
func cellKey(r suite.Result) string { return fmt.Sprintf("%q %q %q", r.Group, r.Name, r.Params) }

// titleOf names what r is of.
func titleOf(r suite.Result) string {
	if r.Quick {
		return r.Suite + " (quick)"
	}
	return r.Suite
}

// unfinished says of which runs some cells are not in inputs, in the order in which runs first
// appear: what was not measured could have been what is worst.
func unfinished(inputs []Input) []string {
	type run struct {
		title   string
		started time.Time
		cells   int
	}
	var runs []run
	found := make(map[run]map[string]bool)
	for _, input := range inputs {
		for _, r := range input.Results {
			of := run{titleOf(r), r.Started.UTC(), r.Cells}
			if found[of] == nil {
				runs, found[of] = append(runs, of), make(map[string]bool)
			}
			found[of][cellKey(r)] = true
		}
	}
	var notes []string
	for _, of := range runs {
		if n := len(found[of]); n < of.cells {
			notes = append(notes, fmt.Sprintf("%s: the run that began at %s has measured %d of its %d cells; the "+
				"others have failed, or were not reached.", of.title, of.started.Format("2006-01-02 15:04 MST"), n, of.cells))
		}
	}
	return notes
}

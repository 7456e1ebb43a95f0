package bench

import (
	"fmt"
	"math/rand/v2"

	"github.com/okradb/okra-go/okra"
)

const (
	goroutineViews = 320 // in an iteration, divided among the goroutines
	viewGets       = 100 // in each View
)

// getsRow is how reads scale with the cores, alone and beside a writer.
func getsRow() Row {
	row := Row{
		Name: "gets by goroutines", Optional: true, Sizes: []int{1_000_000}, Least: 2,
		Notes: getsNotes,
	}
	for _, writer := range []bool{false, true} {
		for _, goroutines := range []int{1, 2, 4, 16} {
			row.Lines = append(row.Lines, getsLine(goroutines, goroutineViews, writer))
		}
	}
	return row
}

// getsLine gets random keys in so many Views of viewGets each. A writer leaves even keys alone,
// so these are read.
func getsLine(goroutines, views int, writer bool) Row {
	name := fmt.Sprintf("gets by %d", goroutines)
	if writer {
		name += " and a writer"
	}
	return Row{
		Name:       name,
		Iterations: fixed(40),
		Ops:        fixed(views * viewGets),
		Prepare: func(w *Workload, b *Batch, random *rand.Rand, _ int) {
			w.FillKeys(b, random, views*viewGets)
			for j := range b.Len() {
				b.Key(j)[keySize-1] &^= 1
			}
		},
		Okra: func(db *okra.DB, b *Batch) (Tally, error) {
			return inParts(b, goroutines, func(part *Batch) (Tally, error) {
				return chunks(part, viewGets, func(c *Batch) (Tally, error) { return getOkra(db, c) })
			})
		},
		LMDB: func(p *Plain, b *Batch) (Tally, error) {
			return inParts(b, goroutines, func(part *Batch) (Tally, error) {
				return chunks(part, viewGets, func(c *Batch) (Tally, error) { return getPlain(p, c) })
			})
		},
		Goroutines: goroutines, Unit: "gets", Writer: writer,
	}
}

// getsNotes says how each side scales and what a writer costs it.
func getsNotes(lines []Result) []string {
	var notes []string
	half := len(lines) / 2
	one := lines[0]
	for _, r := range lines[1:half] {
		notes = append(notes, fmt.Sprintf(
			"%s: %.2f times the gets of one goroutine in okra, %.2f in lmdb", r.Row,
			ratio(one.Okra.Median, r.Okra.Median), ratio(one.LMDB.Median, r.LMDB.Median)))
	}
	for i, r := range lines[half:] {
		alone := lines[i]
		notes = append(notes, fmt.Sprintf(
			"%s: okra keeps %.0f %% (%s commits/s), lmdb %.0f %% (%s)", r.Row,
			100*ratio(alone.Okra.Median, r.Okra.Median), formatOps(r.Okra.Commits),
			100*ratio(alone.LMDB.Median, r.LMDB.Median), formatOps(r.LMDB.Commits)))
	}
	return notes
}

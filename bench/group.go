package bench

import (
	"fmt"
	"math/rand/v2"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"github.com/okradb/okra-go/okra"
)

// groupRow is durable writes of one entry by many goroutines: by okra's Batch, which shares
// transactions, by its Update and by LMDB's, which do not.
func groupRow() Row {
	row := Row{
		Name: "group commit", Optional: true, Sizes: []int{50_000}, Least: 64, Durable: true,
		Notes: groupNotes,
	}
	for _, line := range []struct{ goroutines, calls int }{{1, 64}, {8, 16}, {64, 8}} {
		row.Lines = append(row.Lines, groupLine(line.goroutines, line.calls))
	}
	return row
}

// groupLine has each goroutine write an entry in each of its calls. All keys are different, so
// the order of the calls does not matter.
func groupLine(goroutines, calls int) Row {
	ops := func(entries int) int { return min(goroutines*calls, entries) }
	return Row{
		Name:       fmt.Sprintf("group commit by %d", goroutines),
		Iterations: fixed(50),
		Ops:        ops,
		Prepare: func(w *Workload, b *Batch, random *rand.Rand, i int) {
			w.FillDistinct(b, random, i, ops(w.Entries))
		},
		Okra: func(db *okra.DB, b *Batch) (Tally, error) { return PutEach(db.Batch, b, goroutines) },
		LMDB: func(p *Plain, b *Batch) (Tally, error) { return PutEachPlain(p.Env.Update, p.DBI, b, goroutines) },
		Update: func(db *okra.DB, b *Batch) (Tally, error) {
			return PutEach(db.Update, b, goroutines)
		},
		Goroutines: goroutines, Unit: "durable writes", Writes: true,
	}
}

// PutEach stores each entry of b by a call of its own to update, Batch or Update of a DB. So many
// goroutines divide b.
func PutEach(update func(func(*okra.Tx) error) error, b *Batch, goroutines int) (Tally, error) {
	return inParts(b, goroutines, func(part *Batch) (Tally, error) {
		var t Tally
		for j := range part.Len() {
			err := update(func(tx *okra.Tx) error { return tx.Put(part.Key(j), part.Value(j)) })
			if err != nil {
				return t, fmt.Errorf("put key %x: %w", part.Key(j), err)
			}
			t.Entries++
		}
		return t, nil
	})
}

// PutEachPlain stores each entry of b in dbi by a call of its own to update, that of an Env.
func PutEachPlain(update func(lmdb.TxnOp) error, dbi lmdb.DBI, b *Batch, goroutines int) (Tally, error) {
	return inParts(b, goroutines, func(part *Batch) (Tally, error) {
		var t Tally
		for j := range part.Len() {
			err := update(func(txn *lmdb.Txn) error {
				return txn.Put(dbi, part.Key(j), part.Value(j), 0)
			})
			if err != nil {
				return t, fmt.Errorf("put key %x: %w", part.Key(j), err)
			}
			t.Entries++
		}
		return t, nil
	})
}

// groupNotes sets Batch beside the others by writes in the same time.
func groupNotes(lines []Result) []string {
	var notes []string
	for _, r := range lines {
		notes = append(notes, fmt.Sprintf(
			"%s: Batch is %.1f times as fast as Update, %.1f times as lmdb", r.Row,
			ratio(r.Update.Median, r.Okra.Median), ratio(r.LMDB.Median, r.Okra.Median)))
	}
	return notes
}

package bench

import (
	"fmt"

	"github.com/okradb/okra-go/okra"
)

// wideRow is what an enemy can do to the index who chooses entries so that none is a boundary:
// all leaves are the children of one node, and each write has to hash them all.
func wideRow() Row {
	lines := []Row{
		iterateRow("wide node: one pass"),
		setRow("wide node: put 1", 1, 100),
		setRow("wide node: put 1k", 1000, 50),
	}
	for i := range lines {
		lines[i].Check = checkWide
	}
	return Row{
		Name: "wide node", Optional: true, Sizes: []int{100_000}, NoBoundary: true,
		Lines: lines, Notes: wideNotes,
	}
}

// checkWide returns an error unless one node holds all leaves.
func checkWide(db *okra.DB) error {
	return db.View(func(tx *okra.Tx) error {
		nodes := 0
		for _, err := range tx.Nodes(1, okra.Bounds{}) {
			if err != nil {
				return err
			}
			nodes++
		}
		if nodes != 1 {
			return fmt.Errorf("%d nodes hold the leaves instead of one", nodes)
		}
		return nil
	})
}

// wideNotes sets the time of writes beside that of one pass over the node.
func wideNotes(lines []Result) []string {
	pass := lines[0].Okra.Median
	var notes []string
	for _, r := range lines[1:] {
		notes = append(notes, fmt.Sprintf("%s: okra takes %.2f passes over the node",
			r.Row, ratio(r.Okra.Median, pass)))
	}
	return notes
}

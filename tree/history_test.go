package tree_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

var seedFlag = flag.Uint64("seed", 0, "seed of random histories; 0 takes the clock")

// seed returns the seed of a test and prints it, so that a failure can be played again.
func seed(t *testing.T) uint64 {
	s := *seedFlag
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d (replay with -seed)", s)
	return s
}

// create returns an empty tree in memory.
func create(t *testing.T, f tree.Format) (*treetest.Memory, tree.Format) {
	t.Helper()
	m := &treetest.Memory{}
	f, err := tree.Create(m, f)
	if err != nil {
		t.Fatal(err)
	}
	return m, f
}

// formats are the formats that histories run in: small Q makes tall trees of few entries.
func formats() []tree.Format {
	var all []tree.Format
	for _, q := range []uint32{2, 3, 4, 32} {
		for _, k := range []int{4, 16, 32} {
			all = append(all, tree.Format{K: k, Q: q, Mode: tree.Store},
				tree.Format{K: k, Q: q, Mode: tree.Index})
		}
	}
	return all
}

// Every node equals the tree built anew after any history: puts, overwrites, the same value
// again, deletes of all kinds, several flushes and transactions, aborts, emptied and filled.
func TestM2M4M5M6M7M14M16M18Histories(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 12
	}
	base := seed(t)
	for _, f := range formats() {
		t.Run(f.String(), func(t *testing.T) {
			for i := range 4 {
				if err := history(base+uint64(i), f, rounds, 30<<(2*i)); err != nil {
					t.Fatalf("history %d: %v", base+uint64(i), err)
				}
			}
		})
	}
}

func history(seed uint64, f tree.Format, rounds, keys int) error {
	m := &treetest.Memory{}
	f, err := tree.Create(m, f)
	if err != nil {
		return err
	}
	h := treetest.NewHistory(seed, f, keys)
	rng := rand.New(rand.NewPCG(seed, 1))
	buf := tree.SmallBuffers(f.K * (2 + int(seed%4)*40)) // some nodes do not fit
	cache := tree.SmallCache()
	if rng.IntN(2) == 0 {
		cache = tree.NewCache(1 << 20)
	}
	for round := range rounds {
		before, leaves := m.Clone(), maps.Clone(h.Leaves)
		tr := tree.New(&treetest.Trashing{Storage: m}, f, buf)
		if rng.IntN(8) > 0 { // else a writer that does without
			tr.Remember(cache)
		}
		for range 1 + rng.IntN(3) {
			if err := h.Write(tr, keys); err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
			if rng.IntN(2) == 0 {
				continue
			}
			if _, err := tr.Root(); err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
		}
		if err := tr.Flush(); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		tr.Close(errors.New("over"))
		if rng.IntN(8) == 0 { // abort
			m, h.Leaves = before, leaves
		}
		err := treetest.Check(tree.New(m, f, nil), h.Leaves)
		if err == nil {
			err = treetest.CheckRecords(m, f, h.Leaves)
		}
		if err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
	}
	return nil
}

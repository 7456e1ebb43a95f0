package okra_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/okradb/okra-go/okra"
	"github.com/okradb/okra-go/tree/treetest"
)

var seedFlag = flag.Uint64("seed", 0, "seed of random histories; 0 takes the clock")

var errAbort = errors.New("abort on purpose")

// After any history of transactions on LMDB, aborts and reopening among them, every node of
// every level equals the tree built anew from the entries.
func TestHistories(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d (replay with -seed)", seed)
	for _, q := range []uint32{2, 3, 4, 32} {
		for _, k := range []int{4, 16, 32} {
			for _, mode := range []okra.Mode{okra.Store, okra.Index} {
				f := okra.Format{K: k, Q: q, Mode: mode}
				t.Run(f.String(), func(t *testing.T) {
					h := history{dir: t.TempDir(), format: f, keys: 40 << (2 * (seed % 3))}
					if err := h.run(seed, rounds); err != nil {
						t.Fatal(err)
					}
				})
			}
		}
	}
}

type history struct {
	dir    string
	format okra.Format
	keys   int
	db     *okra.DB
}

func (h *history) open() (err error) {
	h.db, err = okra.Open(h.dir, &okra.Options{
		K: h.format.K, Q: h.format.Q, Mode: h.format.Mode, NoSync: true,
	})
	return err
}

func (h *history) run(seed uint64, rounds int) error {
	if err := h.open(); err != nil {
		return err
	}
	defer func() {
		if h.db != nil {
			h.db.Close()
		}
	}()
	writes := treetest.NewHistory(seed, h.format, h.keys)
	rng := rand.New(rand.NewPCG(seed, 3))
	for round := range rounds {
		before := maps.Clone(writes.Leaves)
		abort := rng.IntN(6) == 0
		err := h.db.Update(func(tx *okra.Tx) error {
			for range 1 + rng.IntN(3) {
				if err := writes.Write(tx, h.keys); err != nil {
					return err
				}
				if rng.IntN(2) == 0 {
					if err := treetest.Check(tx, writes.Leaves); err != nil {
						return fmt.Errorf("within the transaction: %w", err)
					}
				}
			}
			if abort {
				return errAbort
			}
			return nil
		})
		if abort && errors.Is(err, errAbort) {
			err, writes.Leaves = nil, before
		}
		if err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		if rng.IntN(6) == 0 {
			if err := errors.Join(h.db.Close(), h.open()); err != nil {
				return err
			}
		}
		err = h.db.View(func(tx *okra.Tx) error { return treetest.Check(tx, writes.Leaves) })
		if err != nil {
			return fmt.Errorf("after round %d: %w", round, err)
		}
	}
	return nil
}

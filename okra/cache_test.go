package okra_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/okradb/okra-go/okra"
	"github.com/okradb/okra-go/tree/treetest"
)

// largeWrites are puts and deletes of some of 2000 entries whose values are large enough for the
// cache. A missing value is a delete.
type largeWrites []struct{ key, value string }

func newLargeWrites(rng *rand.Rand, n int) (w largeWrites) {
	for range n {
		value := ""
		if rng.IntN(5) > 0 {
			value = fmt.Sprintf("%d %0*d", rng.Uint64(), 300+rng.IntN(1000), 0)
		}
		w = append(w, struct{ key, value string }{fmt.Sprintf("key %04d", rng.IntN(2000)), value})
	}
	return w
}

func (w largeWrites) write(tx *okra.Tx) error {
	for _, e := range w {
		err := tx.Delete([]byte(e.key))
		if e.value != "" {
			err = tx.Put([]byte(e.key), []byte(e.value))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w largeWrites) note(model map[string]string) {
	for _, e := range w {
		delete(model, e.key)
		if e.value != "" {
			model[e.key] = e.value
		}
	}
}

// remoteWriter is the part of another process that hears a seed and a store, and writes there.
func remoteWriter(t *testing.T, p *parent) {
	for line, ok := p.hear(); ok; line, ok = p.hear() {
		seed, dir, _ := strings.Cut(line, " ")
		n, err := strconv.ParseUint(seed, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		db, err := okra.Open(dir, &okra.Options{NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		updateOK(t, db, newLargeWrites(rand.New(rand.NewPCG(n, 0)), 20).write)
		wantIs(t, "Close", db.Close(), nil)
		p.tell("done")
	}
}

// What the cache remembers stays true through aborts, failing functions of a Batch, a map that
// grows, and the writes of another process.
func TestCacheStaysTrue(t *testing.T) {
	if isChild(t, parts{"writer": remoteWriter}) {
		return
	}
	other := start(t, "writer", "")
	for name, size := range map[string]int{"default": 0, "small": 1, "none": -1} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			db := storeIn(t, dir, okra.Options{NoSync: true, CacheSize: size, MapSize: mebi})
			rng := rand.New(rand.NewPCG(uint64(size), 7))
			model := map[string]string{}
			for round := range 80 {
				w := newLargeWrites(rng, 1+rng.IntN(100))
				if round == 0 {
					w = newLargeWrites(rng, 4000)
				}
				switch round % 5 {
				case 1, 2: // undone, after the index was made
					run := db.Update
					if round%5 == 2 {
						run = db.Batch
					}
					wantIs(t, "Update", run(func(tx *okra.Tx) error {
						err := w.write(tx)
						if err == nil {
							_, err = tx.Root()
						}
						return errors.Join(err, errAbort)
					}), errAbort)
					continue
				case 3:
					seed := rng.Uint64()
					other.ask(fmt.Sprint(seed, " ", dir))
					w = newLargeWrites(rand.New(rand.NewPCG(seed, 0)), 20)
				default:
					updateOK(t, db, w.write)
				}
				w.note(model)
			}
			viewOK(t, db, func(tx *okra.Tx) error {
				for problem, err := range tx.Verify() {
					if err != nil {
						return err
					}
					t.Error(problem)
				}
				n := 0
				for e, err := range tx.All() {
					if err != nil {
						return err
					}
					n++
					if model[string(e.Key)] != string(e.Value) {
						return fmt.Errorf("%q has another value", e.Key)
					}
				}
				if n != len(model) {
					t.Errorf("%d entries, want %d", n, len(model))
				}
				return nil
			})
		})
	}
}

// Tables of several formats share a transaction and its cache, and each is as built anew.
func TestCacheOfSeveralTables(t *testing.T) {
	formats := []okra.Format{{K: 16, Q: 4}, {K: 16, Q: 2}, {K: 32, Q: 4}, {K: 24, Q: 8}, {K: 8, Q: 4}}
	db := storeIn(t, t.TempDir(), okra.Options{NoSync: true, Table: "0", K: 16, Q: 4})
	var tables []*okra.Table
	leaves := make([]map[string]treetest.Leaf, len(formats))
	for i, f := range formats {
		table, err := db.Table(fmt.Sprint(i), f)
		wantIs(t, "Table", err, nil)
		tables, leaves[i] = append(tables, table), map[string]treetest.Leaf{}
	}
	rng := rand.New(rand.NewPCG(3, 3))
	for round := range 60 {
		saved := make([]map[string]treetest.Leaf, len(formats))
		for i := range leaves {
			saved[i] = maps.Clone(leaves[i])
		}
		abort := round%4 == 3
		err := db.Update(func(tx *okra.Tx) error {
			for range 200 {
				i, key := rng.IntN(len(formats)), fmt.Appendf(nil, "key %d", rng.IntN(400))
				value := fmt.Appendf(nil, "%d %400d", rng.Uint64(), 0)
				err := tx.Table(tables[i]).Put(key, value)
				leaves[i][string(key)] = treetest.Leaf{
					Value: value, Hash: okra.LeafHash(formats[i].K, key, value),
				}
				if rng.IntN(3) == 0 {
					err = errors.Join(err, tx.Table(tables[i]).Delete(key))
					delete(leaves[i], string(key))
				}
				if rng.IntN(30) == 0 { // or the flush is at the end
					_, rootErr := tx.Table(tables[i]).Root()
					err = errors.Join(err, rootErr)
				}
				if err != nil {
					return err
				}
			}
			if abort {
				return errAbort
			}
			return nil
		})
		if abort {
			wantIs(t, "Update", err, errAbort)
			leaves = saved
			continue
		}
		wantIs(t, "Update", err, nil)
		viewOK(t, db, func(tx *okra.Tx) error {
			for i := range formats {
				if err := treetest.Check(tx.Table(tables[i]), leaves[i]); err != nil {
					return fmt.Errorf("round %d, %s: %w", round, formats[i], err)
				}
			}
			return nil
		})
	}
}

// A Tx that is over leaves the cache to the one that has it now.
func TestCacheOfTxThatIsOver(t *testing.T) {
	db := storeIn(t, t.TempDir(), okra.Options{NoSync: true, Table: "short", K: 8})
	long, err := db.Table("long", okra.Format{})
	wantIs(t, "Table", err, nil)
	var old *okra.Tx
	updateOK(t, db, func(tx *okra.Tx) error { old = tx; return nil })
	over := make(chan error)
	go func() { over <- old.Table(long).Put([]byte("key"), nil) }() // the race detector looks on
	updateOK(t, db, func(tx *okra.Tx) error { return tx.Table(long).Put([]byte("key"), nil) })
	wantIs(t, "Put of an old Tx", <-over, okra.ErrTxDone)
}

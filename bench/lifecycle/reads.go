package lifecycle

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/okradb/okra-go/bench/suite"
)

// The states of the system's memory in which a store is read.
const (
	hot  = "hot"  // all of its pages are in memory
	cold = "cold" // none are, when the work begins

	// noCold is what is measured where a file cannot be dropped from memory.
	noCold = "hot: cold cannot be had"
)

// cacheStates returns cold and hot, or what there is of it in the folder of the stores.
func cacheStates(dir string) []string {
	if dir == "" {
		dir = os.TempDir()
	}
	if errors.Is(suite.Cold(dir), suite.ErrNotCold) {
		return []string{noCold, hot}
	}
	return []string{cold, hot}
}

// setCache drops the store in dir from memory if state is cold, and else has the system read it.
// Nobody may have it open.
func setCache(dir, state string) error {
	if state == cold {
		return suite.DropCache(filepath.Join(dir, "data.mdb"))
	}
	file, err := os.Open(filepath.Join(dir, "data.mdb"))
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, file)
	return errors.Join(err, file.Close())
}

const seekNext = 100 // entries that are read after the one that was sought

// readCells read a store: gets cold and hot, seeks with the entries that follow, all entries.
func (m cellMaker) readCells() []suite.Cell {
	p := all(m.size("keys"), m.size("value-size"), fillBatch)
	perEntry := int64(keySize + p.valueSize)
	gets := m.size("gets")
	var cells []suite.Cell
	for _, state := range cacheStates(m.o.Dir) {
		c := m.read(groupReads, "random gets", "gets/s", p, gets, state, getRandom(p.count, gets))
		c.Bytes = int64(gets) * perEntry
		c.Params = append(c.Params, suite.Param{Name: "cache", Value: state})
		cells = append(cells, c)
	}
	seeks := min(max(gets/10, 1), p.count) // each reads much more than a get
	next := min(seekNext, p.count-1) + 1
	seek := m.read(groupReads, fmt.Sprintf("seek + %d next", next-1), "entries/s", p, seeks*next, hot,
		seekRandom(p.count, seeks, next))
	scan := m.read(groupReads, "full scan", "entries/s", p, p.count, hot, scanAll)
	seek.Bytes, scan.Bytes = int64(seeks*next)*perEntry, p.bytes()
	for _, c := range []suite.Cell{seek, scan} {
		c.Params = append(c.Params, suite.Param{Name: "cache", Value: hot})
		cells = append(cells, c)
	}
	return cells
}

// largeCells write large values, and read them.
func (m cellMaker) largeCells() []suite.Cell {
	p := all(m.size("large"), m.size("large-size"), largeBatch)
	write := m.load("write", p, 10)
	write.Group = groupLarge
	scan := m.read(groupLarge, "read all", "values/s", p, p.count, hot, scanAll)
	scan.Bytes = p.bytes()
	return []suite.Cell{write, scan}
}

// work is done in one read transaction; c times its operations.
type work func(tx txn, r *suite.Rep, c *clock) (tally, error)

// read is one cell that reads a store filled by p, so many entries of it.
func (m cellMaker) read(group, name, unit string, p puts, ops int, state string, work work) suite.Cell {
	c := suite.Cell{
		Group: group, Name: name, Unit: unit, Higher: true,
		Params: []suite.Param{entriesParam(p.count), valueParam(p.valueSize)},
		Ops:    int64(ops), DataSize: p.bytes(),
		Shared: shared(p), InPlace: true,
		Cost: m.cost(ops, 1) + m.cost(p.count, 0.2), SharedCost: m.fillCost(p.count),
	}
	if state == cold {
		c.Cost += m.cost(ops, 100)
	}
	for _, d := range m.databases {
		side := d.filled(p)
		side.Run = func(r *suite.Rep) (suite.Measurement, error) { return d.read(r, state, work) }
		c.Sides = append(c.Sides, side)
	}
	return c
}

// shared names the store that p fills.
func shared(p puts) string { return fmt.Sprintf("%d entries of %d bytes", p.count, p.valueSize) }

func (d database) read(r *suite.Rep, state string, work work) (suite.Measurement, error) {
	var m suite.Measurement
	if err := setCache(r.Dir, state); err != nil {
		return m, err
	}
	return m, d.with(r.Dir, options{readOnly: true}, func(s store) error {
		return s.view(func(tx txn) error {
			if state != cold {
				// All pages are in memory and mapped before time begins to count.
				if _, err := scanAll(tx, r, &clock{}); err != nil {
					return err
				}
			}
			var c clock
			t, err := work(tx, r, &c)
			m = c.measurement(t, perSecond)
			return err
		})
	})
}

func getRandom(entries, gets int) work {
	return func(tx txn, r *suite.Rep, c *clock) (tally, error) {
		var t tally
		random := r.Random()
		for range gets {
			k := key(random.IntN(entries))
			err := c.op(func() error {
				value, err := tx.get(0, k)
				if err == nil {
					t.add(k, value)
				}
				return err
			})
			if err != nil {
				return t, fmt.Errorf("get key %x: %w", k, err)
			}
		}
		return t, nil
	}
}

// seekRandom reads n entries from each of so many random keys on.
func seekRandom(entries, seeks, n int) work {
	return func(tx txn, r *suite.Rep, c *clock) (tally, error) {
		var t tally
		random := r.Random()
		for range seeks {
			from, left := key(random.IntN(entries-n+1)), n
			err := c.op(func() error {
				return tx.scan(0, from, func(key, value []byte) bool {
					t.add(key, value)
					left--
					return left > 0
				})
			})
			if err != nil {
				return t, fmt.Errorf("read %d entries from %x on: %w", n, from, err)
			}
		}
		return t, nil
	}
}

// scanAll reads all entries of table 0. It is no operation: a latency of one would tell nothing.
func scanAll(tx txn, _ *suite.Rep, c *clock) (tally, error) {
	var t tally
	err := c.part(func() error {
		return tx.scan(0, nil, func(key, value []byte) bool {
			t.add(key, value)
			return true
		})
	})
	return t, err
}

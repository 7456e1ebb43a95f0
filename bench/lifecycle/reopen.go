package lifecycle

import (
	"errors"
	"fmt"
	"slices"

	"github.com/okradb/okra-go/bench/suite"
)

// reopens is how often a repetition opens a store, each time in a new process: one alone takes too
// short a time to be told from noise.
const reopens = 5

// reopenCells open a store of each size, for reading and for writing, and read one key.
func (m cellMaker) reopenCells() []suite.Cell {
	var cells []suite.Cell
	for _, count := range m.o.Sizes["reopen"] {
		p := all(count, m.size("value-size"), fillBatch)
		for _, readOnly := range []bool{true, false} {
			cells = append(cells, m.reopen(p, readOnly))
		}
	}
	return cells
}

func (m cellMaker) reopen(p puts, readOnly bool) suite.Cell {
	mode := "writable"
	if readOnly {
		mode = "read-only"
	}
	c := suite.Cell{
		Group: groupReopen, Name: "open, read one key", Unit: "ms",
		Params: []suite.Param{
			entriesParam(p.count), valueParam(p.valueSize),
			{Name: "mode", Value: mode}, {Name: "cache", Value: hot},
		},
		Ops: reopens, Bytes: int64(reopens * (keySize + p.valueSize)), DataSize: p.bytes(),
		Shared: shared(p), InPlace: true,
		Cost: 2*reopens*processTime + m.cost(p.count, 0.1), SharedCost: m.fillCost(p.count),
	}
	for _, d := range m.databases {
		side := d.filled(p)
		side.Helpers = make(map[string]func(*suite.Rep) (suite.Measurement, error))
		for i := range reopens {
			side.Helpers[reopenHelper(i)] = func(r *suite.Rep) (suite.Measurement, error) {
				random := r.Random()
				var n int
				for range i + 1 {
					n = random.IntN(p.count)
				}
				return d.reopen(r.Dir, n, readOnly)
			}
		}
		side.Run = func(r *suite.Rep) (suite.Measurement, error) {
			if err := setCache(r.Dir, hot); err != nil {
				return suite.Measurement{}, err
			}
			return reopenAll(r)
		}
		c.Sides = append(c.Sides, side)
	}
	return c
}

func reopenHelper(i int) string { return fmt.Sprintf("reopen %d", i) }

// reopenAll runs the helpers one after the other. Its value is the median of theirs.
func reopenAll(r *suite.Rep) (suite.Measurement, error) {
	var m suite.Measurement
	var times []float64
	for i := range reopens {
		p, err := r.Start(reopenHelper(i))
		if err != nil {
			return m, err
		}
		one, err := p.Wait()
		if err != nil {
			return m, err
		}
		m.Ops += one.Ops
		m.Bytes += one.Bytes
		m.Sum += one.Sum
		m.PeakMemory = max(m.PeakMemory, one.PeakMemory)
		times = append(times, one.Value)
	}
	slices.Sort(times)
	m.Value = times[reopens/2]
	return m, nil
}

// reopen opens the store in dir and reads entry n.
func (d database) reopen(dir string, n int, readOnly bool) (suite.Measurement, error) {
	var c clock
	var t tally
	var s store
	err := c.part(func() (err error) {
		if s, err = d.open(dir, options{readOnly: readOnly}); err != nil {
			return err
		}
		return s.view(func(tx txn) error {
			k := key(n)
			value, err := tx.get(0, k)
			if err == nil {
				t.add(k, value)
			}
			return err
		})
	})
	if s != nil {
		err = errors.Join(err, s.close())
	}
	return c.measurement(t, milliseconds), err
}

// crashHelper is the process that is killed.
const crashHelper = "writer"

// crashCells kill a process that has put entries, a transaction each, in the middle of one more.
func (m cellMaker) crashCells() []suite.Cell {
	p := all(m.size("crash"), m.size("value-size"), 1)
	p.random = true
	written := p.bytes() + int64(keySize+p.valueSize)
	c := suite.Cell{
		Group: groupCrash, Name: "open, read and write", Unit: "ms",
		Params: []suite.Param{entriesParam(p.count), valueParam(p.valueSize)},
		Ops:    int64(p.count) + 1, Bytes: written, Entries: int64(p.count) + 1, DataSize: written,
		Cost: m.cost(p.count, 40),
	}
	for _, d := range m.databases {
		c.Sides = append(c.Sides, suite.Side{
			Name: d.name, Check: d.check(nil),
			Helpers: map[string]func(*suite.Rep) (suite.Measurement, error){
				crashHelper: func(r *suite.Rep) (suite.Measurement, error) { return suite.Measurement{}, d.crash(r, p) },
			},
			Run: func(r *suite.Rep) (suite.Measurement, error) { return d.recover(r, p) },
		})
	}
	return []suite.Cell{c}
}

// crash does p, and is killed in the transaction that follows: it does not return, but for an
// error.
func (d database) crash(r *suite.Rep, p puts) error {
	return d.with(r.Dir, options{noSync: true}, func(s store) error {
		if _, err := p.run(s, r.Random(), &clock{}); err != nil {
			return err
		}
		return s.update(func(tx txn) error {
			// Some of these replace entries and some are new: none may be there afterwards.
			for i := range 100 {
				if err := tx.put(0, key(max(p.count-50, 0)+i), []byte("lost")); err != nil {
					return err
				}
			}
			suite.Crash()
			return nil
		})
	})
}

// recover opens what a killed process has left, reads an entry and writes one. The operations are
// the entries that are found then.
func (d database) recover(r *suite.Rep, p puts) (suite.Measurement, error) {
	var m suite.Measurement
	writer, err := r.Start(crashHelper)
	if err != nil {
		return m, err
	}
	if _, err := writer.Wait(); !errors.Is(err, suite.ErrKilled) {
		return m, fmt.Errorf("the writer was not killed: %w", err)
	}
	var c clock
	var s store
	more := make([]byte, p.valueSize)
	fill(more, p.count)
	err = c.part(func() (err error) {
		if s, err = d.open(r.Dir, options{noSync: true}); err != nil {
			return err
		}
		err = s.view(func(tx txn) error {
			_, err := tx.get(0, key(p.count-1))
			return err
		})
		if err != nil {
			return err
		}
		return s.update(func(tx txn) error { return tx.put(0, key(p.count), more) })
	})
	if err == nil {
		err = s.view(func(tx txn) error {
			t, err := scanAll(tx, r, &clock{})
			m = c.measurement(t, milliseconds)
			return err
		})
	}
	if s != nil {
		err = errors.Join(err, s.close())
	}
	return m, err
}

package lifecycle

import (
	"fmt"

	"github.com/okradb/okra-go/bench"
	"github.com/okradb/okra-go/bench/suite"
)

const (
	loadBatch  = 1000 // entries
	largeBatch = 100  // large values
	fillBatch  = 10_000
)

// loadCells load entries in batches, into a new store.
func (m cellMaker) loadCells() []suite.Cell {
	count, size := m.size("load"), m.size("value-size")
	ascending := all(count, size, loadBatch)
	scattered := ascending
	scattered.random = true
	return []suite.Cell{
		m.load("in key order", ascending, 3), m.load("in random order", scattered, 10),
	}
}

// load is one cell, of puts that take so many µs each.
func (m cellMaker) load(name string, p puts, cost float64) suite.Cell {
	c := suite.Cell{
		Group: groupLoad, Name: name, Unit: "puts/s", Higher: true,
		Params: []suite.Param{entriesParam(p.count), valueParam(p.valueSize)},
		Ops:    int64(p.count), Bytes: p.bytes(), Entries: int64(p.count), DataSize: p.bytes(),
		Cost: m.cost(p.count, cost) + m.toDisk(p.bytes()),
	}
	for _, d := range m.databases {
		c.Sides = append(c.Sides, suite.Side{
			Name: d.name, Check: d.check(nil),
			Run: func(r *suite.Rep) (suite.Measurement, error) { return d.load(r, p) },
		})
	}
	return c
}

// load times p, and the one sync at its end.
func (d database) load(r *suite.Rep, p puts) (suite.Measurement, error) {
	var m suite.Measurement
	return m, d.with(r.Dir, options{noSync: true}, func(s store) error {
		var c clock
		t, err := p.run(s, r.Random(), &c)
		if err != nil {
			return err
		}
		if err := c.part(s.sync); err != nil {
			return err
		}
		m = c.measurement(t, perSecond)
		return nil
	})
}

// filled returns a side whose cells find p in its store.
func (d database) filled(p puts) suite.Side {
	return suite.Side{
		Name: d.name,
		Prepare: func(r *suite.Rep) error {
			return d.with(r.Dir, options{noSync: true}, func(s store) error {
				var c clock
				_, err := p.run(s, r.Random(), &c)
				return err
			})
		},
	}
}

func entriesParam(n int) suite.Param {
	return suite.Param{Name: "entries", Value: bench.FormatEntries(n)}
}

func valueParam(bytes int) suite.Param {
	return suite.Param{Name: "value", Value: fmt.Sprintf("%d B", bytes)}
}

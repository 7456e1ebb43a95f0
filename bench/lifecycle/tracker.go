package lifecycle

import (
	"errors"
	"fmt"
	"time"

	"github.com/okradb/okra-go/bench"
	"github.com/okradb/okra-go/bench/suite"
)

const finishedSteps = 120 // of each of many runs: 2,400 points

// trackerCells log one run put by put, without sync, and read it.
func (m cellMaker) trackerCells() []suite.Cell {
	t := training{runs: 1, steps: m.size("steps"), live: true}
	return m.training(groupTracker, "log a run", "read the run", t, 12)
}

// runsCells log many runs, each in one durable transaction, and read them all.
func (m cellMaker) runsCells() []suite.Cell {
	t := training{runs: m.size("runs"), steps: finishedSteps}
	return m.training(groupRuns, "log runs", "read every run", t, 3)
}

// training returns a cell that logs t, in puts of so many µs, and cells that read it.
func (m cellMaker) training(group, write, read string, t training, cost float64) []suite.Cell {
	size := t.size()
	params := []suite.Param{
		{Name: "runs", Value: bench.FormatEntries(t.runs)},
		{Name: "points", Value: bench.FormatEntries(t.runs * t.steps * series)},
	}
	writing := m.cost(int(size.puts), cost)
	if !t.live {
		writing += 2 * time.Duration(t.runs) * 2 * m.o.SyncTime // much is flushed
	}
	logged := suite.Cell{
		Group: group, Name: write, Unit: "puts/s", Higher: true, Params: params,
		Ops: size.puts, Bytes: size.putBytes, Entries: size.entries, DataSize: size.bytes, Cost: writing,
	}
	for _, d := range m.databases {
		logged.Sides = append(logged.Sides, suite.Side{
			Name: d.name, Check: d.check(trackerTables),
			Run: func(r *suite.Rep) (suite.Measurement, error) { return d.log(r.Dir, t, t.live) },
		})
	}
	cells := []suite.Cell{logged}
	for _, state := range cacheStates(m.o.Dir) {
		c := suite.Cell{
			Group: group, Name: read, Unit: "ms",
			Params: append(params[:len(params):len(params)], suite.Param{Name: "cache", Value: state}),
			Ops:    size.entries, Bytes: size.bytes, DataSize: size.bytes,
			Shared: fmt.Sprintf("%+v", t), InPlace: true,
			Cost: m.cost(int(size.entries), 1), SharedCost: m.cost(int(size.puts), cost),
		}
		for _, d := range m.databases {
			c.Sides = append(c.Sides, suite.Side{
				Name: d.name,
				Prepare: func(r *suite.Rep) error {
					_, err := d.log(r.Dir, t, true)
					return err
				},
				Run: func(r *suite.Rep) (suite.Measurement, error) { return d.readRuns(r.Dir, state) },
			})
		}
		cells = append(cells, c)
	}
	return cells
}

// log writes t to a new store.
func (d database) log(dir string, t training, noSync bool) (suite.Measurement, error) {
	var m suite.Measurement
	return m, d.with(dir, options{tables: trackerTables, noSync: noSync}, func(s store) error {
		var c clock
		done, err := t.write(s, &c)
		m = c.measurement(done, perSecond)
		return err
	})
}

// readRuns is a reader's whole work in a process that has begun for it, opening included.
func (d database) readRuns(dir, state string) (suite.Measurement, error) {
	var m suite.Measurement
	if err := setCache(dir, state); err != nil {
		return m, err
	}
	var c clock
	var s store
	err := c.part(func() (err error) {
		s, err = d.open(dir, options{tables: trackerTables, readOnly: true})
		return err
	})
	if err != nil {
		return m, fmt.Errorf("open %s store: %w", d.name, err)
	}
	err = s.view(func(tx txn) error {
		t, err := readAll(tx, &c)
		m = c.measurement(t, milliseconds)
		return err
	})
	return m, errors.Join(err, s.close())
}

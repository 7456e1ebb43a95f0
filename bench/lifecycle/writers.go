package lifecycle

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/okradb/okra-go/bench/suite"
)

const writers = 2 // processes

// writersCells have two processes write to one store at the same time, a transaction a put: the
// one the even keys and the other the odd ones.
func (m cellMaker) writersCells() []suite.Cell {
	p := puts{step: writers, count: m.size("each"), valueSize: m.size("value-size"), batch: 1, random: true}
	c := suite.Cell{
		Group: groupWriters, Name: "two processes put", Unit: "puts/s", Higher: true,
		Params: []suite.Param{{Name: "each", Value: entriesParam(p.count).Value}, valueParam(p.valueSize)},
		Ops:    int64(writers * p.count), Bytes: writers * p.bytes(),
		Entries: int64(writers * p.count), DataSize: writers * p.bytes(),
		Cost: m.cost(writers*p.count, 40),
	}
	for _, d := range m.databases {
		side := suite.Side{
			Name: d.name, Check: d.check(nil), Run: runWriters,
			Helpers: make(map[string]func(*suite.Rep) (suite.Measurement, error)),
		}
		for i := range writers {
			p := p
			p.first = i
			side.Helpers[writerHelper(i)] = func(r *suite.Rep) (suite.Measurement, error) {
				var m suite.Measurement
				return m, d.with(r.Dir, options{noSync: true}, func(s store) error {
					var c clock
					t, err := p.run(s, rand.New(rand.NewPCG(r.Seed, uint64(i))), &c)
					m = c.measurement(t, perSecond)
					return err
				})
			}
		}
		c.Sides = append(c.Sides, side)
	}
	return []suite.Cell{c}
}

func writerHelper(i int) string { return fmt.Sprintf("writer %d", i) }

// runWriters times both writers together, from the start of the first process to the end of the
// last. The latencies are those of the slower one.
func runWriters(r *suite.Rep) (suite.Measurement, error) {
	var m suite.Measurement
	var c clock
	var t tally
	err := c.part(func() error {
		var started []*suite.Process
		for i := range writers {
			p, err := r.Start(writerHelper(i))
			if err != nil {
				return err
			}
			started = append(started, p)
		}
		var failed error
		for _, p := range started {
			one, err := p.Wait()
			failed = errors.Join(failed, err)
			t.entries += one.Ops
			t.bytes += one.Bytes
			m.P50, m.P99 = max(m.P50, one.P50), max(m.P99, one.P99)
			m.PeakMemory = max(m.PeakMemory, one.PeakMemory)
		}
		return failed
	})
	m.Value, m.Ops, m.Bytes = perSecond(c.total, t.entries), t.entries, t.bytes
	return m, err
}

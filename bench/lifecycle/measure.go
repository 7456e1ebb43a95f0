package lifecycle

import (
	"fmt"
	"hash/crc32"
	"time"

	"github.com/okradb/okra-go/bench/suite"
)

// clock takes times, of one goroutine.
type clock struct {
	ops   []time.Duration
	total time.Duration
}

// op times fn as an operation, which has a latency of its own.
func (c *clock) op(fn func() error) error {
	before := c.total
	err := c.part(fn)
	c.ops = append(c.ops, c.total-before)
	return err
}

// part times fn as a part of the work that is no operation.
func (c *clock) part(fn func() error) error {
	start := time.Now()
	err := fn()
	c.total += time.Since(start)
	return err
}

// measurement returns a measurement of t, the latencies of c, and a value in the unit that the
// caller chooses.
func (c *clock) measurement(t tally, unit func(total time.Duration, ops int64) float64) suite.Measurement {
	m := suite.Measurement{Value: unit(c.total, t.entries), Ops: t.entries, Bytes: t.bytes}
	m.P50, m.P99 = suite.Percentiles(c.ops)
	if t.read {
		m.Sum = fmt.Sprintf("%08x", t.sum)
	}
	return m
}

func perSecond(total time.Duration, ops int64) float64 { return float64(ops) / total.Seconds() }

func milliseconds(total time.Duration, _ int64) float64 { return float64(total.Nanoseconds()) / 1e6 }

// tally is of entries that were written, or read.
type tally struct {
	entries, bytes int64
	read           bool
	sum            uint32 // of all bytes that were read, in their order
}

// wrote counts an entry that was written.
func (t *tally) wrote(key, value []byte) {
	t.entries++
	t.bytes += int64(len(key) + len(value))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli) // most processors have an instruction for it

// add counts an entry that was read, and reads all of its bytes: LMDB's own slices are pages of
// the file that nobody has touched yet.
func (t *tally) add(key, value []byte) {
	t.wrote(key, value)
	t.read = true
	t.sum = crc32.Update(crc32.Update(t.sum, castagnoli, key), castagnoli, value)
}

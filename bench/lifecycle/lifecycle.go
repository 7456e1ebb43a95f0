// Package lifecycle is the suite of okra bench that says how a store behaves over its life: an
// experiment tracker logs to it, it is loaded, read cold and hot, opened again, holds large
// values, survives a crash and is written to by two processes.
package lifecycle

import (
	"fmt"
	"time"

	"github.com/okradb/okra-go/bench/suite"
)

// The groups of cells.
const (
	groupTracker = "Tracker: one run"
	groupLoad    = "Load in batches of 1,000"
	groupLarge   = "Large values"
	groupReads   = "Reads"
	groupReopen  = "Reopening in a new process"
	groupCrash   = "Reopening after SIGKILL"
	groupWriters = "Two processes"
	groupRuns    = "Tracker: many runs"
)

// Suite returns the suite.
func Suite() suite.Suite {
	return suite.Suite{
		Name:  "lifecycle",
		Usage: "how a store behaves over its life",
		Description: `An experiment tracker logs a training run of 20 series put by put, a
transaction each, and a new process reads all of it. A store is loaded in
batches, in key order and in random order; it is read by random gets, by seeks
and in whole; new processes open it; it takes large values. A process is
killed in the middle of a transaction, and another opens what is there. Two
processes write to one store. Many runs are logged, each in one durable
transaction, and read in a new process.

Where a file can be dropped from memory, "cold" reads begin so; what the disk
itself keeps in memory stays, and the system reads ahead: the more of that at
once, the fewer of the reads wait. Only "log runs" waits for the disk in each
transaction, and loads once, at the end.

p50 and p99 are of a transaction, a get, a seek with the entries after it, or
a series that is read. Two writers: of the slower one; their puts a second
contain the start of both processes. Opening again: the
median of 5 processes, from before opening to after the first entry.

Examples:

  okra bench lifecycle --quick --dir /mnt/disk
  okra bench lifecycle --only reopening --reopen 10k,1m,100m
  okra bench lifecycle --only "random gets" --keys 10m --value-size 1KiB`,
		Sizes: []suite.Size{
			{Name: "steps", Usage: "`NUMBER` of steps of the tracker's run", Full: []int{5000}, Quick: []int{100}},
			{Name: "load", Usage: "`NUMBER` of entries to load", Full: []int{1_000_000}, Quick: []int{50_000}},
			{Name: "large", Usage: "`NUMBER` of large values", Full: []int{100_000}, Quick: []int{2000}},
			{Name: "large-size", Usage: "`BYTES` of each", Full: []int{16 << 10}, Quick: []int{16 << 10}, Bytes: true},
			{Name: "keys", Usage: "`NUMBER` of entries in the store to read", Full: []int{1_000_000}, Quick: []int{100_000}},
			{Name: "gets", Usage: "`NUMBER` of random gets", Full: []int{20_000}, Quick: []int{2000}},
			{Name: "reopen", Usage: "`NUMBERS` of entries in stores to reopen", Full: []int{10_000, 1_000_000, 10_000_000}, Quick: []int{10_000, 100_000}, List: true},
			{Name: "crash", Usage: "`NUMBER` of puts before the crash", Full: []int{200_000}, Quick: []int{5000}},
			{Name: "each", Usage: "`NUMBER` of puts by each of two processes", Full: []int{200_000}, Quick: []int{5000}},
			{Name: "runs", Usage: "`NUMBER` of runs of 2,400 points each", Full: []int{2000}, Quick: []int{50}},
			{Name: "value-size", Usage: "`BYTES` of other values", Full: []int{100}, Quick: []int{100}, Bytes: true},
		},
		Cells: cells,
	}
}

// The limits of what is asked for.
const (
	maxEntries = 200_000_000
	maxBytes   = mapSize / 4 // the map also holds what is not data, and free pages
	maxValue   = 16 << 20    // a batch of values is in memory
)

func cells(o suite.Options) ([]suite.Cell, error) {
	m := cellMaker{o, databases()}
	for _, name := range []string{"value-size", "large-size"} {
		if m.size(name) > maxValue {
			return nil, fmt.Errorf("--%s: values of more than %d bytes", name, maxValue)
		}
	}
	// A run has a hundred puts a step: this keeps the numbers below in range.
	if steps, runs := m.size("steps"), m.size("runs"); max(steps, runs) > maxEntries/100 {
		return nil, fmt.Errorf("%d steps and %d runs: more than %d", steps, runs, maxEntries/100)
	}
	var all []suite.Cell
	for _, cells := range [][]suite.Cell{
		m.trackerCells(), m.loadCells(), m.largeCells(), m.readCells(), m.reopenCells(),
		m.crashCells(), m.writersCells(), m.runsCells(),
	} {
		all = append(all, cells...)
	}
	for _, c := range all {
		if c.Ops > 10*maxEntries || c.Entries > maxEntries || c.DataSize > maxBytes {
			return nil, fmt.Errorf("%s, %s: more than %d entries, or 16 GiB", c.Group, c.Name, maxEntries)
		}
	}
	return all, nil
}

// cellMaker makes cells.
type cellMaker struct {
	o         suite.Options
	databases []database // the sides of all cells
}

func (m cellMaker) size(name string) int { return m.o.Sizes[name][0] }

// What estimates suppose.
const (
	processTime = 20 * time.Millisecond
	diskBytes   = 200 << 20 // a second, written
)

// cost is how long both sides take together for n operations of so many µs.
func (m cellMaker) cost(n int, microseconds float64) time.Duration {
	return 4*processTime + time.Duration(2*float64(n)*microseconds)*time.Microsecond
}

// fillCost is how long both sides take to fill a store with n entries.
func (m cellMaker) fillCost(n int) time.Duration { return m.cost(n, 2) }

// toDisk is how long both sides take to flush so many bytes.
func (m cellMaker) toDisk(bytes int64) time.Duration {
	return time.Duration(2*float64(bytes)/diskBytes*1e3) * time.Millisecond
}

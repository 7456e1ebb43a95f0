// Package matrix is the suite of okra bench that measures each operation by itself: by size of
// value, by number of goroutines, and with data that memory can hold or cannot.
//
// Keys are numbers, of which the even ones are in the store at first: inserts put odd keys between
// them, and gets that miss ask for those. Every operation is a transaction of its own, but where
// several goroutines write to okra by Batch: there writes at the same time share one, and a side
// "okra Update" stands beside, in which they do not. Commits are not flushed to disk: what that
// costs is the matter of the suite durability. Each value that is read is read whole.
package matrix

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/okradb/okra-go/bench/suite"
)

// The groups of cells.
const (
	groupMemory = "In memory"
	groupBeyond = "Larger than memory"
)

// Suite returns the suite.
func Suite() suite.Suite { return newSuite(memoryLimit{limitable, limitMemory}) }

// ErrNoLimit is the error where the memory of a process is not limited.
var ErrNoLimit = errors.New("no limit of memory here")

// memoryLimit is how the memory of a process is limited.
type memoryLimit struct {
	// possible returns why stores in dir cannot be larger than memory, or nil.
	possible func(dir string) error

	// process returns what limits a process to so many bytes of memory, as a suite.Cell does it.
	process func(bytes int64) func(pid int) (done func(), err error)
}

func newSuite(limit memoryLimit) suite.Suite {
	return suite.Suite{
		Name:  "matrix",
		Usage: "each operation by value size, goroutines and memory, with a table of winners",
		Description: `Inserts, updates, deletes, gets, scans of 100 entries, and YCSB's workload E (95 %
scans, 5 % inserts), on a store that is filled. Keys are drawn evenly, or by
Zipf's law, so that a few are asked for often. Each operation is a transaction,
not flushed to disk. Where several goroutines write, "okra" is by Batch, in which
writes at the same time share a transaction, and "okra Update" is not.

The cells "larger than memory" run each side in a cgroup (version 2, or 1) with
less memory than the store needs. Where no such cgroup can be made, or the stores
are in memory anyway, they are listed with the reason. By default they have 4
goroutines, as each takes some of that memory, and --quick has three operations.

Examples:

  okra bench matrix --quick --dir /mnt/disk
  okra bench matrix --only "get hit" --value-size 100 --goroutines 1,8
  okra bench matrix --only larger --limit 1GiB --beyond-data 4GiB`,
		Sizes: []suite.Size{
			{Name: "value-size", Usage: "`BYTES` of each value", Full: []int{8, 1 << 10, 64 << 10}, Quick: []int{8, 1 << 10, 64 << 10}, List: true, Bytes: true},
			{Name: "goroutines", Usage: "`NUMBERS` of goroutines", Full: []int{1, 4, 16, 32}, Quick: []int{1, 32}, List: true},
			{Name: "ops", Usage: "`NUMBER` of gets; a 20th of writes and scans", Full: []int{200_000}, Quick: []int{20_000}},
			{Name: "data", Usage: "`BYTES` of keys and values in the store", Full: []int{32 << 20}, Quick: []int{16 << 20}, Bytes: true},
			{Name: "entries", Usage: "`NUMBER` of entries in the store at most", Full: []int{200_000}, Quick: []int{50_000}},
			{Name: "limit", Usage: "`BYTES` of memory in the cells larger than that", Full: []int{64 << 20}, Quick: []int{64 << 20}, Bytes: true},
			{Name: "beyond-value-size", Usage: "`BYTES` of each value there", Full: []int{8, 1 << 10, 64 << 10}, Quick: []int{1 << 10}, List: true, Bytes: true},
			{Name: "beyond-goroutines", Usage: "`NUMBERS` of goroutines there", Full: []int{4}, Quick: []int{4}, List: true},
			{Name: "beyond-ops", Usage: "`NUMBER` of gets there", Full: []int{500}, Quick: []int{200}},
			{Name: "beyond-data", Usage: "`BYTES` of keys and values there", Full: []int{128 << 20}, Quick: []int{128 << 20}, Bytes: true},
		},
		Cells:  func(o suite.Options) ([]suite.Cell, error) { return cells(o, limit) },
		Derive: derive,
	}
}

// The limits of what is asked for.
const (
	maxGoroutines = 100 // LMDB has 126 readers by default
	maxOps        = 100_000_000
)

// quickBeyond are the operations larger than memory in quick runs.
var quickBeyond = []string{"insert", "get hit, uniform", "scan, uniform"}

// cells returns the cells of one store one after the other, as they share it.
func cells(o suite.Options, limit memoryLimit) ([]suite.Cell, error) {
	one := func(name string) int { return o.Sizes[name][0] }
	all, err := group(groupMemory, o.Sizes["value-size"], o.Sizes["goroutines"], work{
		ops: one("ops"), data: one("data"), entries: one("entries"),
	})
	if err != nil {
		return nil, err
	}
	bytes := one("limit")
	if one("beyond-data") <= bytes {
		return nil, fmt.Errorf("--beyond-data: not more than the limit of %s", humanize.IBytes(uint64(bytes)))
	}
	beyond, err := group(groupBeyond, o.Sizes["beyond-value-size"], o.Sizes["beyond-goroutines"], work{
		ops: one("beyond-ops"), data: one("beyond-data"), entries: maxEntries, limited: true,
	})
	if err != nil {
		return nil, err
	}
	if o.Quick {
		beyond = slices.DeleteFunc(beyond, func(c suite.Cell) bool { return !slices.Contains(quickBeyond, c.Name) })
	}
	impossible := limit.possible(o.Dir)
	for i := range beyond {
		c := &beyond[i]
		c.Params = append(c.Params, suite.Param{Name: "limit", Value: humanize.IBytes(uint64(bytes))})
		c.Limit = limit.process(int64(bytes))
		if impossible == nil {
			continue
		}
		c.Cost = 0
		for k := range c.Sides {
			c.Sides[k].Absent = impossible.Error()
		}
	}
	return append(all, beyond...), nil
}

// group returns the cells of a group: all operations for each size of values and number of
// goroutines. The entries and bytes that w has are the most that there may be.
func group(name string, valueSizes, goroutines []int, w work) ([]suite.Cell, error) {
	most := w
	if w.ops > maxOps {
		return nil, fmt.Errorf("--ops, --beyond-ops: more than %d", maxOps)
	}
	if slices.Max(goroutines) > maxGoroutines {
		return nil, fmt.Errorf("--goroutines, --beyond-goroutines: more than %d", maxGoroutines)
	}
	var all []suite.Cell
	for _, valueSize := range valueSizes {
		w.valueSize = valueSize
		w.entries = min(most.entries, most.data/(keySize+valueSize))
		w.data = w.entries * (keySize + valueSize)
		w.budget = readFactor * most.data
		if w.entries < minEntries {
			return nil, fmt.Errorf("--data, --beyond-data: too small for %d values of %d bytes", minEntries, valueSize)
		}
		for _, w.goroutines = range goroutines {
			for _, w.operation = range operations {
				all = append(all, w.cell(name))
			}
		}
	}
	return all, nil
}

// cell returns the cell of w.
func (w work) cell(group string) suite.Cell {
	count := w.count()
	expected := w.operation.expected(w, count)
	c := suite.Cell{
		Group: group, Name: w.operation.name, Unit: "ops/s", Higher: true,
		Params: []suite.Param{
			{Name: "value", Value: formatBytes(w.valueSize)},
			{Name: "goroutines", Value: fmt.Sprint(w.goroutines)},
		},
		Ops: int64(count), Bytes: expected.bytes, Entries: int64(w.entries) + expected.added,
		DataSize: int64(w.data),
		Shared:   fmt.Sprintf("%s %d", group, w.valueSize),
		ReadOnly: !w.operation.writes,
	}
	for _, b := range w.backends() {
		c.Sides = append(c.Sides, b.side(w))
		c.Cost += w.cost(count, expected.bytes)
	}
	return c
}

// cost returns about how long a side of a repetition takes, with its preparation. It
// supposes a usual disk, of 200 MB/s and 5,000 reads a second.
func (w work) cost(count int, bytes int64) time.Duration {
	const (
		process = 20 * time.Millisecond
		perOp   = 2 * time.Microsecond
		perPut  = 50 * time.Microsecond
		copied  = 5 * time.Nanosecond // a byte of the store, with its overhead
		reads   = 4                   // bytes in a nanosecond
	)
	cost := process + time.Duration(count)*perOp + time.Duration(bytes/reads)
	if w.operation.writes {
		writes := count
		if w.operation.mixed {
			writes /= insertEvery
		}
		cost += process + time.Duration(writes)*perPut + time.Duration(w.data)*copied
	}
	if w.limited {
		cost += time.Duration(count) * 5 * time.Millisecond
	}
	return cost
}

func formatBytes(n int) string { return humanize.IBytes(uint64(n)) }

package bench

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"
)

const (
	// maxEntries is the number of keys that 4 bytes can tell apart.
	maxEntries = 1 << 32

	// maxBatchBytes bounds the memory for the keys and values of one iteration.
	maxBatchBytes = 4 << 30
)

// Config says what [Run] measures. Each zero field means the default.
type Config struct {
	// Entries are the sizes of the stores, in this order, each 1..2^32. Default: the sizes of each
	// row, in ascending order, which are 1000, 50,000 and 1,000,000 unless the row has its own.
	Entries []int

	// Rows are the rows to measure, in this order. Default: those of [Rows] that are not
	// optional.
	Rows []Row

	// ValueSize is the length of each value, in bytes. Default: 8.
	ValueSize int

	// Iterations is the number of timed iterations of each row, however long they take. Default:
	// the row's own number, cut short when a row takes very long.
	Iterations int

	// Dir is an existing folder. Run works in a new folder inside and removes it. Default: the
	// system's folder for temporary files.
	Dir string

	// NoSync opens both sides with LMDB's NoSync: commits are not flushed to disk.
	NoSync bool

	// Seed chooses the random keys. The same seed gives the same work.
	Seed uint64

	// Baseline is an earlier run to compare with, or nil. Run fails at once when the two runs do
	// not do the same work.
	Baseline *Report

	// Progress, if not nil, is called before each row and after each of its iterations, outside
	// the timed parts, in the goroutine of Run.
	Progress func(Progress)
}

// Progress is where a run is.
type Progress struct {
	Entries     int
	Row         string
	Done, Total int // iterations of this row, warm-up included; Total is the most it can take
}

// withDefaults returns c with the defaults filled in, or an error that says which field is wrong.
func (c Config) withDefaults() (Config, error) {
	if len(c.Rows) == 0 {
		rows, err := SelectRows(Rows(), nil)
		if err != nil {
			return c, err
		}
		c.Rows = rows
	}
	if c.ValueSize == 0 {
		c.ValueSize = 8
	}
	return c, c.check()
}

// sizes returns the numbers of entries to measure at, in order.
func (c Config) sizes() []int {
	if len(c.Entries) > 0 {
		return c.Entries
	}
	var all []int
	for _, row := range c.Rows {
		all = append(all, row.sizes()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// rowsAt returns the rows to measure at one of the sizes.
func (c Config) rowsAt(entries int) []Row {
	if len(c.Entries) > 0 {
		return c.Rows
	}
	var rows []Row
	for _, row := range c.Rows {
		if slices.Contains(row.sizes(), entries) {
			rows = append(rows, row)
		}
	}
	return rows
}

// sizes returns the numbers of entries at which r is measured by default.
func (r Row) sizes() []int {
	if r.Sizes != nil {
		return r.Sizes
	}
	return []int{1000, 50_000, 1_000_000}
}

func (c Config) check() error {
	if c.ValueSize < 0 {
		return errors.New("value size is negative")
	}
	if c.Iterations < 0 {
		return errors.New("number of iterations is negative")
	}
	for _, row := range c.Rows {
		if row.Durable && c.NoSync {
			return fmt.Errorf("row %q measures the flush of commits to disk: without it there is no point",
				row.Name)
		}
	}
	for _, entries := range c.sizes() {
		if err := c.checkSize(entries); err != nil {
			return err
		}
	}
	if c.Baseline != nil {
		return sameWork(c.Baseline.Env, Environment{Sync: !c.NoSync, ValueSize: c.ValueSize})
	}
	return nil
}

// checkSize returns an error if the rows cannot be measured at so many entries.
func (c Config) checkSize(entries int) error {
	if entries < 1 || int64(entries) > maxEntries {
		return fmt.Errorf("%d entries: not between 1 and 2^32", entries)
	}
	largest := entries // the fill
	for _, row := range c.rowsAt(entries) {
		if entries < row.Least {
			return fmt.Errorf("row %q needs at least %d entries", row.Name, row.Least)
		}
		for _, line := range row.lines() {
			largest = max(largest, line.Ops(entries))
		}
	}
	if int64(largest) > maxBatchBytes/int64(keySize+c.ValueSize) {
		return fmt.Errorf(
			"%s entries, values of %d bytes: a batch of %s entries takes more than %s of memory",
			FormatEntries(entries), c.ValueSize, FormatEntries(largest),
			humanize.IBytes(maxBatchBytes))
	}
	return nil
}

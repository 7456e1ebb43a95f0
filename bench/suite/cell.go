package suite

import (
	"strings"
	"time"

	"github.com/okradb/okra-go/bench"
)

// Cell is one figure, measured on several sides.
type Cell struct {
	Group  string  // the table that it stands in
	Name   string  // what is measured
	Params []Param // in order; group, name and parameters together name the cell

	Unit   string // of the value: "µs/write"
	Higher bool   // higher values are better

	// Sides take turns. The first is judged against each of the others. There is at least one;
	// where all are absent nothing is measured, and the result has their reasons.
	Sides []Side

	// Ops is the number of operations that each measurement must report, at least 1. Bytes, if
	// not 0, is the same for the keys and values written or read.
	Ops, Bytes int64

	// Entries is the number of entries that Check must find, on sides that have a Check.
	Entries int64

	// DataSize is the keys and values that the store holds at most, in bytes, for the report to
	// set beside the memory of the machine.
	DataSize int64

	// Cost is about how long one repetition takes, all sides and their preparation together, without
	// what cells share: SharedCost, with Shared, is about how long that takes to make, once for them.
	Cost, SharedCost time.Duration

	// Shared, if not "", names what Prepare makes: it runs once for each side, and the cells that
	// follow one another with the same name start from copies of the folder of the same side.
	Shared string

	// InPlace, with Shared, makes no copies: all repetitions work in the one folder. Run must then
	// leave the entries that are there as they are. It is for reads of large stores.
	InPlace bool

	// ReadOnly says that Run changes nothing of what Prepare makes, so that links to its files do
	// instead of copies; it may make files of its own. It counts in cells with Shared. A side that
	// changes such a file fails.
	ReadOnly bool

	// Limit, if not nil, limits the process of Run, its memory say. It is called when that process
	// waits for its work, and returns a function to call when the process has ended.
	Limit func(pid int) (done func(), err error)
}

// Param is a parameter of a cell, as it is shown: entries, 1M.
type Param struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Side is one way to do the work of a cell. Each function runs in a process of its own, with the
// same Rep.Dir.
type Side struct {
	Name   string // okra, lmdb or what else it is
	Absent string // why it cannot be measured here; "" if it can

	Prepare func(*Rep) error                   // nil: nothing to prepare
	Run     func(*Rep) (Measurement, error)    // measures itself
	Check   func(*Rep) (bench.Contents, error) // nil: Measurement.Sum is all that there is to compare
	Helpers map[string]func(*Rep) (Measurement, error)
}

// Rep is one repetition of one side.
type Rep struct {
	Dir    string // empty at first, removed at the end; the process works in it as it likes
	Number int    // of the repetition, from 0
	Seed   uint64 // the same for all sides, another in each repetition

	request request
}

// Measurement is what one repetition of one side gave.
type Measurement struct {
	Value float64 `json:"value"` // in the cell's unit, above 0
	Ops   int64   `json:"ops"`   // operations done
	Bytes int64   `json:"bytes"` // of keys and values, written or read

	P50 float64 `json:"p50_us,omitempty"` // latency of an operation in µs, where it was taken
	P99 float64 `json:"p99_us,omitempty"`

	// PeakMemory is the most memory that the process of Run had resident, in bytes, 0 where the
	// system does not tell. Pages of the store that LMDB has mapped count, which the system could
	// take back. Run leaves it 0, or says how much a program had that it has run: the larger counts.
	PeakMemory int64 `json:"peak_memory_bytes"`

	// FileSize is the size of all files in Dir but lock files after Run, unless Run sets it.
	FileSize int64 `json:"file_size_bytes"`

	// Timeline is operations per second, in steps of TimelineStep seconds.
	Timeline     []float64 `json:"timeline,omitempty"`
	TimelineStep float64   `json:"timeline_step_s,omitempty"`

	// Sum proves what was read: in each repetition it must be the same on all sides.
	Sum string `json:"sum,omitempty"`
}

// title is what names c.
func (c Cell) title() string {
	words := []string{c.Group + ":", c.Name}
	for _, p := range c.Params {
		words = append(words, p.Name+"="+p.Value)
	}
	return strings.Join(words, " ")
}

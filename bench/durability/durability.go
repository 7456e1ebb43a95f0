// Package durability is the suite of okra bench that says what durable commits cost, and what
// batches and group commit give back of that.
//
// The same loop of puts into a new store is done without sync, a transaction a write; durable, a
// transaction a write; and durable, in one batch. From the smallest and the largest of these
// batches it is predicted how long one of many more writes takes, and such a batch is run. Then
// several writers write at the same time.
package durability

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"github.com/okradb/okra-go/bench"
	"github.com/okradb/okra-go/bench/suite"
	"github.com/okradb/okra-go/okra"
)

// The groups of cells.
const (
	groupWrites = "Puts into a new store"
	groupBatch  = "One large batch"
	groupCommit = "Group commit"
)

// The names of cells in the first group.
const (
	memory  = "memory"  // without sync, a transaction a write
	durable = "durable" // a transaction a write
	batched = "batched" // durable, all in one transaction
)

// sideUpdate is okra by Update, where several writers write: side okra is by Batch there.
const sideUpdate = "okra Update"

// Suite returns the suite.
func Suite() suite.Suite {
	return suite.Suite{
		Name:  "durability",
		Usage: "what durable commits cost, and what batches and group commit give back",
		Description: `The same puts into a new store are done three times: "memory" without sync and
"durable" with it, a transaction a write, and "batched", durable in one
transaction. How long a larger batch takes is predicted from the batches, and
measured. Then several writers write at the same time, each write durable: okra
by Batch and by Update, and LMDB.

Examples:

  okra bench durability --quick --dir /mnt/disk
  okra bench durability --rows 1k,10k --value-size 1KiB
  okra bench durability --only "group commit" --writers 1,4,16`,
		Sizes: []suite.Size{
			{Name: "rows", Usage: "`NUMBERS` of writes into a new store", Full: []int{100, 400, 1600}, Quick: []int{100, 400}, List: true},
			{Name: "batch", Usage: "`NUMBERS` of writes in a large batch", Full: []int{10_000, 100_000}, Quick: []int{2000}, List: true},
			{Name: "writers", Usage: "`NUMBERS` of goroutines in group commit", Full: []int{1, 8, 64}, Quick: []int{1, 8, 64}, List: true},
			{Name: "group-writes", Usage: "`NUMBER` of writes by all writers together", Full: []int{1600}, Quick: []int{320}},
			{Name: "value-size", Usage: "`BYTES` of each value", Full: []int{100}, Quick: []int{100}, Bytes: true},
		},
		Cells:  cells,
		Derive: derive,
	}
}

const (
	keySize = 4 // bytes of the keys of a bench.Workload

	// What estimates suppose: of the two processes of a repetition of a side, and of a write.
	processTime = 25 * time.Millisecond
	writeTime   = 20 * time.Microsecond
)

// The limits of what is asked for: the entries are made in memory.
const (
	maxBytes = 4 << 30
	maxValue = 1 << 30
)

func cells(o suite.Options) ([]suite.Cell, error) {
	valueSize := o.Sizes["value-size"][0]
	if valueSize > maxValue {
		return nil, errors.New("--value-size: more than 1 GiB")
	}
	c := cellMaker{valueSize, o.SyncTime}
	var all []suite.Cell
	for _, rows := range o.Sizes["rows"] {
		for _, way := range []struct {
			name    string
			noSync  bool
			batched bool
		}{{memory, true, false}, {durable, false, false}, {batched, false, true}} {
			all = append(all, c.writes(groupWrites, way.name, rows, way.noSync, way.batched))
		}
	}
	for _, rows := range o.Sizes["batch"] {
		all = append(all, c.writes(groupBatch, batched, rows, false, true))
	}
	writes := o.Sizes["group-writes"][0]
	for _, writers := range o.Sizes["writers"] {
		if writers > writes {
			return nil, fmt.Errorf("--group-writes: %d are too few for %d writers", writes, writers)
		}
		all = append(all, c.group(writes, writers))
	}
	for _, cell := range all {
		if cell.Bytes > maxBytes {
			return nil, fmt.Errorf("%d writes of %d bytes take more memory than 4 GiB", cell.Ops, valueSize)
		}
	}
	return all, nil
}

// cellMaker makes cells.
type cellMaker struct {
	valueSize int           // bytes
	syncTime  time.Duration // for estimates
}

// cell returns what all cells of so many writes have in common.
func (m cellMaker) cell(writes, commits int) suite.Cell {
	bytes := int64(writes) * int64(keySize+m.valueSize)
	return suite.Cell{
		Ops: int64(writes), Bytes: bytes, Entries: int64(writes), DataSize: bytes,
		Cost: 2 * (processTime + time.Duration(commits)*m.syncTime + time.Duration(writes)*writeTime),
	}
}

// writes puts rows into a new store by one writer, in one batch or a transaction a write.
func (m cellMaker) writes(group, name string, rows int, noSync, batched bool) suite.Cell {
	commits := rows
	switch {
	case noSync:
		commits = 0
	case batched:
		commits = 1
	}
	c := m.cell(rows, commits)
	c.Group, c.Name, c.Unit = group, name, "µs/write"
	c.Params = []suite.Param{
		{Name: "rows", Value: bench.FormatEntries(rows)}, {Name: "value", Value: fmt.Sprintf("%d B", m.valueSize)},
	}
	w := work{entries: rows, valueSize: m.valueSize, noSync: noSync, batched: batched, writers: 1, value: perWrite}
	c.Sides = []suite.Side{w.okra("okra", false), w.lmdb()}
	return c
}

// group divides durable writes, a call each, among writers.
func (m cellMaker) group(writes, writers int) suite.Cell {
	c := m.cell(writes, writes)
	c.Group, c.Name, c.Unit, c.Higher = groupCommit, "durable writes", "writes/s", true
	c.Params = []suite.Param{
		{Name: "writers", Value: fmt.Sprint(writers)}, {Name: "value", Value: fmt.Sprintf("%d B", m.valueSize)},
	}
	w := work{entries: writes, valueSize: m.valueSize, writers: writers, value: perSecond}
	c.Sides = []suite.Side{w.okra("okra", true), w.okra(sideUpdate, false), w.lmdb()}
	c.Cost = c.Cost * 3 / 2
	return c
}

// work is puts of entries into a new store.
type work struct {
	entries, valueSize int
	noSync             bool
	batched            bool // all in one transaction
	writers            int
	value              func(elapsed time.Duration, writes int) float64
}

func perWrite(elapsed time.Duration, writes int) float64 {
	return float64(elapsed.Nanoseconds()) / 1e3 / float64(writes)
}

func perSecond(elapsed time.Duration, writes int) float64 { return float64(writes) / elapsed.Seconds() }

// okra returns the side that does w by Update of a DB, or by Batch.
func (w work) okra(name string, batch bool) suite.Side {
	return suite.Side{
		Name:  name,
		Check: func(r *suite.Rep) (bench.Contents, error) { return bench.CheckOkra(r.Dir) },
		Run: func(r *suite.Rep) (suite.Measurement, error) {
			entries := w.fill(r)
			db, err := okra.Open(r.Dir, &okra.Options{NoSync: w.noSync})
			if err != nil {
				return suite.Measurement{}, err
			}
			update := db.Update
			if batch {
				update = db.Batch
			}
			m, err := w.measure(func(c *clock) (bench.Tally, error) {
				if w.batched {
					return bench.PutOkra(db, entries)
				}
				return bench.PutEach(func(fn func(*okra.Tx) error) error {
					defer c.since(time.Now())
					return update(fn)
				}, entries, w.writers)
			})
			return m, errors.Join(err, db.Close())
		},
	}
}

// lmdb returns the side that does w by plain LMDB.
func (w work) lmdb() suite.Side {
	return suite.Side{
		Name:  "lmdb",
		Check: func(r *suite.Rep) (bench.Contents, error) { return bench.CheckPlain(r.Dir) },
		Run: func(r *suite.Rep) (suite.Measurement, error) {
			entries := w.fill(r)
			p, err := bench.OpenPlain(r.Dir, bench.StoreOptions{
				MapSize: bench.MapSize(w.entries, w.valueSize), NoSync: w.noSync,
			})
			if err != nil {
				return suite.Measurement{}, err
			}
			m, err := w.measure(func(c *clock) (bench.Tally, error) {
				if w.batched {
					return bench.PutPlain(p, entries)
				}
				return bench.PutEachPlain(func(fn lmdb.TxnOp) error {
					defer c.since(time.Now())
					return p.Env.Update(fn)
				}, p.DBI, entries, w.writers)
			})
			return m, errors.Join(err, p.Close())
		},
	}
}

// fill makes the entries: each key once, in random order.
func (w work) fill(r *suite.Rep) *bench.Batch {
	var b bench.Batch
	bench.NewWorkload(w.entries, w.valueSize, r.Seed).FillAll(&b, r.Random())
	return &b
}

// measure times put.
func (w work) measure(put func(*clock) (bench.Tally, error)) (suite.Measurement, error) {
	c := clock{times: make([]time.Duration, 0, w.entries)}
	start := time.Now()
	tally, err := put(&c)
	elapsed := time.Since(start)
	m := suite.Measurement{
		Value: w.value(elapsed, w.entries),
		Ops:   int64(tally.Entries),
		Bytes: int64(tally.Entries) * int64(keySize+w.valueSize),
	}
	m.P50, m.P99 = suite.Percentiles(c.times)
	return m, err
}

// clock takes the latencies of writes, of many goroutines.
type clock struct {
	mu    sync.Mutex
	times []time.Duration
}

func (c *clock) since(start time.Time) {
	elapsed := time.Since(start)
	c.mu.Lock()
	c.times = append(c.times, elapsed)
	c.mu.Unlock()
}

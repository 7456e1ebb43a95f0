package bench

import (
	"math/rand/v2"

	"github.com/okradb/okra-go/okra"
)

// Row is one line of the table, or several that belong together: a piece of work, done by all
// sides in turn. A row is a value, so a suite adds its own.
type Row struct {
	Name string

	// Optional rows run only when they are named.
	Optional bool

	// Sizes are the numbers of entries at which the row is measured when [Config] names none.
	// Nil means its default.
	Sizes []int

	// Lines make a row of several lines, each a Row that is measured and named on its own, in
	// this order, in stores that all lines share and no other row sees. Such a row has only the
	// fields down to Notes; its lines have, beside their names, only those below.
	Lines []Row

	// Least is the fewest entries that the row can work on.
	Least int

	// Durable rows measure the flush at commit: they are an error with [Config.NoSync].
	Durable bool

	// NoBoundary fills the stores, and makes the values of all writes, so that no leaf of the
	// okra tree is a boundary: one node holds all leaves.
	NoBoundary bool

	// Notes returns remarks on the results of all lines, which are in order. Nil makes none.
	Notes func(lines []Result) []string

	// Iterations is the number of timed iterations, for a store of so many entries.
	Iterations func(entries int) int

	// Ops is the number of entries that one iteration touches. A side that reports another number
	// fails the row.
	Ops func(entries int) int

	// Prepare fills b for iteration i, untimed, before either side runs. Nil leaves b empty.
	Prepare func(w *Workload, b *Batch, random *rand.Rand, i int)

	// Okra and LMDB are the timed work of one iteration: one transaction, commit included, or, in
	// a row of Goroutines, all of theirs.
	Okra func(db *okra.DB, b *Batch) (Tally, error)
	LMDB func(p *Plain, b *Batch) (Tally, error)

	// Update, if not nil, is another way for okra to do the work, in a store of its own: its
	// Update where Okra is its Batch. Only Lines can have it, all of a row or none.
	Update func(db *okra.DB, b *Batch) (Tally, error)

	// Goroutines is the number of goroutines that do the work of a side, for the report; 0 in a
	// row that does not use any. Unit names what the row's operations are, if not entries.
	Goroutines int
	Unit       string

	// Writer has a goroutine commit small transactions on the side all the time that its work
	// runs. They write odd keys only, which the row must leave alone.
	Writer bool

	// Check, if not nil, is called on the okra stores after the row's last iteration, and fails
	// the row by an error.
	Check func(db *okra.DB) error

	// Writes says that an iteration stores the entries of its batch, under keys of the workload:
	// when the row is done, the stores are compared and the last batch is read back.
	Writes bool

	// Fresh gives each iteration and side an empty store of its own. If the row writes, it is
	// checked after each iteration, and must then hold as many entries as the workload.
	Fresh bool
}

// Tally is what a side has done in one iteration. Both sides must give the same.
type Tally struct {
	Entries int    // entries found or written
	Sum     uint64 // of a byte of each key and value read, which proves that they were touched
}

// add counts an entry that was read.
func (t *Tally) add(key, value []byte) {
	t.Entries++
	if len(key) > 0 {
		t.Sum += uint64(key[len(key)-1])
	}
	if len(value) > 0 {
		t.Sum += uint64(value[0])
	}
}

// lines returns the lines of r: itself, unless it has several.
func (r Row) lines() []Row {
	if len(r.Lines) == 0 {
		return []Row{r}
	}
	return r.Lines
}

// Rows returns all rows in the order of the table, optional ones included.
func Rows() []Row {
	return []Row{
		loadRow("load"),
		getRow("get random 1 entry", 1, 5000),
		getRow("get random 100 entries", 100, 1000),
		iterateRow("iterate over all entries"),
		setRow("set random 1 entry", 1, 500),
		setRow("set random 100 entries", 100, 200),
		setRow("set random 1k entries", 1000, 50),
		setRow("set random 50k entries", 50_000, 10),
		wideRow(),
		getsRow(),
		groupRow(),
	}
}

func loadRow(name string) Row {
	return Row{
		Name:       name,
		Iterations: func(entries int) int { return min(max(500_000/entries, 3), 20) },
		Ops:        allEntries,
		Prepare: func(w *Workload, b *Batch, random *rand.Rand, _ int) {
			w.FillAll(b, random)
		},
		Okra: PutOkra, LMDB: PutPlain,
		Writes: true, Fresh: true,
	}
}

func getRow(name string, n, iterations int) Row {
	return Row{
		Name:       name,
		Iterations: fixed(iterations),
		Ops:        fixed(n),
		Prepare: func(w *Workload, b *Batch, random *rand.Rand, _ int) {
			w.FillKeys(b, random, n)
		},
		Okra: getOkra, LMDB: getPlain,
	}
}

func iterateRow(name string) Row {
	return Row{
		Name:       name,
		Iterations: func(entries int) int { return min(max(20_000_000/entries, 3), 500) },
		Ops:        allEntries,
		Okra:       iterateOkra, LMDB: iteratePlain,
	}
}

func setRow(name string, n, iterations int) Row {
	return Row{
		Name:       name,
		Iterations: fixed(iterations),
		Ops:        fixed(n),
		Prepare: func(w *Workload, b *Batch, random *rand.Rand, i int) {
			w.FillWrites(b, random, i, n)
		},
		Okra: PutOkra, LMDB: PutPlain,
		Writes: true,
	}
}

func fixed(n int) func(int) int { return func(int) int { return n } }

func allEntries(entries int) int { return entries }

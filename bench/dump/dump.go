// Package dump is the suite of okra bench that says what a dump costs: to write and to read one
// in each of okra's formats, beside LMDB's own tools and a copy of the file, and what the store
// itself takes to write, read, iterate and delete the same entries.
//
// Keys are numbered names with a prefix, values 15 random letters and digits. A dump, or a store
// made of one, is on the disk before the clock stops.
package dump

import (
	"fmt"
	"os/exec"
	"time"

	"github.com/okradb/okra-go/bench"
	"github.com/okradb/okra-go/bench/suite"
	dumps "github.com/okradb/okra-go/okra/dump"
)

// The groups of cells.
const (
	groupExport = "Export"
	groupImport = "Import"
	groupStore  = "Operations"
)

// The names of sides that are not a format of okra's.
const (
	sideDump = "mdb_dump"
	sideLoad = "mdb_load"
	sideCopy = "raw copy"
)

// formats are okra's, each a side.
var formats = []struct {
	side string
	kind dumps.Kind
}{
	{"okra binary", dumps.Binary},
	{"okra jsonl", dumps.JSONLines},
	{"okra mdb", dumps.MDB},
}

// Suite returns the suite.
func Suite() suite.Suite { return newSuite(exec.LookPath) }

// newSuite returns the suite with LMDB's tools where find says that they are.
func newSuite(find func(name string) (path string, err error)) suite.Suite {
	return suite.Suite{
		Name:  "dump",
		Usage: "what it costs to export and to import, by format and size",
		Description: `Export of a store and import into a new one, in okra's binary format, as JSON
lines and as LMDB's text, beside mdb_dump and mdb_load on a plain LMDB store
where these are installed, and beside a copy of the file. LMDB's tools are
programs: their start counts, and of their memory no less can be told than the
process that starts them has. Then the store itself: to write all entries, to
read each in random order, to iterate over them, to delete every other one, and
to look all up again.

mdb_load flushes to disk after each 100 entries, so it is run with at most
200,000 keys; --mdb-load-keys 2M runs it with as many.

Examples:

  okra bench dump --quick --dir /mnt/disk
  okra bench dump --keys 10k,1M --only import
  okra bench dump --keys 2M --mdb-load-keys 2M --only "import keys=2M"`,
		Sizes: []suite.Size{
			{Name: "keys", Usage: "`NUMBERS` of keys", Full: []int{2, 200, 2000, 200_000, 2_000_000}, Quick: []int{2, 200, 2000, 20_000}, List: true},
			{Name: "mdb-load-keys", Usage: "`NUMBER` of keys up to which mdb_load is run", Full: []int{200_000}, Quick: []int{20_000}},
		},
		Cells: func(o suite.Options) ([]suite.Cell, error) {
			return cells(o, tool{sideDump, find}, tool{sideLoad, find})
		},
		Derive: derive,
	}
}

// maxKeys bounds what is asked for: the keys are numbered in 7 digits.
const maxKeys = 10_000_000

func cells(o suite.Options, dump, load tool) ([]suite.Cell, error) {
	var all []suite.Cell
	for _, n := range o.Sizes["keys"] {
		if n < 2 || n > maxKeys {
			return nil, fmt.Errorf("--keys: not between 2 and %d", maxKeys)
		}
		w := work{n}
		tooMany := ""
		if most := o.Sizes["mdb-load-keys"][0]; n > most {
			tooMany = fmt.Sprintf("not run above --mdb-load-keys %d: a flush for each 100 keys", most)
		}
		all = append(all, w.exports(dump), w.imports(load, tooMany, o.SyncTime))
		all = append(all, w.operations()...)
	}
	return all, nil
}

// work is what is done with so many entries.
type work struct{ keys int }

// cell returns what all cells of w have in common, of the time that each of some sides takes for
// an entry.
func (w work) cell(group, name string, sides int, perKey time.Duration) suite.Cell {
	const process = 20 * time.Millisecond // two or three of them
	return suite.Cell{
		Group: group, Name: name,
		Params: []suite.Param{{Name: "keys", Value: bench.FormatEntries(w.keys)}},
		Ops:    int64(w.keys), Bytes: w.bytes(), Entries: int64(w.keys), DataSize: w.bytes(),
		Cost: time.Duration(sides) * (process + time.Duration(w.keys)*perKey),
	}
}

// bytes returns the size of the raw data.
func (w work) bytes() int64 { return int64(w.keys) * (keySize + valueSize) }

// exports writes dumps of a store.
func (w work) exports(mdb tool) suite.Cell {
	c := w.cell(groupExport, "export", 5, 2*time.Microsecond)
	c.Unit = "ms"
	c.Shared, c.ReadOnly = c.Group+c.Params[0].Value, true
	for _, f := range formats {
		c.Sides = append(c.Sides, w.exportSide(f.side, f.kind))
	}
	c.Sides = append(c.Sides, w.mdbDumpSide(mdb), w.copySide())
	return c
}

// imports makes stores of dumps.
func (w work) imports(mdb tool, tooMany string, syncTime time.Duration) suite.Cell {
	c := w.cell(groupImport, "import", 5, 3*time.Microsecond)
	c.Unit = "ms"
	c.Shared, c.ReadOnly = c.Group+c.Params[0].Value, true
	for _, f := range formats {
		c.Sides = append(c.Sides, w.importSide(f.side, f.kind))
	}
	load := w.mdbLoadSide(mdb)
	if load.Absent == "" {
		load.Absent = tooMany
	}
	if load.Absent == "" {
		const perSync = 100 // entries
		c.Cost += time.Duration(w.keys/perSync) * syncTime
	}
	c.Sides = append(c.Sides, load, w.copySide())
	return c
}

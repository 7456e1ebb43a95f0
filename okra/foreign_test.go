package okra_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"github.com/okradb/okra-go/okra"
)

// What is no store, opened for reading: the right error, and nothing is made or changed.
func TestL32ReadOnlyOpenOfNoStore(t *testing.T) {
	cases := []struct {
		name  string
		make  func(t *testing.T, dir string)
		table string
		err   error
	}{
		{"missing directory", func(t *testing.T, dir string) { remove(t, dir) }, "", okra.ErrNotExist},
		{"empty directory", func(*testing.T, string) {}, "", okra.ErrNotExist},
		{"never initialised", neverInitialised, "", okra.ErrNotOkra},
		{"never initialised, by name", neverInitialised, "x", okra.ErrNoTable},
		{"records of others", func(t *testing.T, dir string) {
			foreign(t, dir, "", 0, "user", "data")
		}, "", okra.ErrNotOkra},
		{"records of others in the named table", func(t *testing.T, dir string) {
			foreign(t, dir, "x", 0, "user", "data")
		}, "x", okra.ErrNotOkra},
		{"named tables, read as the unnamed", func(t *testing.T, dir string) {
			foreign(t, dir, "x", 0, "user", "data")
		}, "", okra.ErrNotOkra},
		{"another table", func(t *testing.T, dir string) {
			foreign(t, dir, "y", 0, "user", "data")
		}, "x", okra.ErrNoTable},
		{"duplicates", func(t *testing.T, dir string) {
			foreign(t, dir, "x", lmdb.DupSort, "user", "data", "user", "more")
		}, "x", okra.ErrNotOkra},
		{"numbers as keys", func(t *testing.T, dir string) {
			foreign(t, dir, "x", lmdb.IntegerKey)
		}, "x", okra.ErrNotOkra},
		{"keys from the end", func(t *testing.T, dir string) {
			foreign(t, dir, "x", lmdb.ReverseKey)
		}, "x", okra.ErrNotOkra},
		{"a record by the table's name", func(t *testing.T, dir string) {
			foreign(t, dir, "", 0, "x", "data")
		}, "x", okra.ErrNotOkra},
		{"something else in the file", func(t *testing.T, dir string) {
			writeFile(t, dir, string(make([]byte, 1<<15)))
		}, "", okra.ErrNotLMDB},
		{"a short file", func(t *testing.T, dir string) {
			writeFile(t, dir, "short")
		}, "", okra.ErrNotLMDB},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			c.make(t, dir)
			same := unchanged(t, dir)
			for range 2 { // a failed open leaves no trace in this process either
				db, err := okra.Open(dir, &okra.Options{ReadOnly: true, Table: c.table})
				if db != nil {
					db.Close()
				}
				wantIs(t, "Open", err, c.err)
			}
			same()
			if _, err := os.Stat(dir); c.name == "missing directory" && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the directory is there: %v", err)
			}
		})
	}
}

// An empty data file, as an open that was killed can leave, is no store when read; a writable
// open makes one of it.
func TestL32EmptyDataFile(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "")
	same := unchanged(t, dir)
	db, err := okra.Open(dir, &okra.Options{ReadOnly: true})
	if db != nil {
		db.Close()
	}
	if !errors.Is(err, okra.ErrNotLMDB) && !errors.Is(err, okra.ErrNotOkra) &&
		!errors.Is(err, okra.ErrNotExist) {
		t.Errorf("a read-only open gives %v, want one of the package's errors", err)
	}
	same()
	updateOK(t, storeIn(t, dir, okra.Options{}), put("a", "1"))
}

// A writable open of tables with other contents is refused too, and leaves them as they are.
func TestL32WritableOpenOfForeignTable(t *testing.T) {
	cases := []struct {
		name, in, table string
		flags           uint
	}{
		{"records in the unnamed table", "", "", 0},
		{"named tables, opened as the unnamed", "x", "", 0},
		{"records in the named table", "x", "x", 0},
		{"duplicates", "x", "x", lmdb.DupSort},
		{"keys from the end", "x", "x", lmdb.ReverseKey},
		{"a record by the table's name", "", "user", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			foreign(t, dir, c.in, c.flags, "user", "data")
			same := unchanged(t, dir)
			db, err := okra.Open(dir, &okra.Options{Table: c.table})
			if db != nil {
				db.Close()
			}
			wantIs(t, "Open", err, okra.ErrNotOkra)
			same()
		})
	}
}

// An LMDB file that was never initialised becomes a store.
func TestOpenOfNewLMDBFile(t *testing.T) {
	for _, table := range []string{"", "x"} {
		dir := t.TempDir()
		neverInitialised(t, dir)
		updateOK(t, storeIn(t, dir, okra.Options{Table: table}), put("a", "1"))
	}
}

func neverInitialised(t *testing.T, dir string) { ownEnv(t, dir, 0).Close() }

func foreign(t *testing.T, dir, table string, flags uint, pairs ...string) {
	env := ownEnv(t, dir, 0)
	foreignTable(t, env, table, flags, pairs...)
	env.Close()
}

func writeFile(t *testing.T, dir, content string) {
	if err := os.WriteFile(filepath.Join(dir, "data.mdb"), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, dir string) {
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
}

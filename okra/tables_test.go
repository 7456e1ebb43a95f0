package okra_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"github.com/okradb/okra-go/okra"
)

// Trees in several tables, of several formats, commit together and fail together.
func TestTablesTogether(t *testing.T) {
	dir := t.TempDir()
	db := storeIn(t, dir, okra.Options{Table: "main", Q: 4})
	formats := map[string]okra.Format{
		"index": {Mode: okra.Index, Q: 2}, "wide": {K: 32, Q: 100}, "same": {Q: 4},
	}
	tables := map[string]*okra.Table{}
	open := func() {
		for name, f := range formats {
			var err error
			if tables[name], err = db.Table(name, f); err != nil {
				t.Fatal(err)
			}
		}
	}
	open()
	all := func(tx *okra.Tx, fn func(tx *okra.Tx) error) error {
		for _, table := range tables {
			if err := fn(tx.Table(table)); err != nil {
				return fmt.Errorf("table %s: %w", table.Name(), err)
			}
		}
		return fn(tx)
	}
	pairs := []string{"a", "1", "b", "2", "c", "3"}
	both := func(tx *okra.Tx) error { return all(tx, wantContent(pairs...)) }
	updateOK(t, db, func(tx *okra.Tx) error { return errors.Join(all(tx, put(pairs...)), both(tx)) })
	viewOK(t, db, both)
	err := db.Update(func(tx *okra.Tx) error {
		return errors.Join(all(tx, put("a", "lost", "d", "4")), errAborted)
	})
	wantIs(t, "Update", err, errAborted)
	viewOK(t, db, both)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	formats = map[string]okra.Format{"index": {}, "wide": {}, "same": {}}
	db = storeIn(t, dir, okra.Options{Table: "main"})
	open()
	viewOK(t, db, both)
	if f := tables["wide"].Format(); f != (okra.Format{K: 32, Q: 100, Mode: okra.Store}) {
		t.Errorf("the format of the reopened table is %s", f)
	}
}

// One table that cannot be completed fails the whole transaction.
func TestTablesFailTogether(t *testing.T) {
	db := newStore(t, okra.Options{Table: "main", MaxSize: 1 << 20})
	table, err := db.Table("more", okra.Format{})
	if err != nil {
		t.Fatal(err)
	}
	updateOK(t, db, put("a", "1"))
	err = db.Update(func(tx *okra.Tx) error {
		return errors.Join(put("a", "2")(tx), put("big", strings.Repeat("x", 2<<20))(tx.Table(table)))
	})
	wantIs(t, "Update", err, okra.ErrMapFull)
	viewOK(t, db, func(tx *okra.Tx) error {
		return errors.Join(wantContent("a", "1")(tx), wantContent()(tx.Table(table)))
	})
}

// In one transaction a table is one tree, by whichever of its handles it is asked for.
func TestTableByTwoHandles(t *testing.T) {
	db := newStore(t, okra.Options{Table: "main"})
	var handles []*okra.Table
	for range 2 {
		h, err := db.Table("more", okra.Format{})
		if err != nil {
			t.Fatal(err)
		}
		handles = append(handles, h)
	}
	own, err := db.Table("main", okra.Format{})
	if err != nil {
		t.Fatal(err)
	}
	updateOK(t, db, func(tx *okra.Tx) error {
		if err := errors.Join(put("a", "1")(tx), put("b", "2")(tx.Table(handles[0]))); err != nil {
			return err
		}
		return errors.Join(wantContent("a", "1")(tx.Table(own)),
			wantContent("b", "2")(tx.Table(handles[1])))
	})
	err = db.Update(func(tx *okra.Tx) error {
		a, b := tx.Table(handles[0]), tx.Table(handles[1])
		for i := range 1000 { // more than a few, so that the levels are built at the end
			if err := errors.Join(put(fmt.Sprint(i), "a")(a), put(fmt.Sprint(-i), "b")(b)); err != nil {
				return err
			}
		}
		return nil
	})
	wantIs(t, "Update by both", err, nil)
	viewOK(t, db, func(tx *okra.Tx) error { return wholeTree(tx.Table(handles[0])) })
}

// Tables that there cannot be.
func TestTableRefuses(t *testing.T) {
	dir := t.TempDir()
	db := storeIn(t, dir, okra.Options{Table: "main"})
	other := newStore(t, okra.Options{Table: "main"})
	foreignTable, err := other.Table("more", okra.Format{})
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name   string
		format okra.Format
		err    error
	}{
		{"", okra.Format{}, okra.ErrOptions},
		{"bad", okra.Format{K: 3}, okra.ErrOptions},
		{"bad", okra.Format{Q: 1}, okra.ErrOptions},
		{"bad", okra.Format{Mode: 7}, okra.ErrOptions},
		{"main", okra.Format{Q: 7}, okra.ErrFormat},
		{"main", okra.Format{Mode: okra.Index}, okra.ErrFormat},
		// LMDB's names are strings of C: these would be cut, the first to "main".
		{"main\x00more", okra.Format{}, okra.ErrOptions},
		{"\x00", okra.Format{}, okra.ErrOptions},
	}
	for _, c := range cases {
		_, err := db.Table(c.name, c.format)
		wantIs(t, fmt.Sprintf("Table %q as %s", c.name, c.format), err, c.err)
	}
	if _, err := db.Table(strings.Repeat("x", 600), okra.Format{}); err == nil {
		t.Error("a name longer than a key of LMDB's gives a table")
	}
	wantIs(t, "a name of 511 bytes", tableErr(db, strings.Repeat("x", 511)), nil)
	updateOK(t, db, func(tx *okra.Tx) error {
		for name, err := range everyCall(tx.Table(foreignTable)) {
			wantIs(t, name+" of a table of another DB", err, okra.ErrOptions)
		}
		return put("a", "1")(tx)
	})
	viewOK(t, db, wantContent("a", "1"))
	n := 0
	for err = nil; err == nil && n < 1000; n++ {
		err = tableErr(db, fmt.Sprint("table ", n))
	}
	wantIs(t, "a table too many", err, okra.ErrTablesFull)
	if n < 100 {
		t.Errorf("only %d tables fit", n)
	}
	updateOK(t, db, put("b", "2"))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = storeIn(t, dir, okra.Options{Table: "main", ReadOnly: true})
	wantIs(t, "an absent table, read-only", tableErr(db, "absent"), okra.ErrNoTable)
	wantIs(t, "a table there, read-only", tableErr(db, "table 0"), nil)
	wantIs(t, "Update, read-only", db.Update(put("c", "3")), okra.ErrReadOnly)
}

func tableErr(db *okra.DB, name string) error {
	_, err := db.Table(name, okra.Format{})
	return err
}

// A tree in the unnamed table has the file for itself: no named table beside it, and no such
// tree among named tables.
func TestTableBesideUnnamed(t *testing.T) {
	dir := t.TempDir()
	db := storeIn(t, dir, okra.Options{})
	updateOK(t, db, put("a", "1", "more", "2"))
	for _, name := range []string{"more", "\x01", "\xff", "okra"} {
		wantIs(t, fmt.Sprintf("Table %q", name), tableErr(db, name), okra.ErrNotOkra)
	}
	viewOK(t, db, wantContent("a", "1", "more", "2"))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	same := unchanged(t, dir)
	db, err := okra.Open(dir, &okra.Options{Table: "more"})
	if db != nil {
		db.Close()
	}
	wantIs(t, "Open of a named table beside it", err, okra.ErrNotOkra)
	same()

	dir = t.TempDir()
	db = storeIn(t, dir, okra.Options{Table: "more"})
	updateOK(t, db, put("a", "1"))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	same = unchanged(t, dir)
	for _, readOnly := range []bool{true, false} {
		db, err = okra.Open(dir, &okra.Options{ReadOnly: readOnly})
		if db != nil {
			db.Close()
		}
		wantIs(t, "Open of the unnamed table beside a named one", err, okra.ErrNotOkra)
	}
	same()
	viewOK(t, storeIn(t, dir, okra.Options{Table: "more"}), wantContent("a", "1"))
}

// A named tree of ours beside tables of others, in an environment that is not ours alone.
func TestTableAmongForeignOnes(t *testing.T) {
	dir := t.TempDir()
	foreign(t, dir, "", 0, "user", "data")
	foreign(t, dir, "theirs", lmdb.DupSort, "user", "a", "user", "b")
	db := storeIn(t, dir, okra.Options{Table: "ours"})
	updateOK(t, db, put("a", "1"))
	viewOK(t, db, wantContent("a", "1"))
	wantIs(t, "Table of theirs", tableErr(db, "theirs"), okra.ErrNotOkra)
	wantIs(t, "Table by a record's name", tableErr(db, "user"), okra.ErrNotOkra)
}

// A View does not know a table that was made after it began: an error, and the next View does.
func TestTableMadeDuringView(t *testing.T) {
	db := newStore(t, okra.Options{Table: "main"})
	var table *okra.Table
	viewOK(t, db, func(tx *okra.Tx) (err error) {
		if table, err = db.Table("more", okra.Format{}); err != nil {
			return err
		}
		for name, err := range everyCall(tx.Table(table)) {
			if err == nil {
				t.Errorf("%s works", name)
			}
		}
		return wantContent()(tx)
	})
	viewOK(t, db, func(tx *okra.Tx) error { return wantContent()(tx.Table(table)) })
}

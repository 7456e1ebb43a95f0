package okra_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"github.com/okradb/okra-go/okra"
)

// verified returns what Verify finds in tx, each as "level key kind".
func verified(tx *okra.Tx) (list []string, err error) {
	for p, err := range tx.Verify() {
		if err != nil {
			return list, err
		}
		list = append(list, fmt.Sprintf("%d %s %s", p.Level, p.Key, p.Kind))
	}
	return list, nil
}

// wantProblems demands that Verify finds exactly these.
func wantProblems(want ...string) func(*okra.Tx) error {
	return func(tx *okra.Tx) error {
		got, err := verified(tx)
		if err == nil && !slices.Equal(got, want) {
			err = fmt.Errorf("found %q, want %q", got, want)
		}
		return err
	}
}

// rawly changes the records of the unnamed table in dir by LMDB alone.
func rawly(t *testing.T, dir string, fn func(txn *lmdb.Txn, dbi lmdb.DBI) error) {
	t.Helper()
	env := ownEnv(t, dir, 0)
	defer env.Close()
	err := env.Update(func(txn *lmdb.Txn) error {
		dbi, err := txn.OpenRoot(0)
		if err != nil {
			return err
		}
		return fn(txn, dbi)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A raw change of one LMDB record.
func rawSet(key, value string) func(*lmdb.Txn, lmdb.DBI) error {
	return func(txn *lmdb.Txn, dbi lmdb.DBI) error {
		return txn.Put(dbi, []byte(key), []byte(value), 0)
	}
}

func rawDelete(key string) func(*lmdb.Txn, lmdb.DBI) error {
	return func(txn *lmdb.Txn, dbi lmdb.DBI) error { return txn.Del(dbi, []byte(key), nil) }
}

func rawFlip(key string) func(*lmdb.Txn, lmdb.DBI) error {
	return func(txn *lmdb.Txn, dbi lmdb.DBI) error {
		v, err := txn.Get(dbi, []byte(key))
		if err != nil {
			return err
		}
		v[len(v)-1] ^= 1
		return txn.Put(dbi, []byte(key), v, 0)
	}
}

// six are the entries of FORMAT.md, section 7: over them are levels 1 and 2.
func six() []string {
	return []string{"apple", "red", "banana", "yellow", "cherry", "red", "grape", "green",
		"lemon", "yellow", "plum", "blue"}
}

const sixteen = "a hash of 16 b.."

// One LMDB record of each kind, deleted, altered or added: Verify finds it and Rebuild puts the
// tree right, in the file as in memory.
func TestM13C10EachRecordInLMDB(t *testing.T) {
	cases := []struct {
		name    string
		do      func(*lmdb.Txn, lmdb.DBI) error
		want    []string
		trusted bool
	}{
		{"nothing", func(*lmdb.Txn, lmdb.DBI) error { return nil }, nil, true},
		{"leaf value", rawFlip("\x00apple"), []string{"0 apple wrong hash"}, false},
		{"leaf hash", rawSet("\x00apple", "\xf6ther hash here.red"),
			[]string{"0 apple wrong hash", "1  wrong hash"}, true},
		{"leaf cut", rawSet("\x00grape", "short"),
			[]string{"0 grape too short", "1 cherry wrong hash"}, false},
		{"leaf missing", rawDelete("\x00banana"), []string{"1  wrong hash"}, false},
		{"leaf added", rawSet("\x00fig", sixteen+"v"),
			[]string{"0 fig wrong hash", "1 cherry wrong hash"}, false},
		{"anchor of level 0", rawDelete("\x00"), []string{"0  missing", "1  wrong hash"}, true},
		{"node altered", rawFlip("\x01cherry"), []string{"1 cherry wrong hash", "2  wrong hash"}, true},
		{"node missing", rawDelete("\x01plum"), []string{"1 plum missing", "2  wrong hash"}, true},
		{"orphan parent", rawSet("\x01grape", sixteen), []string{"1 grape stray", "2  wrong hash"}, true},
		{"anchor of level 1", rawFlip("\x01"), []string{"1  wrong hash", "2  wrong hash"}, true},
		{"root altered", rawFlip("\x02"), []string{"2  wrong hash"}, true},
		{"root missing", rawDelete("\x02"), []string{"2  missing"}, true},
		{"level above the root", rawSet("\x03plum", sixteen), []string{"3 plum stray"}, true},
		{"beyond the header", rawSet("\xff\x00", "x"), []string{"255 \x00 stray"}, true},
		{"header without mode", rawSet("\xff", "okra\x03\x10\x00\x00\x00\x04"), nil, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			db := storeIn(t, dir, okra.Options{Q: 4})
			updateOK(t, db, put(six()...))
			updateOK(t, db, wantProblems())
			root := rootIn(t, db)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			rawly(t, dir, c.do)
			same := unchanged(t, dir)
			db, err := okra.Open(dir, &okra.Options{ReadOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			viewOK(t, db, wantProblems(c.want...))
			wantIs(t, "Rebuild in a View", db.View(func(tx *okra.Tx) error {
				_, err := tx.Rebuild(nil, nil)
				return err
			}), okra.ErrReadOnly)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			same()
			db = storeIn(t, dir, okra.Options{})
			var r okra.Rebuilt
			updateOK(t, db, func(tx *okra.Tx) (err error) {
				r, err = tx.Rebuild(nil, nil)
				return err
			})
			viewOK(t, db, wantProblems())
			if r.Trusted() != c.trusted || r.After != rootIn(t, db) || c.trusted && r.After != root {
				t.Errorf("the rebuild gives %+v, trusted %t", r, r.Trusted())
			}
		})
	}
}

// A header that is lost keeps a store from opening; who knows its format can read it all the
// same, and save its entries.
func TestM13LostHeader(t *testing.T) {
	for _, header := range []string{"", "okra\x03\x10\x00\x00\x00\x05\x01", "okra\x04\x10", "junk"} {
		dir := t.TempDir()
		db := storeIn(t, dir, okra.Options{Q: 4})
		updateOK(t, db, put(six()...))
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		readable := len(header) == 11
		if header == "" {
			rawly(t, dir, rawDelete("\xff"))
		} else {
			rawly(t, dir, rawSet("\xff", header))
		}
		same := unchanged(t, dir)
		for _, opts := range []okra.Options{{}, {Q: 4}, {Q: 4, K: 16}, {K: 16, Mode: okra.Store}} {
			db, err := okra.OpenDamaged(dir, &opts)
			if (err == nil) != readable {
				t.Errorf("header %q, opened with %+v: %v", header, opts, err)
			}
			if err == nil {
				db.Close()
			} else if !errors.Is(err, okra.ErrNotOkra) && !errors.Is(err, okra.ErrFormat) {
				t.Errorf("header %q: %v", header, err)
			}
		}
		db, err := okra.OpenDamaged(dir, &okra.Options{Q: 4, K: 16, Mode: okra.Store})
		if err != nil {
			t.Fatal(err)
		}
		kind := "wrong header"
		if header == "" {
			kind = "missing"
		}
		viewOK(t, db, wantProblems("255  "+kind))
		viewOK(t, db, func(tx *okra.Tx) error {
			n := 0
			for e, err := range tx.Salvage() {
				if err != nil || string(e.Value) != six()[2*n+1] {
					t.Errorf("entry %d: %s = %s (%v)", n, e.Key, e.Value, err)
				}
				n++
			}
			return nil
		})
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		same()
	}
}

// What is no store, or asks for a format that there is none of, is not opened as a damaged one.
func TestM13OpenDamagedRefuses(t *testing.T) {
	dir := t.TempDir()
	_, err := okra.OpenDamaged(dir, nil)
	wantIs(t, "an empty directory", err, okra.ErrNotExist)
	foreign(t, dir, "", 0, "user", "data")
	_, err = okra.OpenDamaged(dir, nil)
	wantIs(t, "records of others", err, okra.ErrNotOkra)
	_, err = okra.OpenDamaged(dir, &okra.Options{Table: "x"})
	wantIs(t, "no such table", err, okra.ErrNoTable)
	_, err = okra.OpenDamaged(dir, &okra.Options{K: 3})
	wantIs(t, "K of 3", err, okra.ErrOptions)
}

// The checks of a Tx that is over give ErrTxDone, as its other calls do; the tables of a store
// are checked one by one.
func TestM13L32VerifyOfTables(t *testing.T) {
	db := newStore(t, okra.Options{Table: "main", Q: 4})
	table, err := db.Table("more", okra.Format{Q: 2, Mode: okra.Index})
	if err != nil {
		t.Fatal(err)
	}
	var kept *okra.Tx
	updateOK(t, db, func(tx *okra.Tx) error {
		kept = tx
		return errors.Join(put(six()...)(tx), put("a", "1", "b", "2")(tx.Table(table)),
			wantProblems()(tx), wantProblems()(tx.Table(table)))
	})
	viewOK(t, db, func(tx *okra.Tx) error {
		s, err := tx.Shape()
		if err == nil && (len(s.Levels) != 3 || s.Levels[0].Nodes != 7 || s.Levels[1].Max != 3) {
			t.Errorf("the shape is %+v", s)
		}
		return errors.Join(err, wantProblems()(tx), wantProblems()(tx.Table(table)))
	})
	for _, tx := range []*okra.Tx{kept, kept.Table(table)} {
		_, err := verified(tx)
		wantIs(t, "Verify", err, okra.ErrTxDone)
		_, err = tx.Rebuild(nil, nil)
		wantIs(t, "Rebuild", err, okra.ErrTxDone)
		_, err = tx.Shape()
		wantIs(t, "Shape", err, okra.ErrTxDone)
		for _, err := range tx.Salvage() {
			wantIs(t, "Salvage", err, okra.ErrTxDone)
		}
	}
}

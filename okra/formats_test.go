package okra_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"github.com/okradb/okra-go/okra"
	"github.com/okradb/okra-go/tree"
)

// A store opens in its own format and where options leave fields open; otherwise the error
// shows both sides, and the store is as it was.
func TestM15OpenInAnotherFormat(t *testing.T) {
	stored := okra.Format{K: 20, Q: 7, Mode: okra.Index}
	dir := t.TempDir()
	db := storeIn(t, dir, okra.Options{K: 20, Q: 7, Mode: okra.Index})
	updateOK(t, db, put("a", "1"))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	same := unchanged(t, dir)
	for asked, opts := range map[string]okra.Options{
		"K=16 Q=7 mode=index":  {K: 16},
		"K=20 Q=32 mode=index": {Q: 32},
		"K=20 Q=7 mode=store":  {Mode: okra.Store},
		"K=32 Q=2 mode=store":  {K: 32, Q: 2, Mode: okra.Store},
	} {
		for _, readOnly := range []bool{true, false} {
			opts.ReadOnly = readOnly
			db, err := okra.Open(dir, &opts)
			if db != nil {
				db.Close()
			}
			wantIs(t, "Open as "+asked, err, okra.ErrFormat)
			if err != nil && (!strings.Contains(err.Error(), asked) ||
				!strings.Contains(err.Error(), stored.String())) {
				t.Errorf("the error is %q, want one with %s and %s", err, stored, asked)
			}
		}
	}
	same()
	for _, opts := range []okra.Options{{}, {K: 20}, {Q: 7, ReadOnly: true}, {Mode: okra.Index}} {
		db := storeIn(t, dir, opts)
		if db.Format() != stored {
			t.Errorf("with %+v the format is %s, want %s", opts, db.Format(), stored)
		}
		viewOK(t, db, wantContent("a", "1"))
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Options that no store can have are refused before anything is made.
func TestOptionsRefused(t *testing.T) {
	dir := t.TempDir()
	same := unchanged(t, dir)
	for name, opts := range map[string]okra.Options{
		"K of 3": {K: 3}, "K of 33": {K: 33}, "K below 0": {K: -1}, "Q of 1": {Q: 1},
		"mode 3": {Mode: 3}, "map below 0": {MapSize: -1},
	} {
		db, err := okra.Open(dir, &opts)
		if db != nil {
			db.Close()
		}
		wantIs(t, name, err, okra.ErrOptions)
	}
	same()
}

// rawRecord reads or writes one record of the unnamed table by LMDB's own calls.
func rawRecord(t *testing.T, dir string, key string, set []byte) (value []byte) {
	t.Helper()
	env := ownEnv(t, dir, 0)
	defer env.Close()
	err := env.Update(func(txn *lmdb.Txn) error {
		dbi, err := txn.OpenRoot(0)
		if err != nil {
			return err
		}
		if set != nil {
			return txn.Put(dbi, []byte(key), set, 0)
		}
		value, err = txn.Get(dbi, []byte(key))
		if lmdb.IsNotFound(err) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// A header of 10 bytes is read as the mode asked for, and completed by an open that writes.
func TestHeaderOfTenBytes(t *testing.T) {
	for _, mode := range []okra.Mode{okra.Store, okra.Index} {
		dir := t.TempDir()
		db := storeIn(t, dir, okra.Options{Mode: mode})
		updateOK(t, db, put("a", "1"))
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		whole := tree.EncodeHeader(db.Format())
		rawRecord(t, dir, "\xff", whole[:10])
		for _, readOnly := range []bool{true, false} {
			db := storeIn(t, dir, okra.Options{Mode: mode, ReadOnly: readOnly})
			if db.Format().Mode != mode {
				t.Errorf("the mode is %s, want %s", db.Format().Mode, mode)
			}
			viewOK(t, db, wantContent("a", "1"))
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			want := whole
			if readOnly {
				want = whole[:10]
			}
			if got := rawRecord(t, dir, "\xff", nil); string(got) != string(want) {
				t.Errorf("%s, read-only %t: the header is %x, want %x", mode, readOnly, got, want)
			}
		}
	}
}

// A store emptied by the reference, which leaves an anchor on level 1, is an empty store here,
// and the next write puts it right, be it one entry or many.
func TestEmptiedByReference(t *testing.T) {
	writes := map[string][]string{"one entry": {"a", "1"}, "many": nil}
	for i := range 1000 {
		writes["many"] = append(writes["many"], fmt.Sprintf("%05d", i), "v")
	}
	for name, pairs := range writes {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			db := storeIn(t, dir, okra.Options{Q: 4})
			empty := rootIn(t, db)
			if want := (okra.Root{Hash: tree.EmptyHash(16)}); empty != want {
				t.Fatalf("the root of a new store is %s, want %s", empty, want)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			left := tree.NodeHash(16, empty.Hash.Bytes())
			rawRecord(t, dir, "\x01", left.Bytes())
			db = storeIn(t, dir, okra.Options{})
			viewOK(t, db, wantContent())
			if root := rootIn(t, db); root != empty {
				t.Errorf("the root is %s, want %s", root, empty)
			}
			updateOK(t, db, put(pairs...))
			viewOK(t, db, wantContent(pairs...))
			updateOK(t, db, func(tx *okra.Tx) error {
				for i := 0; i < len(pairs); i += 2 {
					if err := tx.Delete([]byte(pairs[i])); err != nil {
						return err
					}
				}
				return nil
			})
			if root := rootIn(t, db); root != empty {
				t.Errorf("emptied again, the root is %s, want %s", root, empty)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if got := rawRecord(t, dir, "\x01", nil); got != nil {
				t.Errorf("the anchor of level 1 is still there: %x", got)
			}
		})
	}
}

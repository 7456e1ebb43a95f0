package okra_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/okradb/okra-go/okra"
)

// A transaction that writes what is there, deletes what is not, or takes back its own changes
// before they are applied, writes nothing: no byte of the file changes, LMDB counts no commit,
// and a copy of the store's last commit is still that of the last commit.
func TestM8NothingToWrite(t *testing.T) {
	for _, mode := range []okra.Mode{okra.Store, okra.Index} {
		t.Run(mode.String(), func(t *testing.T) {
			dir := t.TempDir()
			db := storeIn(t, dir, okra.Options{Table: "main", Mode: mode, Q: 4})
			more, err := db.Table("more", okra.Format{Mode: mode})
			if err != nil {
				t.Fatal(err)
			}
			all := func(tx *okra.Tx) error {
				large := put("large", string(bytes.Repeat([]byte("x"), 50000)))
				return errors.Join(fill("e", 500)(tx), put("empty", "")(tx), large(tx))
			}
			updateOK(t, db, func(tx *okra.Tx) error { return errors.Join(all(tx), all(tx.Table(more))) })
			root := rootIn(t, db)
			before := statsOf(t, db)
			same := unchanged(t, dir)
			for name, fn := range map[string]func(*okra.Tx) error{
				"nothing at all":      func(*okra.Tx) error { return nil },
				"reads":               wholeTree,
				"the same values":     all,
				"the same in a table": func(tx *okra.Tx) error { return all(tx.Table(more)) },
				"deletes of absent":   func(tx *okra.Tx) error { return tx.Delete([]byte("absent")) },
				"a put that is deleted": func(tx *okra.Tx) error {
					return errors.Join(put("k", "v")(tx), tx.Delete([]byte("k")))
				},
				"another value and the same": func(tx *okra.Tx) error {
					return errors.Join(put("e 000007", "other")(tx), tx.Put([]byte("e 000007"), kibi("e", 7)))
				},
				"the same hashes": func(tx *okra.Tx) error {
					for i := 0; mode == okra.Index && i < 500; i++ {
						key := fmt.Appendf(nil, "e %06d", i)
						n, err := tx.Node(0, key)
						if err == nil {
							err = tx.PutHash(key, n.Hash)
						}
						if err != nil {
							return err
						}
					}
					return nil
				},
				"the same values, one by one": func(tx *okra.Tx) error {
					for e := range entries("e", 500) {
						if err := tx.Put(e.Key, e.Value); err != nil {
							return err
						}
						if got, err := tx.Root(); err != nil || got != root { // applies what waits
							return fmt.Errorf("the root is %s (%v)", got, err)
						}
					}
					return nil
				},
			} {
				updateOK(t, db, fn)
				wantIs(t, name+" by Batch", db.Batch(fn), nil)
				same()
				s := statsOf(t, db)
				if s.LastTxn != before.LastTxn || s.FileSize != before.FileSize {
					t.Errorf("%s: commit %d became %d, %d bytes became %d", name, before.LastTxn, s.LastTxn,
						before.FileSize, s.FileSize)
				}
			}
			// A change that is applied and then taken back within the transaction is a commit.
			updateOK(t, db, func(tx *okra.Tx) error {
				err := put("k", "v")(tx)
				if _, rootErr := tx.Root(); err == nil {
					err = rootErr
				}
				return errors.Join(err, tx.Delete([]byte("k")))
			})
			if got := rootIn(t, db); got != root {
				t.Errorf("the root is %s, want %s", got, root)
			}
			if s := statsOf(t, db); s.LastTxn != before.LastTxn+1 {
				t.Errorf("commit %d became %d", before.LastTxn, s.LastTxn)
			}
		})
	}
}

// Opening a store, for reading or writing, making tables that are there, and closing it, change
// no byte either.
func TestM8L22OpenChangesNothing(t *testing.T) {
	dir := t.TempDir()
	db := storeIn(t, dir, okra.Options{Table: "main"})
	if _, err := db.Table("more", okra.Format{}); err != nil {
		t.Fatal(err)
	}
	updateOK(t, db, fill("e", 100))
	wantIs(t, "Close", db.Close(), nil)
	same := unchanged(t, dir)
	for _, opts := range []okra.Options{
		{}, {MapSize: 1}, {MapSize: 1 << 40}, {Q: 32, K: 16, Mode: okra.Store}, {ReadOnly: true},
		{ReadOnly: true, NoLock: true},
	} {
		opts.Table = "main"
		db := storeIn(t, dir, opts)
		if _, err := db.Table("more", okra.Format{}); err != nil {
			t.Fatal(err)
		}
		viewOK(t, db, wholeTree)
		statsOf(t, db)
		if err := db.Sync(); !opts.ReadOnly {
			wantIs(t, "Sync", err, nil)
		}
		wantIs(t, "Close", db.Close(), nil)
		same()
	}
}

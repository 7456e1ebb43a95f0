package okra_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"github.com/okradb/okra-go/okra"
)

// An Update that does not fit the map fails with ErrMapFull and has not happened; smaller ones
// before and after it do.
func TestL33MapFull(t *testing.T) {
	big := strings.Repeat("x", 64<<10)
	fill := func(tx *okra.Tx) error {
		for i := range 100 {
			if err := tx.Put(fmt.Appendf(nil, "big %d", i), []byte(big)); err != nil {
				return err
			}
		}
		return nil
	}
	fills := map[string]func(*okra.Tx) error{
		"in the flush at the end": fill,
		"in a flush of Root": func(tx *okra.Tx) error {
			if err := fill(tx); err != nil {
				return err
			}
			_, err := tx.Root()
			wantIs(t, "Root", err, okra.ErrMapFull)
			_, err = tx.Get([]byte("a"))
			wantIs(t, "Get after it", err, okra.ErrTxFailed)
			return err
		},
		"and the error is dropped": func(tx *okra.Tx) error {
			if err := fill(tx); err != nil {
				return err
			}
			_, err := tx.Len()
			wantIs(t, "Len", err, okra.ErrMapFull)
			return nil
		},
		"in a load": func(tx *okra.Tx) error {
			if err := tx.Delete([]byte("a")); err != nil {
				return err
			}
			if err := tx.Delete([]byte("b")); err != nil {
				return err
			}
			_, err := tx.Load(func(yield func(okra.Entry, error) bool) {
				for i := range 1000 {
					key := fmt.Appendf(nil, "%05d", i)
					if !yield(okra.Entry{Key: key, Value: []byte(big)}, nil) {
						return
					}
				}
			})
			return err
		},
	}
	for name, run := range fills {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			db := storeIn(t, dir, okra.Options{MaxSize: 1 << 20, Q: 4})
			updateOK(t, db, put("a", "1"))
			updateOK(t, db, put("b", "2"))
			root := rootIn(t, db)
			for range 3 {
				wantIs(t, "Update", db.Update(run), okra.ErrMapFull)
				viewOK(t, db, wantContent("a", "1", "b", "2"))
				if got := rootIn(t, db); got != root {
					t.Errorf("root is %s, want %s", got, root)
				}
				updateOK(t, db, put("a", "1", "c", "3"))
				updateOK(t, db, func(tx *okra.Tx) error { return tx.Delete([]byte("c")) })
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			db = storeIn(t, dir, okra.Options{MaxSize: 16 << 20}) // a larger map has the room
			updateOK(t, db, fill)
		})
	}
}

// A map that fills up by small commits fails at last, in a write or only at the commit. What
// was committed before is there, and a larger map takes what goes on. (In the full one LMDB may
// have no page left even for a delete.)
func TestL33MapFillsUp(t *testing.T) {
	atCommit, sizes := 0, []int{10, 100, 500, 1500, 4000, 9000, 20000}
	for _, size := range sizes {
		t.Run(fmt.Sprintf("values of %d bytes", size), func(t *testing.T) {
			dir := t.TempDir()
			db := storeIn(t, dir, okra.Options{MaxSize: 256 << 10, Q: 4})
			model := map[string]string{}
			var err error
			flushed := false
			for i := 0; err == nil; i++ {
				if i > 50000 {
					t.Fatal("the map does not fill up")
				}
				key, value := fmt.Sprintf("key %d", i*7919%10007), strings.Repeat("v", size+i%size)
				flushed = false
				err = db.Update(func(tx *okra.Tx) error {
					for j := range 1 + 2000/size {
						if err := put(fmt.Sprint(key, j), value)(tx); err != nil {
							return err
						}
					}
					if _, err := tx.Root(); err != nil {
						return err
					}
					flushed = true
					return nil
				})
				for j := 0; err == nil && j < 1+2000/size; j++ {
					model[fmt.Sprint(key, j)] = value
				}
			}
			wantIs(t, "Update", err, okra.ErrMapFull)
			if flushed {
				atCommit++
			}
			keys := slices.Sorted(maps.Keys(model))
			var pairs []string
			for _, k := range keys {
				pairs = append(pairs, k, model[k])
			}
			viewOK(t, db, wantContent(pairs...))
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			db = storeIn(t, dir, okra.Options{MaxSize: 4 << 20})
			updateOK(t, db, func(tx *okra.Tx) error {
				for _, k := range keys[1:] {
					if err := tx.Delete([]byte(k)); err != nil {
						return err
					}
				}
				return nil
			})
			viewOK(t, db, wantContent(pairs[:2]...))
		})
	}
	t.Logf("%d of %d maps were found full only at the commit", atCommit, len(sizes))
	if atCommit == 0 {
		t.Error("none of the maps was full only at the commit: the case is not covered")
	}
}

// A Join that does not fit the map fails alone: the caller can commit what else he wrote.
func TestL33MapFullInJoin(t *testing.T) {
	env := ownEnv(t, t.TempDir(), 0)
	if err := env.SetMapSize(1 << 20); err != nil {
		t.Fatal(err)
	}
	own := foreignTable(t, env, "own", 0)
	db := attach(t, env, okra.Options{Table: "index"})
	updateOK(t, db, put("a", "1"))
	err := env.Update(func(txn *lmdb.Txn) error {
		if err := txn.Put(own, []byte("k"), []byte("kept"), 0); err != nil {
			return err
		}
		err := db.Join(txn, put("a", "2", "big", strings.Repeat("x", 2<<20)))
		wantIs(t, "Join", err, okra.ErrMapFull)
		return db.Join(txn, put("b", "2"))
	})
	if err != nil {
		t.Fatal(err)
	}
	viewOK(t, db, wantContent("a", "1", "b", "2"))
	err = env.View(func(txn *lmdb.Txn) error {
		v, err := txn.Get(own, []byte("k"))
		if string(v) != "kept" {
			t.Errorf("the caller's record is %q", v)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

package okra_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"github.com/okradb/okra-go/okra"
)

// attached opens an environment with a table of the test's own and an index in another.
func attached(t *testing.T) (*lmdb.Env, lmdb.DBI, *okra.DB) {
	t.Helper()
	env := ownEnv(t, t.TempDir(), 0)
	own := foreignTable(t, env, "own", 0)
	db := attach(t, env, okra.Options{Table: "index", Q: 4})
	return env, own, db
}

// wantOwn demands the records of the test's own table.
func wantOwn(t *testing.T, env *lmdb.Env, own lmdb.DBI, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	err := env.View(func(txn *lmdb.Txn) error {
		cur, err := txn.OpenCursor(own)
		if err != nil {
			return err
		}
		defer cur.Close()
		for {
			k, v, err := cur.Get(nil, nil, lmdb.Next)
			if lmdb.IsNotFound(err) {
				return nil
			}
			if err != nil {
				return err
			}
			got[string(k)] = string(v)
		}
	})
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("the caller's table holds %v (%v), want %v", got, err, want)
	}
}

// What Join writes commits and aborts with the caller's own writes, before and after it.
func TestJoinWithOwnWrites(t *testing.T) {
	env, own, db := attached(t)
	run := func(end error) error {
		return env.Update(func(txn *lmdb.Txn) error {
			err := errors.Join(
				txn.Put(own, []byte("before"), []byte("1"), 0),
				db.Join(txn, put("a", "1")),
				txn.Put(own, []byte("between"), []byte("2"), 0),
				db.Join(txn, func(tx *okra.Tx) error {
					return errors.Join(wantContent("a", "1")(tx), put("b", "2")(tx))
				}),
				txn.Put(own, []byte("after"), []byte("3"), 0),
			)
			return errors.Join(err, end)
		})
	}
	wantIs(t, "Update", run(errAborted), errAborted)
	wantOwn(t, env, own, map[string]string{})
	viewOK(t, db, wantContent())
	if err := run(nil); err != nil {
		t.Fatal(err)
	}
	wantOwn(t, env, own, map[string]string{"before": "1", "between": "2", "after": "3"})
	viewOK(t, db, wantContent("a", "1", "b", "2"))
}

// A Join that fails, by an error or a panic, leaves the index as it was before it in the
// caller's transaction, which can go on and commit the rest.
func TestJoinFails(t *testing.T) {
	spoil := func(tx *okra.Tx) error {
		for i := range 500 {
			if err := put(fmt.Sprint(i), "lost")(tx); err != nil {
				return err
			}
		}
		_, err := tx.Root() // so that it is in LMDB's pages
		return errors.Join(err, tx.Delete([]byte("a")), errAborted)
	}
	for name, join := range map[string]func(*okra.DB, *lmdb.Txn) error{
		"an error": func(db *okra.DB, txn *lmdb.Txn) error { return db.Join(txn, spoil) },
		"a panic": func(db *okra.DB, txn *lmdb.Txn) error {
			return recovered(func() error {
				return db.Join(txn, func(tx *okra.Tx) error { panic(spoil(tx)) })
			})
		},
	} {
		env, own, db := attached(t)
		updateOK(t, db, put("a", "1"))
		err := env.Update(func(txn *lmdb.Txn) error {
			if err := db.Join(txn, put("b", name)); err != nil {
				return err
			}
			wantIs(t, name, join(db, txn), errAborted)
			return errors.Join(
				db.Join(txn, wantContent("a", "1", "b", name)),
				txn.Put(own, []byte("k"), []byte(name), 0),
				db.Join(txn, put("c", name)),
			)
		})
		wantIs(t, "the caller's transaction after "+name, err, nil)
		viewOK(t, db, wantContent("a", "1", "b", name, "c", name))
		wantOwn(t, env, own, map[string]string{"k": name})
	}
}

// A panic that goes on through the caller's transaction aborts all of it.
func TestJoinPanicsThrough(t *testing.T) {
	env, own, db := attached(t)
	err := recovered(func() error {
		return env.Update(func(txn *lmdb.Txn) error {
			if err := txn.Put(own, []byte("k"), []byte("lost"), 0); err != nil {
				return err
			}
			return db.Join(txn, func(tx *okra.Tx) error {
				if err := put("a", "lost")(tx); err != nil {
					return err
				}
				panic(errAborted)
			})
		})
	})
	wantIs(t, "the panic", err, errAborted)
	wantOwn(t, env, own, map[string]string{})
	viewOK(t, db, wantContent())
	updateOK(t, db, put("a", "1"))
	viewOK(t, db, wantContent("a", "1"))
}

// Join in a transaction that reads gives its snapshot and refuses writes; the caller's
// transaction is as it was, and may read copies as before.
func TestJoinReads(t *testing.T) {
	env, own, db := attached(t)
	updateOK(t, db, put("a", "1"))
	err := env.View(func(txn *lmdb.Txn) error {
		updateOK(t, db, put("a", "2"))
		for range 3 {
			err := db.Join(txn, func(tx *okra.Tx) error {
				wantIs(t, "Put", tx.Put([]byte("b"), nil), okra.ErrReadOnly)
				wantIs(t, "Delete", tx.Delete([]byte("a")), okra.ErrReadOnly)
				_, err := tx.Load(one([]byte("b"), nil))
				wantIs(t, "Load", err, okra.ErrReadOnly)
				return wantContent("a", "1")(tx)
			})
			if err != nil {
				return err
			}
			err = recovered(func() error {
				return db.Join(txn, func(tx *okra.Tx) error { panic(errAborted) })
			})
			wantIs(t, "a panic", err, errAborted)
		}
		if txn.RawRead {
			t.Error("the caller's transaction reads raw after Join")
		}
		_, err := txn.Get(own, []byte("absent"))
		if !lmdb.IsNotFound(err) {
			return fmt.Errorf("the caller's own read gives %v", err)
		}
		return nil
	})
	wantIs(t, "the caller's transaction", err, nil)
}

// Two trees in one environment, each of a DB of its own, change in one transaction; their
// Joins follow one another, and one inside another is an error.
func TestJoinTwoTrees(t *testing.T) {
	env, _, a := attached(t)
	b := attach(t, env, okra.Options{Table: "other", Mode: okra.Index})
	err := env.Update(func(txn *lmdb.Txn) error {
		for i := range 10 {
			k := fmt.Sprint(i)
			if err := errors.Join(a.Join(txn, put(k, "a")), b.Join(txn, put(k, "b"))); err != nil {
				return err
			}
		}
		return nil
	})
	wantIs(t, "Update", err, nil)
	viewOK(t, a, wholeTree)
	viewOK(t, b, wholeTree)
	if rootIn(t, a) == rootIn(t, b) {
		t.Error("both have one root")
	}
	root := rootIn(t, a)
	err = env.Update(func(txn *lmdb.Txn) error {
		return a.Join(txn, func(tx *okra.Tx) error {
			if err := put("x", "1")(tx); err != nil {
				return err
			}
			if err := b.Join(txn, put("x", "1")); err == nil {
				t.Error("a Join of the outer transaction inside a Join works")
			}
			return errAborted
		})
	})
	wantIs(t, "Update with a Join inside", err, errAborted)
	if got := rootIn(t, a); got != root {
		t.Errorf("the root is %s, want %s", got, root)
	}
}

// A tree emptied within the caller's transaction has the root of a fresh one.
func TestJoinEmpties(t *testing.T) {
	env, _, db := attached(t)
	fresh := rootIn(t, db)
	err := env.Update(func(txn *lmdb.Txn) error {
		for _, n := range []int{1, 10, 1000} {
			var keys []string
			for i := range n {
				keys = append(keys, fmt.Sprint(i), "v")
			}
			err := db.Join(txn, put(keys...))
			if err != nil {
				return err
			}
			err = db.Join(txn, func(tx *okra.Tx) error {
				for pair := range slices.Chunk(keys, 2) {
					if err := tx.Delete([]byte(pair[0])); err != nil {
						return err
					}
				}
				root, err := tx.Root()
				if root != fresh {
					t.Errorf("after %d entries the root is %s, want %s", n, root, fresh)
				}
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	wantIs(t, "Update", err, nil)
	viewOK(t, db, wantContent())
}

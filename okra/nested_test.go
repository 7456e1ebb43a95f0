package okra_test

import (
	"errors"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"github.com/okradb/okra-go/okra"
)

// Update inside Update is an error at once, and the outer one goes on; so is making a table
// there. View inside Update works and sees the last commit.
func TestL13UpdateInsideUpdate(t *testing.T) {
	inChild(t, func(t *testing.T) {
		db := newStore(t, okra.Options{Table: "main"})
		never := func(*okra.Tx) error { t.Error("the inner function runs"); return nil }
		updateOK(t, db, put("a", "old"))
		updateOK(t, db, func(tx *okra.Tx) error {
			if err := put("a", "new")(tx); err != nil {
				return err
			}
			wantIs(t, "Update in Update", db.Update(never), okra.ErrNested)
			_, err := db.Table("more", okra.Format{})
			wantIs(t, "Table in Update", err, okra.ErrNested)
			return db.View(func(view *okra.Tx) error {
				wantIs(t, "Update in View in Update", db.Update(never), okra.ErrNested)
				wantIs(t, "Put in View", view.Put([]byte("a"), nil), okra.ErrReadOnly)
				return errors.Join(wantContent("a", "old")(view), wantContent("a", "new")(tx))
			})
		})
		viewOK(t, db, wantContent("a", "new"))
	})
}

// View inside View, and Update inside View, which does not see it, are fine.
func TestL13UpdateInsideView(t *testing.T) {
	inChild(t, func(t *testing.T) {
		db := newStore(t, okra.Options{})
		updateOK(t, db, put("a", "old"))
		viewOK(t, db, func(outer *okra.Tx) error {
			updateOK(t, db, put("a", "new"))
			return errors.Join(db.View(wantContent("a", "new")), wantContent("a", "old")(outer))
		})
	})
}

// Two stores may be updated one inside the other: each has its own writer.
func TestL13UpdateOfAnotherStore(t *testing.T) {
	inChild(t, func(t *testing.T) {
		a, b := newStore(t, okra.Options{}), newStore(t, okra.Options{})
		updateOK(t, a, func(tx *okra.Tx) error {
			return errors.Join(put("k", "a")(tx), b.Update(put("k", "b")))
		})
		viewOK(t, a, wantContent("k", "a"))
		viewOK(t, b, wantContent("k", "b"))
	})
}

// Update inside Join would wait for the caller's own transaction: an error, not a wait for ever.
func TestL13UpdateInsideJoin(t *testing.T) {
	inChild(t, func(t *testing.T) {
		env := ownEnv(t, t.TempDir(), 0)
		db := attach(t, env, okra.Options{})
		err := env.Update(func(txn *lmdb.Txn) error {
			return db.Join(txn, func(tx *okra.Tx) error {
				if err := put("a", "1")(tx); err != nil {
					return err
				}
				err := db.Update(func(*okra.Tx) error { t.Error("the inner function runs"); return nil })
				wantIs(t, "Update in Join", err, okra.ErrNested)
				return db.View(func(view *okra.Tx) error { return wantContent()(view) })
			})
		})
		wantIs(t, "the caller's transaction", err, nil)
		viewOK(t, db, wantContent("a", "1"))
	})
}

// Making a table inside Update is an error also while another goroutine, which makes one, waits
// for this Update to end.
func TestL13TableInsideUpdateWithAnotherWaiting(t *testing.T) {
	inChild(t, func(t *testing.T) {
		db := newStore(t, okra.Options{Table: "main"})
		done := make(chan error)
		updateOK(t, db, func(tx *okra.Tx) error {
			go func() {
				_, err := db.Table("one", okra.Format{})
				done <- err
			}()
			forTurn.await(t)
			_, err := db.Table("two", okra.Format{})
			wantIs(t, "Table in Update", err, okra.ErrNested)
			return nil
		})
		wantIs(t, "Table beside Update", <-done, nil)
	})
}

// An Update whose function panics, or ends its goroutine, has not happened, and the next one
// has its turn.
func TestUpdateThatDoesNotReturn(t *testing.T) {
	inChild(t, func(t *testing.T) {
		db := newStore(t, okra.Options{})
		updateOK(t, db, put("a", "1"))
		err := recovered(func() error {
			return db.Update(func(tx *okra.Tx) error {
				if err := put("a", "lost")(tx); err != nil {
					return err
				}
				panic(errAborted)
			})
		})
		wantIs(t, "the panic", err, errAborted)
		for _, run := range []func(func(*okra.Tx) error) error{db.Update, db.View} {
			var wg sync.WaitGroup
			wg.Add(1)
			go func() {
				defer wg.Done()
				run(func(tx *okra.Tx) error {
					tx.Put([]byte("a"), []byte("lost"))
					runtime.Goexit()
					return nil
				})
			}()
			wg.Wait()
			viewOK(t, db, wantContent("a", "1"))
		}
		err = recovered(func() error { return db.View(func(*okra.Tx) error { panic(errAborted) }) })
		wantIs(t, "the panic in View", err, errAborted)
		updateOK(t, db, put("a", "2"))
		viewOK(t, db, wantContent("a", "2"))
	})
}

// Many goroutines count up in turns, each Update passing the processor to others half way, and
// readers beside them see sums that only grow: no count is lost.
func TestL12Goroutines(t *testing.T) {
	const goroutines, keys = 64, 8
	each := 20
	if testing.Short() {
		each = 5
	}
	db := newStore(t, okra.Options{Q: 4})
	number := func(tx *okra.Tx, key []byte) (int, error) {
		v, err := tx.Get(key)
		if errors.Is(err, okra.ErrNotFound) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		return strconv.Atoi(string(v))
	}
	count := func(key []byte) func(*okra.Tx) error {
		return func(tx *okra.Tx) error {
			n, err := number(tx, key)
			if err != nil {
				return err
			}
			handOver := make(chan struct{})
			go close(handOver)
			<-handOver
			runtime.Gosched()
			return tx.Put(key, strconv.AppendInt(nil, int64(n+1), 10))
		}
	}
	sum := func(tx *okra.Tx) (total int, err error) {
		for e, err := range tx.All() {
			if err != nil {
				return 0, err
			}
			n, err := strconv.Atoi(string(e.Value))
			if err != nil {
				return 0, err
			}
			total += n
		}
		_, err = tx.Root()
		return total, err
	}
	errs := make(chan error, 2*goroutines)
	for g := range goroutines {
		key := []byte{'k', byte(g % keys)}
		go func() {
			for range each {
				if err := db.Update(count(key)); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
		go func() {
			last := 0
			for range each {
				err := db.View(func(tx *okra.Tx) error {
					now, err := sum(tx)
					if err == nil && now < last {
						err = errors.New("the sum has gone down")
					}
					last = now
					return err
				})
				if err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range 2 * goroutines {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	viewOK(t, db, func(tx *okra.Tx) error {
		if total, err := sum(tx); err != nil || total != goroutines*each {
			t.Errorf("the sum is %d (%v), want %d", total, err, goroutines*each)
		}
		return nil
	})
}

// As before, while another goroutine's Update waits for the caller's transaction; and that one
// notices an Update inside its own as well.
func TestL13UpdateInsideJoinWithAnotherWaiting(t *testing.T) {
	inChild(t, func(t *testing.T) {
		env := ownEnv(t, t.TempDir(), 0)
		db := attach(t, env, okra.Options{})
		never := func(*okra.Tx) error { t.Error("the inner function runs"); return nil }
		done := make(chan error)
		err := env.Update(func(txn *lmdb.Txn) error {
			return db.Join(txn, func(tx *okra.Tx) error {
				go func() {
					done <- db.Update(func(*okra.Tx) error {
						wantIs(t, "Update in the other Update", db.Update(never), okra.ErrNested)
						return nil
					})
				}()
				forLMDB.await(t)
				wantIs(t, "Update in Join", db.Update(never), okra.ErrNested)
				return nil
			})
		})
		wantIs(t, "the caller's transaction", err, nil)
		wantIs(t, "the other Update", <-done, nil)
	})
}

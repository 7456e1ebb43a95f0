package okra_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/okradb/okra-go/okra"
)

// soon is a context for waits that must come to an end, long past any that is on purpose.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), childTime/2)
	t.Cleanup(cancel)
	return ctx
}

// brief is a context that ends at once or so.
func brief(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// Close in the midst of everything a store does, from many goroutines, waits for what is under
// way, after which nothing runs any more: whoever comes later, or waits for his turn, gets
// ErrClosed. All that was committed is there.
func TestL11CloseInTheMidst(t *testing.T) {
	alone(t, func(t *testing.T) {
		rounds := 10
		if testing.Short() {
			rounds = 4
		}
		dir, copies := t.TempDir(), t.TempDir()
		for round := range rounds {
			db, err := okra.Open(dir, &okra.Options{NoSync: true, Q: 8})
			if err != nil {
				t.Fatal(err)
			}
			updateOK(t, db, fill("old", 300))
			var inside, commits atomic.Int64
			count := func(fn func(*okra.Tx) error) func(*okra.Tx) error {
				return func(tx *okra.Tx) error {
					inside.Add(1)
					defer inside.Add(-1)
					return fn(tx)
				}
			}
			work := []func(i int) error{
				func(int) error { return db.View(count(filled("old", 300))) },
				func(int) error { return db.View(count(wholeTree)) },
				func(i int) error {
					err := db.Update(count(fill(fmt.Sprint("new ", round, i), 10)))
					if err == nil {
						commits.Add(1)
					}
					return err
				},
				func(int) error { return db.UpdateContext(soon(t), count(fill("old", 300))) },
				func(int) error { return db.Batch(count(fill("batch", 20))) },
				func(int) error {
					s, err := db.Snapshot()
					if err != nil {
						return err
					}
					return errors.Join(s.View(count(filled("old", 300))), s.Close())
				},
				func(int) error { _, err := db.Stats(); return err },
				func(i int) error { return db.Backup(filepath.Join(copies, fmt.Sprint(round, "-", i))) },
				func(int) error { return db.Sync() },
			}
			var wg sync.WaitGroup
			begun := make(chan struct{}, 1)
			for k := range 3 * len(work) {
				wg.Go(func() {
					for i := 0; ; i++ {
						if err := work[k%len(work)](k + i*100); errors.Is(err, okra.ErrClosed) {
							return
						} else if err != nil {
							t.Errorf("work %d: %v", k%len(work), err)
							return
						}
						select {
						case begun <- struct{}{}:
						default:
						}
					}
				})
			}
			for range round {
				<-begun // so that each round is closed elsewhere
			}
			for range 3 {
				wg.Go(func() {
					wantIs(t, "Close", db.Close(), nil)
					if n := inside.Load(); n != 0 {
						t.Errorf("%d functions run after Close", n)
					}
				})
			}
			wg.Wait()
			db = storeIn(t, dir, okra.Options{})
			viewOK(t, db, wholeTree)
			if n, err := length(db, fmt.Sprint("new ", round, " ")); n != 10*commits.Load() || err != nil {
				t.Errorf("%d commits have left %d entries (%v)", commits.Load(), n, err)
			}
			wantIs(t, "Close", db.Close(), nil)
		}
	})
}

// length returns the number of entries that begin with a prefix.
func length(db *okra.DB, prefix string) (n int64, err error) {
	err = db.View(func(tx *okra.Tx) error {
		for _, err := range tx.Prefix([]byte(prefix)) {
			if err != nil {
				return err
			}
			n++
		}
		return nil
	})
	return n, err
}

// After Close every call is an error that says so; Close again is none.
func TestL11UseAfterClose(t *testing.T) {
	alone(t, func(t *testing.T) {
		db := newStore(t, okra.Options{Table: "main"})
		table, err := db.Table("more", okra.Format{})
		if err != nil {
			t.Fatal(err)
		}
		updateOK(t, db, put("a", "1"))
		s := snapshotsOf(t, db, 1)[0]
		wantIs(t, "Close of the snapshot", s.Close(), nil)
		never := func(*okra.Tx) error { t.Error("the function runs"); return nil }
		dir := filepath.Join(t.TempDir(), "copy")
		for range 3 {
			wantIs(t, "Close", db.Close(), nil)
			wantIs(t, "Shutdown", db.Shutdown(soon(t)), nil)
			wantIs(t, "View", db.View(never), okra.ErrClosed)
			wantIs(t, "Update", db.Update(never), okra.ErrClosed)
			wantIs(t, "UpdateContext", db.UpdateContext(soon(t), never), okra.ErrClosed)
			wantIs(t, "Batch", db.Batch(never), okra.ErrClosed)
			_, err := db.Snapshot()
			wantIs(t, "Snapshot", err, okra.ErrClosed)
			wantIs(t, "View of a snapshot", s.View(never), okra.ErrClosed)
			wantIs(t, "Close of a snapshot", s.Close(), nil)
			_, err = db.Stats()
			wantIs(t, "Stats", err, okra.ErrClosed)
			_, err = db.Table("more", okra.Format{})
			wantIs(t, "Table", err, okra.ErrClosed)
			wantIs(t, "Backup", db.Backup(dir), okra.ErrClosed)
			wantIs(t, "Compact", db.Compact(dir), okra.ErrClosed)
			wantIs(t, "Sync", db.Sync(), okra.ErrClosed)
			if db.Path() == "" || db.Format() != table.Format() || table.Name() != "more" {
				t.Error("the path, format or name is gone")
			}
		}
		if len(files(t, filepath.Dir(dir))) != 0 {
			t.Error("a copy was made")
		}
	})
}

// Shutdown gives up when its context ends, with the context's error, what is open in the
// message, and the store closed for newcomers; what is under way goes on, and the Close after
// it succeeds.
func TestL10L11Shutdown(t *testing.T) {
	alone(t, func(t *testing.T) {
		never := func(*okra.Tx) error { t.Error("the function runs"); return nil }
		refuses := func(db *okra.DB) {
			wantIs(t, "View", db.View(never), okra.ErrClosed)
			wantIs(t, "Update", db.Update(never), okra.ErrClosed)
			_, err := db.Snapshot()
			wantIs(t, "Snapshot", err, okra.ErrClosed)
		}
		db := newStore(t, okra.Options{})
		updateOK(t, db, put("a", "1"))
		s := snapshotsOf(t, db, 1)[0]
		for range 2 {
			err := db.Shutdown(brief(t))
			wantIs(t, "Shutdown with a snapshot", err, context.DeadlineExceeded)
			wantWords(t, err, db.Path(), "snapshot")
			refuses(db)
			wantIs(t, "View of the snapshot", s.View(wantContent("a", "1")), nil)
		}
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		wantIs(t, "Shutdown", db.Shutdown(canceled), context.Canceled)
		wantIs(t, "Close of the snapshot", s.Close(), nil)
		wantIs(t, "Close", db.Close(), nil)
		wantIs(t, "View of the snapshot", s.View(never), okra.ErrClosed)

		db = newStore(t, okra.Options{})
		viewOK(t, db, func(*okra.Tx) error {
			wantIs(t, "Shutdown in View", db.Shutdown(brief(t)), context.DeadlineExceeded)
			refuses(db)
			return nil
		})
		wantIs(t, "Shutdown", db.Shutdown(soon(t)), nil)

		db = newStore(t, okra.Options{})
		dir := db.Path()
		updateOK(t, db, func(tx *okra.Tx) error {
			wantIs(t, "Shutdown in Update", db.Shutdown(brief(t)), context.DeadlineExceeded)
			return put("a", "1")(tx)
		})
		wantIs(t, "Shutdown", db.Shutdown(soon(t)), nil)
		viewOK(t, storeIn(t, dir, okra.Options{}), wantContent("a", "1"))
	})
}

// Shutdown gives up in time also while another Close waits, and while growth waits for a
// snapshot.
func TestL11ShutdownWhileOthersWait(t *testing.T) {
	alone(t, func(t *testing.T) {
		db := newStore(t, okra.Options{})
		s := snapshotsOf(t, db, 1)[0]
		closed := make(chan error)
		go func() { closed <- db.Close() }()
		for db.View(func(*okra.Tx) error { return nil }) == nil {
		}
		shut := make(chan error, 1)
		go func() { shut <- db.Shutdown(brief(t)) }()
		select {
		case err := <-shut:
			wantIs(t, "Shutdown beside Close", err, context.DeadlineExceeded)
		case <-soon(t).Done():
			t.Error("Shutdown does not give up while Close waits")
		}
		wantIs(t, "Close of the snapshot", s.Close(), nil)
		wantIs(t, "Close", <-closed, nil)
	})
}

func TestL11ShutdownWhileGrowthWaits(t *testing.T) {
	alone(t, func(t *testing.T) {
		db := newStore(t, okra.Options{MapSize: mebi, GrowTimeout: time.Minute})
		s := snapshotsOf(t, db, 1)[0]
		updated := make(chan error)
		go func() { updated <- db.Update(fill("e", 3000)) }()
		forOthers.await(t)
		shut := make(chan error, 1)
		go func() { shut <- db.Shutdown(brief(t)) }()
		select {
		case err := <-shut:
			wantIs(t, "Shutdown", err, context.DeadlineExceeded)
		case <-soon(t).Done():
			t.Error("Shutdown does not give up while growth waits")
		}
		wantIs(t, "Close of the snapshot", s.Close(), nil)
		wantIs(t, "Update", <-updated, okra.ErrClosed)
		wantIs(t, "Close", db.Close(), nil)
	})
}

// Writers that wait for their turn when the store is closed are told so, all of them, and the
// one whose turn it is commits.
func TestL11WaitingWriters(t *testing.T) {
	alone(t, func(t *testing.T) {
		db := newStore(t, okra.Options{})
		dir := db.Path()
		const waiting = 50
		errs := make(chan error, waiting)
		closed := make(chan error)
		updateOK(t, db, func(tx *okra.Tx) error {
			for i := range waiting {
				go func() {
					if i%2 == 0 {
						errs <- db.Update(put(fmt.Sprint("late ", i), ""))
					} else {
						errs <- db.Batch(put(fmt.Sprint("late ", i), ""))
					}
				}()
			}
			go func() { closed <- db.Close() }()
			for db.View(func(*okra.Tx) error { return nil }) == nil {
			}
			return put("a", "1")(tx)
		})
		for range waiting {
			wantIs(t, "a waiting writer", <-errs, okra.ErrClosed)
		}
		wantIs(t, "Close", <-closed, nil)
		viewOK(t, storeIn(t, dir, okra.Options{}), wantContent("a", "1"))
	})
}

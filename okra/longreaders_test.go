package okra_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/okradb/okra-go/okra"
)

// An open reader makes the file grow with every commit. Stats say who it is, which commit it
// sees and, for a snapshot, for how long; when it has ended the file grows no more.
func TestL9LongReader(t *testing.T) {
	db := newStore(t, okra.Options{})
	without := overwrite(t, db, 20)
	if again := overwrite(t, db, 100); again > mebi {
		t.Errorf("without a reader the file grew by %d bytes, then by %d", without, again)
	}

	s := snapshotsOf(t, db, 1)[0]
	begun := statsOf(t, db).LastTxn
	grown := overwrite(t, db, 100)
	stats := statsOf(t, db)
	if grown < 8*mebi {
		t.Errorf("with a snapshot the file grew by %d bytes", grown)
	}
	if len(stats.Snapshots) != 1 || stats.Snapshots[0].Txn != begun || stats.Snapshots[0].Age <= 0 {
		t.Errorf("the snapshots are %+v, want one of commit %d", stats.Snapshots, begun)
	}
	want := okra.Reader{PID: os.Getpid(), Txn: begun}
	if len(stats.Readers) < 1 || stats.Readers[0] != want || stats.LastTxn != begun+100 {
		t.Errorf("the readers are %+v at commit %d, want %+v first", stats.Readers, stats.LastTxn, want)
	}
	age := stats.Snapshots[0].Age
	if now := statsOf(t, db).Snapshots[0].Age; now < age {
		t.Errorf("the age goes from %s to %s", age, now)
	}
	wantIs(t, "Close", s.Close(), nil)

	if after := overwrite(t, db, 100); after > mebi {
		t.Errorf("after its Close the file grew by %d bytes", after)
	}
}

// The same for a reader in another process.
func TestL9LongReaderElsewhere(t *testing.T) {
	if isChild(t, parts{"holder": holder}) {
		return
	}
	dir := t.TempDir()
	db := storeIn(t, dir, okra.Options{})
	overwrite(t, db, 20)
	begun := statsOf(t, db).LastTxn
	c := start(t, "holder", dir)
	c.ask("1")
	grown := overwrite(t, db, 100)
	stats := statsOf(t, db)
	want := okra.Reader{PID: c.cmd.Process.Pid, Txn: begun}
	if len(stats.Readers) < 1 || stats.Readers[0] != want || len(stats.Snapshots) != 0 {
		t.Errorf("the readers are %+v and the snapshots %+v, want %+v first", stats.Readers,
			stats.Snapshots, want)
	}
	c.end()
	if after := overwrite(t, db, 100); grown < 8*mebi || after > mebi {
		t.Errorf("the file grew by %d bytes, and %d after the end of the reader", grown, after)
	}
}

// Stats are right, or nearly, in the midst of writes by this process and another, and never an
// error: they read what is being written.
func TestL9StatsDuringWrites(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 200
	}
	part := func(t *testing.T, p *parent) {
		db := storeIn(t, p.arg, okra.Options{})
		p.tell("done")
		var stop atomic.Bool
		go func() {
			p.hear()
			stop.Store(true)
		}()
		for i := 0; !stop.Load(); i++ {
			updateOK(t, db, scatter(i))
		}
	}
	if isChild(t, parts{"writer": part}) {
		return
	}
	dir := t.TempDir()
	db := storeIn(t, dir, okra.Options{})
	other := start(t, "writer", dir)
	other.hear("done")
	var stop atomic.Bool
	written := make(chan error)
	go func() {
		for i := 1 << 20; !stop.Load(); i++ {
			if err := db.Update(scatter(i)); err != nil {
				written <- err
				return
			}
		}
		written <- nil
	}()
	begun := statsOf(t, db).LastTxn
	last := begun
	for i := 0; i < rounds || last < begun+100; i++ {
		s, err := db.Stats()
		if err != nil || s.UsedSize <= 0 || s.FreeSize < 0 || s.LastTxn < last {
			t.Errorf("call %d gives %+v (%v)", i, s.Stats, err)
			break
		}
		last = s.LastTxn
	}
	stop.Store(true)
	wantIs(t, "the writer", <-written, nil)
	other.end()
}

// scatter returns a transaction that puts and deletes entries of all sizes all over the place.
func scatter(seed int) func(*okra.Tx) error {
	return func(tx *okra.Tx) error {
		rng := rand.New(rand.NewPCG(3, uint64(seed)))
		for range 30 {
			err := tx.Put(number(rng.IntN(2000)), make([]byte, 1<<rng.IntN(16)))
			if err := errors.Join(err, tx.Delete(number(rng.IntN(2000)))); err != nil {
				return err
			}
		}
		return nil
	}
}

// A View gives its slot back however its function ends.
func TestL10ViewsDoNotLeak(t *testing.T) {
	db := newStore(t, okra.Options{MaxReaders: 2})
	updateOK(t, db, put("a", "1"))
	for i := range 300 {
		switch i % 4 {
		case 0:
			wantIs(t, "View", db.View(func(*okra.Tx) error { return errAborted }), errAborted)
		case 1:
			err := recovered(func() error { return db.View(func(*okra.Tx) error { panic(errAborted) }) })
			wantIs(t, "the panic in View", err, errAborted)
		case 2:
			var wg sync.WaitGroup
			wg.Go(func() { db.View(func(*okra.Tx) error { runtime.Goexit(); return nil }) })
			wg.Wait()
		case 3:
			viewOK(t, db, func(tx *okra.Tx) error {
				for range tx.All() {
					break
				}
				return wantContent("a", "1")(tx)
			})
		}
	}
	s := statsOf(t, db)
	if s.Slots > 2 || len(s.Snapshots) != 0 {
		t.Errorf("%d slots are taken by Views that are over, %+v", s.Slots, s.Snapshots)
	}
}

// Snapshots that nobody closes are listed and take a slot each, until there are none: an error,
// not a crash, also when they are garbage. After their Close all goes on.
func TestL10SnapshotsNotClosed(t *testing.T) {
	alone(t, func(t *testing.T) {
		// Nobody closes the store either: that would wait for the snapshots.
		db, err := okra.Open(t.TempDir(), &okra.Options{MaxReaders: 20, NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		updateOK(t, db, put("a", "1"))
		kept := snapshotsOf(t, db, 3)
		dropped := 0
		for {
			_, err := db.Snapshot()
			if err != nil {
				wantIs(t, "Snapshot", err, okra.ErrReadersFull)
				break
			}
			dropped++
			runtime.GC()
		}
		if dropped != 17 {
			t.Errorf("%d snapshots could be dropped", dropped)
		}
		wantIs(t, "Close", kept[0].Close(), nil)
		if s := statsOf(t, db); len(s.Snapshots) != 19 || len(s.Readers) < 19 {
			t.Errorf("%d snapshots and %d readers are listed", len(s.Snapshots), len(s.Readers))
		}
		runtime.GC()
		viewOK(t, db, wantContent("a", "1"))
		updateOK(t, db, put("a", "2"))
		wantIs(t, "View of the snapshot", kept[1].View(wantContent("a", "1")), nil)
		wantIs(t, "View of one that is closed", kept[0].View(wantContent("a", "1")), okra.ErrClosed)
	})
}

// A snapshot shows one commit through any number of Views, of many goroutines, whatever is
// committed meanwhile; a second Close does nothing, and a View after it is an error.
func TestL10Snapshot(t *testing.T) {
	db := newStore(t, okra.Options{Table: "main", Q: 4})
	more, err := db.Table("more", okra.Format{Q: 4})
	if err != nil {
		t.Fatal(err)
	}
	both := func(fn func(*okra.Tx) error) func(*okra.Tx) error {
		return func(tx *okra.Tx) error { return errors.Join(fn(tx), fn(tx.Table(more))) }
	}
	updateOK(t, db, both(fill("old", 200)))
	s := snapshotsOf(t, db, 1)[0]
	root := rootIn(t, db)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				err := s.View(both(func(tx *okra.Tx) error {
					if got, err := tx.Root(); err != nil || got != root {
						return fmt.Errorf("the root is %s (%v)", got, err)
					}
					return errors.Join(filled("old", 200)(tx), filled("new", 0)(tx))
				}))
				if err != nil {
					t.Errorf("View of the snapshot: %v", err)
				}
			}
		})
	}
	for range 10 {
		updateOK(t, db, both(func(tx *okra.Tx) error {
			return errors.Join(fill("new", 200)(tx), tx.Delete([]byte("old 000000")))
		}))
	}
	wg.Wait()
	wantIs(t, "Put", s.View(put("a", "1")), okra.ErrReadOnly)
	wantIs(t, "the function's error", s.View(func(*okra.Tx) error { return errAborted }), errAborted)
	wantIs(t, "Close", s.Close(), nil)
	wantIs(t, "a second Close", s.Close(), nil)
	wantIs(t, "View after Close", s.View(both(filled("old", 200))), okra.ErrClosed)
	if list := statsOf(t, db).Snapshots; len(list) != 0 {
		t.Errorf("the snapshots are %+v after Close", list)
	}
}

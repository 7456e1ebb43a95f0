package okra_test

import (
	"bytes"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/okradb/okra-go/okra"
)

// Growth waits for the Views of this process to end: what they have been lent stays readable
// until then, and those that come meanwhile wait for the larger map.
func TestL2GrowthWaitsForViews(t *testing.T) {
	alone(t, func(t *testing.T) {
		db := newStore(t, okra.Options{MapSize: mebi})
		updateOK(t, db, fill("old", 300))
		var ended atomic.Bool
		updated := make(chan error)
		viewOK(t, db, func(tx *okra.Tx) error {
			v, err := tx.Get([]byte("old 000007"))
			if err != nil {
				return err
			}
			runs := 0
			go func() {
				updated <- db.Update(func(tx *okra.Tx) error {
					if runs++; runs > 1 && !ended.Load() {
						t.Error("the map has grown under a View")
					}
					return fill("new", 6000)(tx)
				})
			}()
			forOthers.await(t)
			if !bytes.Equal(v, kibi("old", 7)) {
				t.Errorf("the value has changed to %q", v)
			}
			err = filled("old", 300)(tx)
			ended.Store(true)
			return err
		})
		wantIs(t, "Update", <-updated, nil)
		viewOK(t, db, filled("new", 6000))
	})
}

// A View or a snapshot that does not end in time makes the Update fail, with an error that says
// why; nothing is lost, the reader reads on, and after its end the same Update works.
func TestL2GrowTimeout(t *testing.T) {
	alone(t, func(t *testing.T) {
		db := newStore(t, okra.Options{MapSize: mebi, GrowTimeout: 20 * time.Millisecond})
		updateOK(t, db, fill("old", 300))
		cannot := func(tx *okra.Tx) error {
			for range 2 {
				err := db.Update(fill("new", 3000))
				wantIs(t, "Update", err, okra.ErrMapFull)
				wantWords(t, err, "20ms", "did not end")
				if err := errors.Join(filled("old", 300)(tx), db.View(filled("new", 0))); err != nil {
					return err
				}
				updateOK(t, db, put("small", "fits"))
			}
			return nil
		}
		viewOK(t, db, cannot)
		updateOK(t, db, fill("new", 3000))
		viewOK(t, db, filled("new", 3000))

		db = newStore(t, okra.Options{MapSize: mebi, GrowTimeout: 20 * time.Millisecond})
		updateOK(t, db, fill("old", 300))
		snapshot, err := db.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		wantIs(t, "View of the snapshot", snapshot.View(cannot), nil)
		wantIs(t, "Close", snapshot.Close(), nil)
		updateOK(t, db, fill("new", 3000))
		viewOK(t, db, filled("new", 3000))
	})
}

// A View inside a View, while growth waits for the outer one, does not hang for ever: growth
// gives up, and both Views are right. A View inside Update does not keep it from growing.
func TestL2GrowthAndNestedViews(t *testing.T) {
	alone(t, func(t *testing.T) {
		db := newStore(t, okra.Options{MapSize: mebi, GrowTimeout: 500 * time.Millisecond})
		updateOK(t, db, fill("old", 300))
		updated := make(chan error, 1)
		viewOK(t, db, func(tx *okra.Tx) error {
			go func() { updated <- db.Update(fill("new", 6000)) }()
			for forOthers.count() == 0 && len(updated) == 0 { // or else it has given up already
				time.Sleep(time.Millisecond)
			}
			return errors.Join(db.View(filled("old", 300)), filled("old", 300)(tx))
		})
		wantIs(t, "Update", <-updated, okra.ErrMapFull)
		updateOK(t, db, func(tx *okra.Tx) error {
			if err := db.View(filled("old", 300)); err != nil {
				return err
			}
			return fill("new", 9000)(tx)
		})
		viewOK(t, db, filled("new", 9000))
	})
}

// Goroutines that read all the time, in Views and through snapshots, and a writer that makes
// the map grow under them again and again, do not disturb one another.
func TestL2GrowthUnderReaders(t *testing.T) {
	alone(t, func(t *testing.T) {
		db := newStore(t, okra.Options{MapSize: mebi, Q: 8})
		updateOK(t, db, fill("old", 300))
		var stop atomic.Bool
		const readers = 8
		errs := make(chan error, readers)
		for i := range readers {
			go func() {
				for !stop.Load() {
					view, done := db.View, func() error { return nil }
					if i%2 == 0 {
						s, err := db.Snapshot()
						if err != nil {
							errs <- err
							return
						}
						view, done = s.View, s.Close
					}
					if err := errors.Join(view(filled("old", 300)), done()); err != nil {
						errs <- err
						return
					}
				}
				errs <- nil
			}()
		}
		total := 24
		if testing.Short() {
			total = 6
		}
		for i := range total {
			updateOK(t, db, fill(fmt.Sprint("part ", i), 1000))
		}
		stop.Store(true)
		for range readers {
			wantIs(t, "a reader", <-errs, nil)
		}
		for i := range total {
			viewOK(t, db, filled(fmt.Sprint("part ", i), 1000))
		}
	})
}

// The map of an environment that the program opened itself is the program's to grow: the error
// says so, nothing has happened, and after that the same Update works.
func TestL1L2AttachedIsNotGrown(t *testing.T) {
	alone(t, func(t *testing.T) {
		env := ownEnv(t, t.TempDir(), 0)
		if err := env.SetMapSize(mebi); err != nil {
			t.Fatal(err)
		}
		db := attach(t, env, okra.Options{Table: "index"})
		updateOK(t, db, fill("old", 300))
		for range 3 {
			err := db.Update(fill("new", 3000))
			wantIs(t, "Update", err, okra.ErrMapFull)
			wantWords(t, err, "owner", "SetMapSize")
			viewOK(t, db, filled("old", 300))
			updateOK(t, db, fill("old", 300))
		}
		if err := env.SetMapSize(16 * mebi); err != nil { // nobody reads or writes
			t.Fatal(err)
		}
		updateOK(t, db, fill("new", 3000))
		viewOK(t, db, filled("new", 3000))
	})
}

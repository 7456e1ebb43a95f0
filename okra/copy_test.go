package okra_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/okradb/okra-go/okra"
)

// copies are the ways to copy a store that is in use.
func copies(db *okra.DB) map[string]func(string) error {
	return map[string]func(string) error{"Backup": db.Backup, "Compact": db.Compact}
}

// A copy made in the midst of a loop of writes is a whole store: that of one of the commits, no
// older than the last one before the copy, with its root, table and tree by tree.
func TestL24CopyDuringWrites(t *testing.T) {
	rounds := 15
	if testing.Short() {
		rounds = 3
	}
	db := newStore(t, okra.Options{Table: "main", Q: 8, MapSize: mebi, GrowTimeout: childTime})
	more, err := db.Table("more", okra.Format{Q: 4})
	if err != nil {
		t.Fatal(err)
	}
	roots := make(chan okra.Root, 1<<16) // of the commits, from the first
	var commits atomic.Int64
	var stop atomic.Bool
	written := make(chan error, 1)
	go func() {
		for i := 0; !stop.Load(); i++ {
			err := db.Update(func(tx *okra.Tx) error {
				other := tx.Table(more)
				err := errors.Join(add(tx), add(other), fill("e", i%500)(other))
				for j := range 50 {
					k := number((i*50 + j) * 7919 % 5000)
					err = errors.Join(err, tx.Put(k, kibi("round", i)), other.Delete(k))
				}
				return err
			})
			if err == nil {
				err = db.View(func(tx *okra.Tx) error {
					root, err := tx.Root()
					roots <- root
					return err
				})
			}
			if err != nil {
				written <- err
				return
			}
			commits.Add(1)
		}
		written <- nil
	}()
	base := t.TempDir()
	var known []okra.Root
	copied := int64(0) // the commit of the last copy
	for round := range rounds {
		for name, copyTo := range copies(db) {
			for commits.Load() <= copied && len(written) == 0 {
				time.Sleep(time.Millisecond)
			}
			before := commits.Load()
			dir := filepath.Join(base, fmt.Sprint(name, round))
			if err := copyTo(dir); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			c := storeIn(t, dir, okra.Options{Table: "main"})
			other, err := c.Table("more", okra.Format{})
			if err != nil {
				t.Fatal(err)
			}
			viewOK(t, c, func(tx *okra.Tx) error {
				n, err := counter(tx)
				m, otherErr := counter(tx.Table(other))
				if n != m || int64(n) < before {
					t.Errorf("%s is of commit %d, and of %d in the other table, at %d", name, n, m, before)
				}
				for len(known) < n {
					known = append(known, <-roots)
				}
				copied = int64(n)
				if root, err := tx.Root(); err != nil || n > 0 && root != known[n-1] {
					t.Errorf("%s of commit %d has the root %s (%v), want %s", name, n, root, err, known[n-1])
				}
				return errors.Join(err, otherErr, wholeTree(tx), wholeTree(tx.Table(other)))
			})
			updateOK(t, c, put("the copy", "takes writes"))
			wantIs(t, "Close", c.Close(), nil)
		}
	}
	stop.Store(true)
	wantIs(t, "the writer", <-written, nil)
}

// A file does not shrink when its entries are deleted, but a compact copy is as small as its
// data, with the same root; a plain one keeps the free pages.
func TestL23Compact(t *testing.T) {
	db := newStore(t, okra.Options{})
	updateOK(t, db, fill("kept", 100))
	updateOK(t, db, fill("gone", 8000))
	full := statsOf(t, db)
	for range 4 {
		updateOK(t, db, func(tx *okra.Tx) error {
			for i := range 8000 {
				if err := tx.Delete(fmt.Appendf(nil, "gone %06d", i)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	s := statsOf(t, db)
	if s.FileSize < full.FileSize || s.FreeSize < 7*mebi || s.UsedSize > mebi {
		t.Errorf("full %+v, then %+v", full.Stats, s.Stats)
	}
	root := rootIn(t, db)
	base := t.TempDir()
	for name, copyTo := range copies(db) {
		dir := filepath.Join(base, name)
		wantIs(t, name, copyTo(dir), nil)
		c := storeIn(t, dir, okra.Options{})
		viewOK(t, c, filled("kept", 100))
		if got := rootIn(t, c); got != root {
			t.Errorf("%s has the root %s, want %s", name, got, root)
		}
		size := statsOf(t, c).FileSize
		if name == "Compact" && size > mebi || name == "Backup" && size < 7*mebi {
			t.Errorf("%s has %d bytes", name, size)
		}
	}
}

// A copy goes to a directory that is missing, with the modes of the source, or empty, and to no
// other: what is there stays as it is, and what was begun is removed.
func TestL24WhereCopiesGo(t *testing.T) {
	base := t.TempDir()
	source := filepath.Join(base, "source")
	db := storeIn(t, source, okra.Options{FileMode: 0o640})
	updateOK(t, db, fill("e", 100))
	for name, copyTo := range copies(db) {
		taken := filepath.Join(base, "taken by "+name)
		old := storeIn(t, taken, okra.Options{})
		updateOK(t, old, put("a", "1"))
		wantIs(t, "Close", old.Close(), nil)
		same := unchanged(t, taken)
		file := filepath.Join(taken, "data.mdb")
		for path, want := range map[string]error{
			taken: fs.ErrExist, source: fs.ErrExist, file: nil,
			filepath.Join(base, "missing", "more"): okra.ErrNotExist,
		} {
			err := copyTo(path)
			if err == nil || want != nil && !errors.Is(err, want) {
				t.Errorf("%s to %s gives %v, want %v", name, path, err, want)
			}
			wantWords(t, err, source, path)
		}
		same()
		viewOK(t, db, filled("e", 100))

		empty := filepath.Join(base, "empty for "+name)
		if err := os.Mkdir(empty, 0o755); err != nil {
			t.Fatal(err)
		}
		made := filepath.Join(base, "made by "+name)
		for _, dir := range []string{empty, made} {
			wantIs(t, name, copyTo(dir), nil)
			got, err := os.Stat(filepath.Join(dir, "data.mdb"))
			if err != nil || got.Mode().Perm() != 0o640 {
				t.Errorf("the file of %s has the mode %v (%v)", name, got.Mode(), err)
			}
			viewOK(t, storeIn(t, dir, okra.Options{}), filled("e", 100))
		}
		sourceDir, err := os.Stat(source)
		madeDir, madeErr := os.Stat(made)
		if err != nil || madeErr != nil || sourceDir.Mode() != madeDir.Mode() {
			t.Errorf("the directory of %s has the mode %v, want %v", name, madeDir.Mode(), sourceDir.Mode())
		}
	}
}

// A copy that is taken inside a View or an Update shows the last commit. Where LMDB would wait
// for the end of that Update it is an error at once, which leaves nothing behind.
func TestL13L24CopyInsideTransactions(t *testing.T) {
	alone(t, func(t *testing.T) {
		db := newStore(t, okra.Options{})
		updateOK(t, db, put("a", "1"))
		for name, copyTo := range copies(db) {
			base := t.TempDir()
			viewOK(t, db, func(*okra.Tx) error { return copyTo(filepath.Join(base, "view")) })
			err := db.Update(func(tx *okra.Tx) error {
				if err := put("a", "2")(tx); err != nil {
					return err
				}
				if err := copyTo(filepath.Join(base, "update")); err != nil {
					wantIs(t, name+" in Update", err, okra.ErrNested)
				}
				return errAborted
			})
			wantIs(t, "Update", err, errAborted)
			for _, dir := range inside(t, base) {
				viewOK(t, storeIn(t, filepath.Join(base, dir), okra.Options{}), wantContent("a", "1"))
			}
		}
	})
}

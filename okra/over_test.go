package okra_test

import (
	"bytes"
	"errors"
	"iter"
	"runtime"
	"testing"

	"github.com/okradb/okra-go/okra"
	"github.com/okradb/okra-go/tree"
)

// everyCall makes every call that a Tx has and returns their errors.
func everyCall(tx *okra.Tx) map[string]error {
	key := []byte("a")
	_, get := tx.Get(key)
	_, has := tx.Has(key)
	_, length := tx.Len()
	_, root := tx.Root()
	_, node := tx.Node(0, nil)
	_, load := tx.Load(one(key, nil))
	errs := map[string]error{
		"Get": get, "Has": has, "Len": length, "Root": root, "Node": node, "Load": load,
		"Put": tx.Put(key, nil), "Delete": tx.Delete(key), "PutHash": tx.PutHash(key, tree.EmptyHash(16)),
	}
	for name, seq := range sequences(tx) {
		_, errs[name] = firstError(seq)
	}
	return errs
}

// sequences returns every iteration of tx, as one over keys.
func sequences(tx *okra.Tx) map[string]iter.Seq2[[]byte, error] {
	entries := func(s iter.Seq2[okra.Entry, error]) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			s(func(e okra.Entry, err error) bool { return yield(e.Key, err) })
		}
	}
	nodes := func(s iter.Seq2[okra.Node, error]) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			s(func(n okra.Node, err error) bool { return yield(n.Key, err) })
		}
	}
	return map[string]iter.Seq2[[]byte, error]{
		"All":           entries(tx.All()),
		"Range":         entries(tx.Range(okra.Bounds{})),
		"Backward":      entries(tx.Backward(okra.Bounds{})),
		"Prefix":        entries(tx.Prefix(nil)),
		"Nodes":         nodes(tx.Nodes(0, okra.Bounds{})),
		"NodesBackward": nodes(tx.NodesBackward(0, okra.Bounds{})),
		"Children":      nodes(tx.Children(1, nil)),
	}
}

// pulled begins every sequence of tx and leaves it after some steps, perhaps before the first.
func pulled(t *testing.T, tx *okra.Tx, steps int) (rest map[string]func() (error, bool)) {
	rest = map[string]func() (error, bool){}
	for name, seq := range sequences(tx) {
		next, stop := iter.Pull2(seq)
		t.Cleanup(stop)
		for range steps {
			if _, err, ok := next(); err != nil || !ok {
				t.Fatalf("%s ends early: %v", name, err)
			}
		}
		rest[name] = func() (error, bool) {
			_, err, ok := next()
			return err, ok
		}
	}
	return rest
}

// A Tx, the Tx of another table, and sequences begun in time give ErrTxDone once the
// transaction is over, however it ended, and never touch what was the store's.
func TestL32TxAfterItsEnd(t *testing.T) {
	for _, mode := range []okra.Mode{okra.Store, okra.Index} {
		for _, end := range []string{"view", "commit", "abort", "panic"} {
			t.Run(mode.String()+"/"+end, func(t *testing.T) { txAfterEnd(t, mode, end) })
		}
	}
}

func txAfterEnd(t *testing.T, mode okra.Mode, end string) {
	// A coroutine of iter.Pull can only go on under the thread locks that it was made under, and
	// Update holds one. The thread ends with the test's goroutine.
	runtime.LockOSThread()
	db := newStore(t, okra.Options{Table: "main", Mode: mode})
	table, err := db.Table("more", okra.Format{Mode: mode})
	if err != nil {
		t.Fatal(err)
	}
	pairs := put("a", "1", "b", "2", "c", "3", "d", "4")
	updateOK(t, db, func(tx *okra.Tx) error { return errors.Join(pairs(tx), pairs(tx.Table(table))) })
	var kept, other *okra.Tx
	var rest []map[string]func() (error, bool)
	run := func(tx *okra.Tx) error {
		kept, other = tx, tx.Table(table)
		for _, tx := range []*okra.Tx{kept, other} {
			rest = append(rest, pulled(t, tx, 2), pulled(t, tx, 0))
		}
		switch end {
		case "abort":
			return errors.Join(tx.Put([]byte("x"), nil), errAborted)
		case "panic":
			panic(errAborted)
		}
		return nil
	}
	switch end {
	case "view":
		viewOK(t, db, run)
	case "commit":
		updateOK(t, db, run)
	case "abort":
		wantIs(t, "Update", db.Update(run), errAborted)
	default:
		wantIs(t, "Update", recovered(func() error { return db.Update(run) }), errAborted)
	}
	updateOK(t, db, put("b", "changed", "e", "5")) // LMDB may use the old pages again
	if end != "view" {
		runtime.LockOSThread()
	}
	for _, tx := range []*okra.Tx{kept, other, kept.Table(table), other.Table(table)} {
		for name, err := range everyCall(tx) {
			if name == "Get" && mode == okra.Index && errors.Is(err, okra.ErrNoValues) {
				continue // it has no other answer
			}
			wantIs(t, name, err, okra.ErrTxDone)
		}
	}
	for i, seqs := range rest {
		for name, next := range seqs {
			if err, ok := next(); !ok || !errors.Is(err, okra.ErrTxDone) {
				t.Errorf("%s, sequence %d, goes on with %v (%t), want ErrTxDone", name, i, err, ok)
			}
			if err, ok := next(); ok {
				t.Errorf("%s, sequence %d, goes on after its error with %v", name, i, err)
			}
		}
	}
}

var errAborted = errors.New("aborted by the test")

// recovered runs fn and returns its error, or that it panics with.
func recovered(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = p.(error)
		}
	}()
	return fn()
}

// A write to the tree that a loop runs over ends the loop with ErrWritten; one to another
// table does not.
func TestL32WriteWhileRanging(t *testing.T) {
	db := newStore(t, okra.Options{Table: "main", Q: 1 << 20})
	table, err := db.Table("more", okra.Format{})
	if err != nil {
		t.Fatal(err)
	}
	updateOK(t, db, put("a", "1", "b", "2", "c", "3", "d", "4"))
	writes := []struct {
		name string
		run  func(tx *okra.Tx) error
		err  error
	}{
		{"Put", put("d", "4"), okra.ErrWritten},
		{"Delete", func(tx *okra.Tx) error { return tx.Delete([]byte("absent")) }, okra.ErrWritten},
		{"Put to another table", func(tx *okra.Tx) error { return put("k", "v")(tx.Table(table)) }, nil},
		{"refused Put", func(tx *okra.Tx) error {
			wantIs(t, "Put", tx.Put(nil, nil), okra.ErrKeyEmpty)
			return nil
		}, nil},
	}
	err = db.Update(func(tx *okra.Tx) error {
		for _, w := range writes {
			for name, seq := range sequences(tx) {
				n := 0
				var end error
				for _, err := range seq {
					if end = err; err != nil {
						continue
					}
					if n++; n == 2 {
						if err := w.run(tx); err != nil {
							return err
						}
					}
				}
				if !errors.Is(end, w.err) || (w.err != nil) != (n == 2) {
					t.Errorf("%s within %s: %d yielded, then %v, want %v", w.name, name, n, end, w.err)
				}
			}
		}
		return nil
	})
	// The loops heard of it, but a program that did not must not commit what it made of a part.
	wantIs(t, "Update", err, okra.ErrWritten)
	viewOK(t, db, func(tx *okra.Tx) error {
		return errors.Join(wholeTree(tx.Table(table)), wantContent("a", "1", "b", "2", "c", "3", "d", "4")(tx))
	})
}

// A loop over one table goes on rightly while so much is written to another that the writes are
// applied, which moves what LMDB holds in memory.
func TestL32WriteElsewhereWhileRanging(t *testing.T) {
	db := newStore(t, okra.Options{Table: "main", NoSync: true})
	table, err := db.Table("more", okra.Format{})
	if err != nil {
		t.Fatal(err)
	}
	const n = 600
	updateOK(t, db, func(tx *okra.Tx) error {
		for i := range n {
			if err := tx.Put(number(i), number(i)); err != nil {
				return err
			}
		}
		seen := 0
		for e, err := range tx.All() {
			if err != nil {
				return err
			}
			if !bytes.Equal(e.Key, number(seen)) || !bytes.Equal(e.Value, number(seen)) {
				t.Fatalf("entry %d is %x: %x", seen, e.Key, e.Value)
			}
			seen++
			if seen%100 != 50 {
				continue
			}
			other := tx.Table(table)
			if err := other.Put(number(seen), nil); err != nil {
				return err
			}
			if _, err := other.Root(); err != nil { // applies what waits
				return err
			}
		}
		if seen != n {
			t.Errorf("%d entries", seen)
		}
		return nil
	})
}

// Every call of a DB after Close gives ErrClosed, and a second Close nothing.
func TestL32UseAfterClose(t *testing.T) {
	db := newStore(t, okra.Options{Table: "main"})
	table, err := db.Table("more", okra.Format{})
	if err != nil {
		t.Fatal(err)
	}
	var kept *okra.Tx
	viewOK(t, db, func(tx *okra.Tx) error { kept = tx; return nil })
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	never := func(*okra.Tx) error { t.Error("the function runs"); return nil }
	wantIs(t, "View", db.View(never), okra.ErrClosed)
	wantIs(t, "Update", db.Update(never), okra.ErrClosed)
	wantIs(t, "Sync", db.Sync(), okra.ErrClosed)
	_, err = db.Stats()
	wantIs(t, "Stats", err, okra.ErrClosed)
	_, err = db.Table("more", okra.Format{})
	wantIs(t, "Table", err, okra.ErrClosed)
	for name, err := range everyCall(kept.Table(table)) {
		wantIs(t, name+" of an old Tx", err, okra.ErrTxDone)
	}
	wantIs(t, "a second Close", db.Close(), nil)
	if db.Path() == "" || db.Format().Q != 32 {
		t.Errorf("Path is %q, Format %s", db.Path(), db.Format())
	}
}

// A table opened before a failed transaction, and one made around it, are usable after it.
func TestL32TableHandleAfterAbort(t *testing.T) {
	db := newStore(t, okra.Options{Table: "main"})
	table, err := db.Table("more", okra.Format{})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		err := db.Update(func(tx *okra.Tx) error {
			return errors.Join(put("k", "lost")(tx.Table(table)), errAborted)
		})
		wantIs(t, "Update", err, errAborted)
	}
	_, err = db.Table("more", okra.Format{Q: 7}) // fails after it has opened the LMDB table
	wantIs(t, "Table", err, okra.ErrFormat)
	updateOK(t, db, func(tx *okra.Tx) error { return put("k", "kept")(tx.Table(table)) })
	viewOK(t, db, func(tx *okra.Tx) error { return wantContent("k", "kept")(tx.Table(table)) })
}

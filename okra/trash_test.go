//go:build okra_trash

package okra_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/okradb/okra-go/okra"
)

// keep collects slices that a transaction lends, and copies of them.
type keep struct{ lent, copies [][]byte }

func (k *keep) add(b []byte) {
	k.lent = append(k.lent, b)
	k.copies = append(k.copies, bytes.Clone(b))
}

// all adds what each call of tx that lends bytes hands out.
func (k *keep) all(tx *okra.Tx) error {
	v, err := tx.Get([]byte("e 000007"))
	if err != nil {
		return err
	}
	k.add(v)
	for e, err := range tx.Range(okra.Bounds{GE: []byte("e 000010"), LT: []byte("e 000015")}) {
		if err != nil {
			return err
		}
		k.add(e.Key)
		k.add(e.Value)
	}
	for e, err := range tx.Backward(okra.Bounds{GE: []byte("e 000020"), LT: []byte("e 000025")}) {
		if err != nil {
			return err
		}
		k.add(e.Key)
		k.add(e.Value)
	}
	for level := range 2 {
		for n, err := range tx.Nodes(level, okra.Bounds{GE: []byte("e"), LT: []byte("e 000030")}) {
			if err != nil {
				return err
			}
			k.add(n.Key)
		}
	}
	return nil
}

// same demands that all slices are as they were, or else that all are spoiled.
func (k *keep) same(t *testing.T, when string, want bool) {
	t.Helper()
	if len(k.lent) < 30 {
		t.Errorf("%s: only %d slices are kept", when, len(k.lent))
	}
	for i, b := range k.lent {
		if bytes.Equal(b, k.copies[i]) != want {
			t.Errorf("%s slice %d is %.20q, was %.20q", when, i, b, k.copies[i])
			return
		}
	}
}

// In this build all that a transaction lends is spoiled when its time ends, and not before: at
// the end of a View, at a write that reaches the table, at the end of an Update.
func TestL32Trash(t *testing.T) {
	db := newStore(t, okra.Options{Table: "main", Q: 4})
	more, err := db.Table("more", okra.Format{Q: 4})
	if err != nil {
		t.Fatal(err)
	}
	updateOK(t, db, fill("e", 500))
	updateOK(t, db, func(tx *okra.Tx) error { return fill("e", 500)(tx.Table(more)) })

	var k keep
	viewOK(t, db, func(tx *okra.Tx) error {
		for _, tx := range []*okra.Tx{tx, tx.Table(more)} {
			if err := k.all(tx); err != nil {
				return err
			}
		}
		k.same(t, "in a View", true)
		return nil
	})
	k.same(t, "after a View", false)

	k = keep{}
	s := snapshotsOf(t, db, 1)[0]
	wantIs(t, "View of a snapshot", s.View(k.all), nil)
	k.same(t, "after the View of a snapshot", false)

	k = keep{}
	var after keep
	updateOK(t, db, func(tx *okra.Tx) error {
		if err := k.all(tx); err != nil {
			return err
		}
		if _, err := tx.Get([]byte("absent")); err == nil {
			return fmt.Errorf("there is an entry")
		}
		if _, err := tx.Root(); err != nil {
			return err
		}
		k.same(t, "in an Update that has written nothing", true)
		if err := tx.Put([]byte("e 000400"), []byte("new")); err != nil {
			return err
		}
		if _, err := tx.Root(); err != nil {
			return err
		}
		k.same(t, "after a write", false)
		return after.all(tx)
	})
	after.same(t, "after an Update", false)
}

// A value that waits to be written is lent in the same way.
func TestL32TrashOfWaitingValues(t *testing.T) {
	db := newStore(t, okra.Options{})
	spoiled := bytes.Repeat([]byte{0xa5}, 5)
	var kept []byte
	updateOK(t, db, func(tx *okra.Tx) error {
		var lent [2][]byte
		for i := range lent {
			if err := tx.Put([]byte("k"), fmt.Appendf(nil, "val %d", i)); err != nil {
				return err
			}
			v, err := tx.Get([]byte("k"))
			if err != nil || string(v) != fmt.Sprint("val ", i) {
				return fmt.Errorf("the value is %q (%v)", v, err)
			}
			lent[i] = v
		}
		if _, err := tx.Len(); err != nil {
			return err
		}
		if !bytes.Equal(lent[0], spoiled) || !bytes.Equal(lent[1], spoiled) {
			t.Errorf("after a write the values are %q", lent)
		}
		err := tx.Put([]byte("k"), []byte("last!"))
		kept, _ = tx.Get([]byte("k"))
		return err
	})
	if !bytes.Equal(kept, spoiled) {
		t.Errorf("after the Update the value is %q", kept)
	}
	viewOK(t, db, wantContent("k", "last!"))
}

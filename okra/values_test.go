package okra_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/okradb/okra-go/okra"
)

// Nil and empty values are stored alike, hash alike, and come back empty, not nil and not
// missing: by look-up and by iteration, in the same transaction, in another, and reopened.
func TestL31EmptyValue(t *testing.T) {
	dir := t.TempDir()
	read := func(tx *okra.Tx) error {
		for _, k := range []string{"nil", "empty"} {
			v, err := tx.Get([]byte(k))
			if err != nil || v == nil || len(v) != 0 {
				t.Errorf("Get of %s gives %#v %v", k, v, err)
			}
			if has, err := tx.Has([]byte(k)); err != nil || !has {
				t.Errorf("Has of %s gives %t %v", k, has, err)
			}
		}
		n := 0
		for e, err := range tx.All() {
			if err != nil || e.Value == nil || len(e.Value) != 0 {
				t.Errorf("All yields %s=%#v %v", e.Key, e.Value, err)
			}
			n++
		}
		if n != 2 {
			t.Errorf("All yields %d entries, want 2", n)
		}
		_, err := tx.Get([]byte("absent"))
		wantIs(t, "Get of an absent key", err, okra.ErrNotFound)
		return nil
	}
	db := storeIn(t, dir, okra.Options{})
	updateOK(t, db, func(tx *okra.Tx) error {
		if err := tx.Put([]byte("nil"), nil); err != nil {
			return err
		}
		if err := tx.Put([]byte("empty"), []byte{}); err != nil {
			return err
		}
		return read(tx)
	})
	viewOK(t, db, read)
	root := rootIn(t, db)
	updateOK(t, db, func(tx *okra.Tx) error { // the other way round is the same content
		if err := tx.Put([]byte("nil"), []byte{}); err != nil {
			return err
		}
		return tx.Put([]byte("empty"), nil)
	})
	if got := rootIn(t, db); got != root {
		t.Errorf("the root with nil and empty swapped is %s, want %s", got, root)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	viewOK(t, storeIn(t, dir, okra.Options{}), read)
}

// Values of 0 bytes to 10 MiB, written and read back in the same transaction, in another, and
// in the store opened anew; then each overwritten by a value of another size.
func TestL31ValueSizes(t *testing.T) {
	sizes := []int{0, 1, 100, 2000, 4 << 10, 4096 - 16 - 20, 64 << 10, 10 << 20}
	if testing.Short() {
		sizes[len(sizes)-1] = 1 << 20
	}
	value := func(i, round int) []byte {
		size := sizes[(i+round)%len(sizes)]
		return bytes.Repeat([]byte{byte(1 + i + 16*round)}, size)
	}
	read := func(round int) func(*okra.Tx) error {
		return func(tx *okra.Tx) error {
			for i := range sizes {
				v, err := tx.Get(fmt.Appendf(nil, "key %d", i))
				if err != nil || !bytes.Equal(v, value(i, round)) {
					return fmt.Errorf("value %d of round %d has %d bytes: %w", i, round, len(v), err)
				}
			}
			i := 0
			for e, err := range tx.All() {
				if err != nil || !bytes.Equal(e.Value, value(i, round)) {
					return fmt.Errorf("entry %d of round %d has %d bytes: %w", i, round, len(e.Value), err)
				}
				i++
			}
			return nil
		}
	}
	dir := t.TempDir()
	for round := range 3 {
		db := storeIn(t, dir, okra.Options{Q: 4})
		updateOK(t, db, func(tx *okra.Tx) error {
			for i := range sizes {
				if err := tx.Put(fmt.Appendf(nil, "key %d", i), value(i, round)); err != nil {
					return err
				}
			}
			return read(round)(tx)
		})
		viewOK(t, db, read(round))
		viewOK(t, db, wholeTree)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		db = storeIn(t, dir, okra.Options{ReadOnly: true})
		viewOK(t, db, read(round))
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// What a View has lent stays as it is until it ends, whatever is committed meanwhile; what an
// Update has lent stays while it only looks up more.
func TestLentValues(t *testing.T) {
	db := newStore(t, okra.Options{Q: 4})
	fill := func(tx *okra.Tx, value string) error {
		for i := range 500 {
			if err := put(fmt.Sprintf("%03d", i), value)(tx); err != nil {
				return err
			}
		}
		return nil
	}
	updateOK(t, db, func(tx *okra.Tx) error { return fill(tx, "old") })
	viewOK(t, db, func(tx *okra.Tx) error {
		var lent [][]byte
		for e, err := range tx.All() {
			if err != nil {
				return err
			}
			v, err := tx.Get(e.Key)
			if err != nil {
				return err
			}
			lent = append(lent, v, e.Value)
		}
		for i := range 10 {
			updateOK(t, db, func(tx *okra.Tx) error {
				if i%2 == 0 {
					return fill(tx, fmt.Sprintf("new value of round %d", i))
				}
				return tx.Delete(fmt.Appendf(nil, "%03d", i))
			})
		}
		if _, err := tx.Root(); err != nil {
			return err
		}
		for i, v := range lent {
			if string(v) != "old" {
				t.Fatalf("value %d is %q, want \"old\"", i, v)
			}
		}
		return nil
	})
	updateOK(t, db, func(tx *okra.Tx) error {
		if err := fill(tx, "newest"); err != nil {
			return err
		}
		if _, err := tx.Root(); err != nil { // some are in LMDB and some still wait
			return err
		}
		if err := put("000", "waits")(tx); err != nil {
			return err
		}
		stored, err := tx.Get([]byte("400"))
		if err != nil {
			return err
		}
		waiting, err := tx.Get([]byte("000"))
		if err != nil {
			return err
		}
		for i := range 500 {
			if _, err := tx.Get(fmt.Appendf(nil, "%03d", i)); err != nil {
				return err
			}
			if _, err := tx.Has(fmt.Appendf(nil, "absent %d", i)); err != nil {
				return err
			}
		}
		if string(stored) != "newest" || string(waiting) != "waits" {
			t.Errorf("after more look-ups the values are %q and %q", stored, waiting)
		}
		return nil
	})
}

package okra_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/okradb/okra-go/okra"
)

// Entries can be salvaged into another table of the same transaction, whose writes move what is
// read; to verify meanwhile ends with ErrWritten.
func TestM13SalvageIntoAnotherTable(t *testing.T) {
	for _, mode := range []okra.Mode{okra.Store, okra.Index} {
		db := newStore(t, okra.Options{Table: "main", Q: 4, Mode: mode})
		table, err := db.Table("more", okra.Format{Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		const n = 2000
		updateOK(t, db, func(tx *okra.Tx) error {
			for i := range n {
				key := fmt.Appendf(nil, "%05d", i)
				if err := errors.Join(tx.Put(key, key), tx.Table(table).Put(key, nil)); err != nil {
					return err
				}
			}
			return nil
		})
		updateOK(t, db, func(tx *okra.Tx) error {
			to := tx.Table(table)
			i := 0
			for e, err := range tx.Salvage() {
				if err != nil {
					return err
				}
				if want := fmt.Sprintf("%05d", i); string(e.Key) != want {
					return fmt.Errorf("entry %d is %s", i, e.Key)
				}
				i++
				if mode == okra.Index {
					err = to.PutHash(e.Key, e.Hash())
				} else {
					err = to.Put(e.Key, e.Value)
				}
				if err == nil && i%7 == 0 {
					_, err = to.Root() // reaches the file
				}
				if err != nil {
					return err
				}
			}
			if i != n {
				t.Errorf("%s: %d entries", mode, i)
			}
			return nil
		})
		viewOK(t, db, func(tx *okra.Tx) error {
			to := tx.Table(table)
			if got, err := to.Len(); err != nil || got != n {
				t.Errorf("%s: the table has %d entries (%v)", mode, got, err)
			}
			return errors.Join(wantProblems()(tx), wantProblems()(to))
		})
	}
}

// An error that a loop overlooks comes out of the transaction all the same: a tree that could not
// be verified is not taken for a sound one.
func TestM13L32VerifyErrorOverlooked(t *testing.T) {
	db := newStore(t, okra.Options{Table: "main", Q: 4})
	table, err := db.Table("more", okra.Format{})
	if err != nil {
		t.Fatal(err)
	}
	updateOK(t, db, put(six()...))
	stop := errors.New("enough")
	err = db.View(func(tx *okra.Tx) error {
		for range tx.VerifyWatched(func(int64) error { return stop }) {
		}
		return nil
	})
	wantIs(t, "a View", err, stop)
	err = db.Update(func(tx *okra.Tx) error {
		for range tx.Salvage() {
			if err := tx.Put([]byte("kiwi"), []byte("green")); err != nil {
				return err
			}
		}
		return nil
	})
	wantIs(t, "an Update", err, okra.ErrWritten)
	viewOK(t, db, wantContent(six()...))
	viewOK(t, db, func(tx *okra.Tx) error { return wantContent()(tx.Table(table)) })
}

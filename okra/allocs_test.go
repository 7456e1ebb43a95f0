package okra_test

import (
	"fmt"
	"testing"

	"github.com/okradb/okra-go/okra"
)

// Looking up keys in a View allocates nothing, and an iteration no more for many entries than
// for few.
func TestAllocations(t *testing.T) {
	const many = 20000
	db := newStore(t, okra.Options{})
	updateOK(t, db, func(tx *okra.Tx) error {
		for i := range many {
			if err := put(fmt.Sprintf("%05d", i), "value")(tx); err != nil {
				return err
			}
		}
		return nil
	})
	viewOK(t, db, func(tx *okra.Tx) error {
		key, absent := []byte("00777"), []byte("absent")
		for name, call := range map[string]func(){
			"Get": func() {
				if v, err := tx.Get(key); err != nil || string(v) != "value" {
					t.Errorf("Get gives %q %v", v, err)
				}
			},
			"Has": func() {
				if has, err := tx.Has(key); !has || err != nil {
					t.Errorf("Has gives %t %v", has, err)
				}
			},
		} {
			if n := testing.AllocsPerRun(200, call); n != 0 {
				t.Errorf("%s allocates %v times", name, n)
			}
		}
		n := testing.AllocsPerRun(200, func() {
			if _, err := tx.Get(absent); err != okra.ErrNotFound {
				t.Errorf("Get of an absent key gives %v", err)
			}
		})
		if n > 2 { // those of lmdb-go's error, where LMDB is not called directly
			t.Errorf("Get of an absent key allocates %v times", n)
		}
		for name, iterate := range map[string]func(b okra.Bounds) (n int){
			"Range": func(b okra.Bounds) (n int) {
				for range tx.Range(b) {
					n++
				}
				return n
			},
			"Backward": func(b okra.Bounds) (n int) {
				for range tx.Backward(b) {
					n++
				}
				return n
			},
			"Nodes": func(b okra.Bounds) (n int) {
				for range tx.Nodes(0, b) {
					n++
				}
				return n
			},
		} {
			few := testing.AllocsPerRun(20, func() { iterate(okra.Bounds{LT: []byte("00300")}) })
			all := testing.AllocsPerRun(20, func() {
				if n := iterate(okra.Bounds{GE: []byte("00000")}); n != many {
					t.Errorf("%s yields %d of %d", name, n, many)
				}
			})
			if all > few+8 {
				t.Errorf("%s allocates %v times for %d entries and %v times for 300", name, all, many, few)
			}
		}
		return nil
	})
}

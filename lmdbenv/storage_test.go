package lmdbenv

import (
	"errors"
	"reflect"
	"testing"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

// implementations are the two ways to the records of a table.
var implementations = map[string]func(*table) tree.Storage{
	"bulk":     func(t *table) tree.Storage { return t.fast },
	"portable": func(t *table) tree.Storage { return &t.portable },
}

func openTest(t *testing.T) (*Env, Handle) {
	t.Helper()
	e, err := Open(t.TempDir(), Options{NoSync: true, MapSize: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	h, err := e.OpenTable("", func(*Txn, tree.Storage) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return e, h
}

func TestStorage(t *testing.T) {
	rounds := 2000
	if testing.Short() {
		rounds = 200
	}
	for name, pick := range implementations {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(4) {
				e, h := openTest(t)
				err := e.Update(func(txn *Txn) error {
					tab, err := newTable(txn.txn, h.dbi)
					if err != nil {
						return err
					}
					if tab.fast == nil {
						return errors.New("no bulk calls here")
					}
					return treetest.CheckStorage(pick(tab), seed, rounds)
				})
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
		})
	}
}

// A Memory agrees with another Memory, or CheckStorage itself is at fault.
func TestStorageOfMemory(t *testing.T) {
	if err := treetest.CheckStorage(&treetest.Memory{}, 1, 500); err != nil {
		t.Fatal(err)
	}
}

// CheckStorage notices an implementation that answers wrongly.
func TestStorageCheckNotices(t *testing.T) {
	if err := treetest.CheckStorage(wrong{&treetest.Memory{}}, 1, 500); err == nil {
		t.Fatal("a Floor that forgets the first byte passes")
	}
}

type wrong struct{ tree.Storage }

func (w wrong) Floor(keys *tree.Batch, out [][]byte) error {
	if err := w.Storage.Floor(keys, out); err != nil {
		return err
	}
	out[keys.Len()-1] = nil
	return nil
}

// The handle of a cursor is found by the name and type of its field; a field of another name
// or type is not taken for it.
func TestHandleGuard(t *testing.T) {
	real := reflect.TypeFor[lmdb.Cursor]()
	if _, ok := handleOffset(real, handleField, handleType); !ok {
		t.Error("lmdb-go keeps its cursor's handle elsewhere: bulk calls are off")
	}
	type renamed struct{ handle *int }
	type retyped struct{ _c *int }
	type embedded struct{ retyped }
	for _, typ := range []reflect.Type{
		reflect.TypeFor[renamed](), reflect.TypeFor[retyped](), reflect.TypeFor[embedded](),
	} {
		if _, ok := handleOffset(typ, handleField, handleType); ok {
			t.Errorf("found a handle in %s", typ)
		}
	}
	lost := func() (uintptr, bool) { return 0, false }
	if newBulk(&portable{}, lost) != nil {
		t.Error("bulk calls without a handle")
	}
}

// The constants that bulk.c declares for itself are those of the LMDB that is linked.
func TestConstants(t *testing.T) {
	want := [...]int{
		lmdb.Last, lmdb.Next, lmdb.Prev, lmdb.Set, lmdb.SetKey, lmdb.SetRange,
		lmdb.NoOverwrite, lmdb.Current, lmdb.Append, int(lmdb.KeyExist), int(lmdb.NotFound),
	}
	if got := constants(); got != want {
		t.Errorf("bulk.c has %v, lmdb-go %v", got, want)
	}
}

//go:build (linux || darwin) && !okra_portable

package lmdbenv

import (
	"context"
	"reflect"
	"testing"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"github.com/okradb/okra-go/tree/treetest"
)

// The handle of a cursor is found by the name and type of its field; a field of another name
// or type is not taken for it.
func TestHandleGuard(t *testing.T) {
	real := reflect.TypeFor[lmdb.Cursor]()
	if _, ok := handleOffset(real, handleField, handleType); !ok {
		t.Error("lmdb-go keeps its cursor's handle elsewhere: bulk calls are off")
	}
	field, _ := real.FieldByName(handleField)
	renamed, retyped := field, field
	renamed.Name = "_cursor"
	retyped.Type = reflect.TypeFor[*int]()
	for _, f := range []reflect.StructField{renamed, retyped} {
		typ := reflect.StructOf([]reflect.StructField{f})
		if _, ok := handleOffset(typ, handleField, handleType); ok {
			t.Errorf("found a handle in %s", typ)
		}
	}
	lost := func() (uintptr, bool) { return 0, false }
	if newBulk(&portable{}, &answers{}, lost) != nil {
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

// Reading records from pages and stepping from one to the next by LMDB give the same answers.
func TestStorageWithoutPages(t *testing.T) {
	if !direct(true) {
		t.Error("this version of LMDB is not known: records are not read from pages")
	}
	if direct(false) {
		t.Fatal("cannot be turned off")
	}
	defer direct(true)
	e, h := openTest(t)
	err := e.Update(context.Background(), func(txn *Txn) error {
		s, err := txn.Storage(h)
		if err != nil {
			return err
		}
		return treetest.CheckStorage(s, 1, 500)
	})
	if err != nil {
		t.Fatal(err)
	}
}

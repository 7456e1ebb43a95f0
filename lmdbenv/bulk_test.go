//go:build (linux || darwin) && !okra_portable

package lmdbenv

import (
	"bytes"
	"context"
	"math/rand/v2"
	"reflect"
	"slices"
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

// Keys are ordered as LMDB orders them, whatever their lengths and wherever they differ.
func TestOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		a := make([]byte, rng.IntN(20))
		for i := range a {
			a[i] = byte(rng.IntN(3) * 127)
		}
		b := slices.Clone(a[:rng.IntN(len(a)+1)])
		for range rng.IntN(12) {
			b = append(b, byte(rng.Uint32()))
		}
		if len(b) > 0 && rng.IntN(2) == 0 {
			b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
		}
		if got, want := order(a, b), bytes.Compare(a, b); got != want {
			t.Fatalf("%x and %x: %d, want %d", a, b, got, want)
		}
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

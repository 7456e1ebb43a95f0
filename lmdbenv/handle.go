package lmdbenv

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/PowerDNS/lmdb-go/lmdb"
)

// A lmdb.Cursor keeps its C handle in an unexported field, which bulk calls need. Where it
// stands is found by name and type: when lmdb-go changes either, the portable storage is used.
const (
	handleField = "_c"
	handleType  = "*lmdb._Ctype_struct_MDB_cursor"
)

// handleOffset returns where in the struct type t the field of a C handle stands, or false if
// t has no field of that name and type.
func handleOffset(t reflect.Type, name, typ string) (uintptr, bool) {
	f, ok := t.FieldByName(name)
	if !ok || len(f.Index) != 1 || f.Type.String() != typ {
		return 0, false
	}
	return f.Offset, true
}

// findHandle looks for the field in lmdb.Cursor once.
var findHandle = sync.OnceValues(func() (uintptr, bool) {
	return handleOffset(reflect.TypeFor[lmdb.Cursor](), handleField, handleType)
})

// handle returns the C handle of cur, which is valid while cur is open.
func handle(cur *lmdb.Cursor, offset uintptr) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(cur), offset))
}

// findTxn looks for the environment and the C handle in lmdb.Txn once. The handle is nil when
// the transaction is over.
var findTxn = sync.OnceValue(func() (found struct {
	env, handle uintptr
	ok          bool
}) {
	t := reflect.TypeFor[lmdb.Txn]()
	var ok bool
	if found.env, ok = handleOffset(t, "env", "*lmdb.Env"); !ok {
		return found
	}
	found.handle, found.ok = handleOffset(t, "_txn", "*lmdb._Ctype_struct_MDB_txn")
	return found
})

// belongs reports whether txn is under way in env, as far as can be told.
func belongs(txn *lmdb.Txn, env *lmdb.Env) bool {
	at := findTxn()
	if txn == nil || !at.ok {
		return txn != nil
	}
	p := unsafe.Pointer(txn)
	return *(**lmdb.Env)(unsafe.Add(p, at.env)) == env &&
		*(*unsafe.Pointer)(unsafe.Add(p, at.handle)) != nil
}

//go:build (linux || darwin) && !okra_portable

package lmdbenv

/*
#cgo CFLAGS: -O2
#cgo linux LDFLAGS: -Wl,--unresolved-symbols=ignore-all
#cgo darwin LDFLAGS: -Wl,-undefined,dynamic_lookup
#cgo noescape okra_get
#cgo nocallback okra_get
#cgo noescape okra_scan
#cgo nocallback okra_scan
#cgo noescape okra_gather
#cgo nocallback okra_gather
#cgo noescape okra_floor
#cgo nocallback okra_floor
#cgo noescape okra_apply
#cgo nocallback okra_apply
#cgo noescape okra_append
#cgo nocallback okra_append
#include "bulk.h"
#include "walk.h"
*/
import "C"

import (
	"unsafe"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"github.com/okradb/okra-go/tree"
)

// bulk is the storage of one table in one transaction, by the calls of bulk.c.
type bulk struct {
	*portable
	*answers
	c *C.MDB_cursor
}

// answers is the memory that C writes its answers to, which a transaction keeps so that a call
// allocates nothing.
type answers struct {
	value C.okra_bytes
	found C.size_t
	got   C.okra_gathered
	runs  []C.okra_run
}

// newBulk returns the storage that does by bulk calls what p does, or nil where find does not
// know where the C handle of p's cursor is.
func newBulk(p *portable, a *answers, find func() (uintptr, bool)) *bulk {
	offset, ok := find()
	if !ok {
		return nil
	}
	return &bulk{portable: p, answers: a, c: (*C.MDB_cursor)(handle(p.cur, offset))}
}

// orderByWords makes LMDB's search for keys in the table faster, in every transaction.
func (s *bulk) orderByWords() error {
	return codeError("mdb_set_compare", int(C.okra_order_by_words(s.c)))
}

// order compares two keys as C does, for a test.
func order(a, b []byte) int {
	p, n := chars(a)
	q, m := chars(b)
	return int(C.okra_order(p, n, q, m))
}

// direct turns the reading of records from pages on or off, for tests, and reports whether it
// is on.
func direct(on bool) bool {
	var c C.int
	if on {
		c = 1
	}
	return C.okra_walk_direct(c) != 0
}

// constants returns what bulk.c takes LMDB's constants to be, for a test.
func constants() (list [11]int) {
	var c [11]C.int
	C.okra_constants(&c[0])
	for i := range c {
		list[i] = int(c[i])
	}
	return list
}

func chars(b []byte) (*C.char, C.size_t) {
	return (*C.char)(unsafe.Pointer(unsafe.SliceData(b))), C.size_t(len(b))
}

// goBytes returns the bytes that b names, which are LMDB's.
func goBytes(b *C.okra_bytes) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&b.data)), int(b.size))
}

// Get implements tree.Storage.
func (s *bulk) Get(prefix byte, key []byte) (value []byte, ok bool, err error) {
	k, n := chars(key)
	switch code := C.okra_get(s.c, C.char(prefix), k, n, &s.value); code {
	case 0:
		return goBytes(&s.value), true, nil
	case C.int(lmdb.NotFound):
		return nil, false, nil
	default:
		return nil, false, codeError("mdb_get", int(code))
	}
}

// Scan implements tree.Storage.
func (s *bulk) Scan(start tree.Start, from, stop []byte, out []tree.Record) (n int, err error) {
	if err := s.fresh(); err != nil || len(out) == 0 {
		return 0, err
	}
	f, fn := chars(from)
	t, tn := chars(stop)
	rows := (*C.okra_record)(unsafe.Pointer(&out[0]))
	code := C.okra_scan(s.c, C.int(start), f, fn, t, tn, rows, C.size_t(len(out)), &s.found)
	return int(s.found), codeError("mdb_cursor_get", int(code))
}

// C fills a tree.Record as an okra_record: they are laid out alike.
var (
	_ [unsafe.Sizeof(tree.Record{})]byte         = [C.sizeof_okra_record]byte{}
	_ [unsafe.Offsetof(tree.Record{}.Value)]byte = [24]byte{}
)

// Gather implements tree.Storage.
func (s *bulk) Gather(questions *tree.Batch, rule tree.Rule, out *tree.Gathered) error {
	*out = tree.Gathered{Hashes: out.Hashes[:0], Runs: out.Runs[:0]}
	n := questions.Len()
	if err := s.fresh(); err != nil || n == 0 {
		return err
	}
	if n > len(s.runs) {
		s.runs = make([]C.okra_run, n)
	}
	b, size := chars(questions.Bytes())
	room := cap(out.Hashes)
	hashes, _ := chars(out.Hashes[:room])
	code := C.okra_gather(s.c, b, size, C.size_t(rule.Len), C.uint32_t(rule.Limit), hashes,
		C.size_t(room), &s.runs[0], &s.got)
	switch code {
	case 0:
	case C.OKRA_SHORT:
		return short(goBytes(&s.got.bad))
	case C.OKRA_ABSENT:
		rest := questions.Rest(int(s.got.question), 1)
		item, _, _ := rest.Next(0)
		return absent(item.Key)
	default:
		return codeError("mdb_cursor_get", int(code))
	}
	for i := range s.runs[:s.got.runs] {
		run := &s.runs[i]
		out.Runs = append(out.Runs, tree.Run{First: goBytes(&run.first), End: int(run.end)})
	}
	out.Hashes = out.Hashes[:s.got.used]
	out.Done, out.End = int(s.got.done), goBytes(&s.got.end)
	return nil
}

// Floor implements tree.Storage.
func (s *bulk) Floor(keys *tree.Batch, out []tree.Record) error {
	if err := s.fresh(); err != nil || keys.Len() == 0 {
		return err
	}
	b, size := chars(keys.Bytes())
	rows := (*C.okra_record)(unsafe.Pointer(&out[0]))
	return codeError("mdb_cursor_get", int(C.okra_floor(s.c, b, size, rows)))
}

// Apply implements tree.Storage.
func (s *bulk) Apply(b *tree.Batch, rule tree.Rule, effects []tree.Effect, olds []byte) error {
	if b.Len() == 0 {
		return nil
	}
	p, size := chars(b.Bytes())
	hashes, _ := chars(olds)
	code := C.okra_apply(s.c, p, size, C.size_t(rule.Len), C.uint32_t(rule.Limit),
		(*C.uint8_t)(unsafe.Pointer(&effects[0])), hashes)
	return s.wrote(code)
}

// wrote returns the error of a write.
func (s *bulk) wrote(code C.int) error {
	*s.full = *s.full || code == C.int(lmdb.MapFull)
	return codeError("mdb_cursor_put", int(code))
}

// Append implements tree.Storage.
func (s *bulk) Append(b *tree.Batch) error {
	p, size := chars(b.Bytes())
	return s.wrote(C.okra_append(s.c, p, size))
}

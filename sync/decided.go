package sync

import (
	"encoding/binary"

	"github.com/okradb/okra-go/okra"
)

// decision is what is to be done at the peer with a key that it has, too.
type decision struct {
	key    []byte
	hash   okra.Hash // of the peer's leaf, unless nothing is to be done
	delete bool
	skip   bool   // nothing
	value  []byte // in place of ours; nil if ours is the one
}

// bytes is how many bytes d takes in a list of decisions, at most.
func (d decision) bytes() int {
	n := 1 + 2 + len(d.key)
	if !d.skip {
		n += d.hash.Len()
	}
	if d.value != nil {
		n += binary.MaxVarintLen32 + len(d.value)
	}
	return n
}

// What the first byte of a decision says; the key, the hash, but for a skip, and the value follow.
const (
	decidedOurs byte = iota
	decidedSkip
	decidedDelete
	decidedValue
)

// decisions is a list of them in ascending order of keys, in few bytes: there may be one for each
// entry that is different.
type decisions struct {
	k   int // bytes of a hash
	buf []byte
}

func (l *decisions) add(d decision) {
	kind := decidedOurs
	switch {
	case d.skip:
		kind = decidedSkip
	case d.delete:
		kind = decidedDelete
	case d.value != nil:
		kind = decidedValue
	}
	l.buf = appendString(append(l.buf, kind), d.key)
	if kind != decidedSkip {
		l.buf = d.hash.Append(l.buf)
	}
	if kind == decidedValue {
		l.buf = appendString(l.buf, d.value)
	}
}

// take takes the first decision from the list. Its bytes belong to l.
func (l *decisions) take() (d decision, ok bool) {
	if len(l.buf) == 0 {
		return d, false
	}
	kind := l.buf[0]
	l.buf = l.buf[1:]
	d.key = l.string()
	d.skip, d.delete = kind == decidedSkip, kind == decidedDelete
	if kind != decidedSkip {
		d.hash, _ = okra.HashFrom(l.buf[:l.k]) // never fails: it was one
		l.buf = l.buf[l.k:]
	}
	if kind == decidedValue {
		d.value = l.string()
	}
	return d, true
}

func (l *decisions) string() []byte {
	n, size := binary.Uvarint(l.buf)
	b := l.buf[size : size+int(n) : size+int(n)]
	l.buf = l.buf[size+int(n):]
	return b
}

package sync

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// keyRange is a range of keys, or one key with the sum of its leaf.
type keyRange struct {
	from []byte
	to   []byte // without it; nil is open
	one  bool   // from alone
	sum  uint64 // of the leaf, if one and the keySet has sums
}

// keySet is a set of ranges of keys that do not overlap, in bounded memory: when it gets too
// large, its upper half is forgotten.
type keySet struct {
	sums   bool // it has one key at a time, with its sum
	budget int  // bytes
	buf    []byte
	starts []uint32
	sorted bool
	over   []byte // the first key that was forgotten; nil if none
}

// add adds a range. A key from that on which was forgotten is forgotten, too.
func (s *keySet) add(r keyRange) {
	if s.over != nil && bytes.Compare(r.from, s.over) >= 0 {
		return
	}
	s.starts = append(s.starts, uint32(len(s.buf)))
	s.sorted = false
	s.buf = appendString(s.buf, r.from)
	switch {
	case r.one && s.sums:
		s.buf = append(s.buf, 3)
		s.buf = binary.LittleEndian.AppendUint64(s.buf, r.sum)
	case r.one:
		s.buf = append(s.buf, 2)
	case r.to == nil:
		s.buf = append(s.buf, 0)
	default:
		s.buf = append(s.buf, 1)
		s.buf = appendString(s.buf, r.to)
	}
	if len(s.buf)+4*len(s.starts) > s.budget && len(s.starts) > 1 {
		s.halve()
	}
}

// at returns the i-th range. Its keys belong to s.
func (s *keySet) at(i int) keyRange {
	b := s.buf[s.starts[i]:]
	key := func() []byte {
		n, size := binary.Uvarint(b)
		k := b[size : size+int(n) : size+int(n)]
		b = b[size+int(n):]
		return k
	}
	r := keyRange{from: key()}
	kind := b[0]
	b = b[1:]
	switch kind {
	case 1:
		r.to = key()
	case 2:
		r.one = true
	case 3:
		r.one, r.sum = true, binary.LittleEndian.Uint64(b)
	}
	return r
}

func (s *keySet) len() int { return len(s.starts) }

// sort brings the ranges in ascending order.
func (s *keySet) sort() {
	if s.sorted {
		return
	}
	slices.SortFunc(s.starts, func(a, b uint32) int { return bytes.Compare(s.keyAt(a), s.keyAt(b)) })
	s.sorted = true
}

func (s *keySet) keyAt(start uint32) []byte {
	n, size := binary.Uvarint(s.buf[start:])
	return s.buf[int(start)+size : int(start)+size+int(n)]
}

// halve forgets the upper half of the ranges, so that what remains is all that there is below
// over.
func (s *keySet) halve() {
	s.sort()
	keep := len(s.starts) / 2
	s.over = bytes.Clone(s.keyAt(s.starts[keep]))
	buf := make([]byte, 0, len(s.buf))
	starts := s.starts[:0]
	for i := range keep {
		from := s.starts[i]
		size := s.sizeAt(from)
		starts = append(starts, uint32(len(buf)))
		buf = append(buf, s.buf[from:int(from)+size]...)
	}
	s.buf, s.starts = buf, starts
}

func (s *keySet) sizeAt(start uint32) int {
	b := s.buf[start:]
	n, size := binary.Uvarint(b)
	size += int(n) + 1
	switch b[size-1] {
	case 1:
		m, more := binary.Uvarint(b[size:])
		size += more + int(m)
	case 3:
		size += 8
	}
	return size
}

// find returns the sum of key, if s has it as one.
func (s *keySet) find(key []byte) (sum uint64, ok bool) {
	s.sort()
	i, ok := slices.BinarySearchFunc(s.starts, key, func(start uint32, key []byte) int {
		return bytes.Compare(s.keyAt(start), key)
	})
	if !ok {
		return 0, false
	}
	return s.at(i).sum, true
}

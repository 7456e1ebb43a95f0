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

	spared bool // the other side has the key, too
}

// How a range is kept: the length and bytes of from, one of these, and what it says.
const (
	rangeOpen   byte = iota // to the end
	rangeTo                 // the length and bytes of to
	rangeOne                // from alone
	rangeSum                // from alone, and the sum of its leaf
	rangeSpared             // the same, spared
)

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

// add adds a range, or reports that it begins behind where s has forgotten everything.
func (s *keySet) add(r keyRange) bool {
	if s.over != nil && bytes.Compare(r.from, s.over) >= 0 {
		return false
	}
	s.starts = append(s.starts, uint32(len(s.buf)))
	s.sorted = false
	s.buf = appendString(s.buf, r.from)
	switch {
	case r.one && s.sums:
		s.buf = append(s.buf, rangeSum)
		s.buf = binary.LittleEndian.AppendUint64(s.buf, r.sum)
	case r.one:
		s.buf = append(s.buf, rangeOne)
	case r.to == nil:
		s.buf = append(s.buf, rangeOpen)
	default:
		s.buf = append(s.buf, rangeTo)
		s.buf = appendString(s.buf, r.to)
	}
	if len(s.buf)+4*len(s.starts) > s.budget && len(s.starts) > 1 {
		s.halve()
	}
	return true
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
	case rangeTo:
		r.to = key()
	case rangeOne:
		r.one = true
	case rangeSum, rangeSpared:
		r.one, r.sum, r.spared = true, binary.LittleEndian.Uint64(b), kind == rangeSpared
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
	s.starts = s.starts[:keep]
	slices.Sort(s.starts) // to move them down in place
	end := 0
	for i, from := range s.starts {
		size := s.sizeAt(from)
		s.starts[i] = uint32(end)
		end += copy(s.buf[end:], s.buf[from:int(from)+size])
	}
	s.buf, s.sorted = s.buf[:end], false
}

func (s *keySet) sizeAt(start uint32) int {
	b := s.buf[start:]
	n, size := binary.Uvarint(b)
	size += int(n) + 1
	switch b[size-1] {
	case rangeTo:
		m, more := binary.Uvarint(b[size:])
		size += more + int(m)
	case rangeSum, rangeSpared:
		size += 8
	}
	return size
}

// room is how many bytes s takes until it is a quarter full.
func (s *keySet) room() int { return max(0, s.budget/4-len(s.buf)-4*len(s.starts)) }

// covers reports whether key lies in a range of more than one key.
func (s *keySet) covers(key []byte) bool {
	i, ok := s.search(key)
	if !ok {
		i--
	}
	if i < 0 {
		return false
	}
	r := s.at(i)
	return !r.one && (r.to == nil || bytes.Compare(key, r.to) < 0)
}

// find returns the sum of key, if s has it as one.
func (s *keySet) find(key []byte) (sum uint64, ok bool) {
	i, ok := s.search(key)
	if !ok {
		return 0, false
	}
	return s.at(i).sum, true
}

// spare notes that the other side has key, too. The keySet has sums.
func (s *keySet) spare(key []byte) {
	if i, ok := s.search(key); ok {
		start := int(s.starts[i])
		n, size := binary.Uvarint(s.buf[start:])
		s.buf[start+size+int(n)] = rangeSpared
	}
}

func (s *keySet) search(key []byte) (i int, ok bool) {
	s.sort()
	return slices.BinarySearchFunc(s.starts, key, func(start uint32, key []byte) int {
		return bytes.Compare(s.keyAt(start), key)
	})
}

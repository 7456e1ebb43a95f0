package sync

import "math/bits"

// matcher finds our nodes among the hashes that a peer has listed for one gap. It knows a span
// of them at a time, which moves on with the matches, or without any once half a span of our
// nodes was in vain. So its memory has a bound, and only sides that drift further apart than
// that, within one gap, miss nodes which are equal; these then count as different.
type matcher struct {
	r      *listReader
	hashes []uint64
	base   uint64 // position of the first of them in the gap
	end    bool   // all of the gap's have been read
	mask   uint64 // of the bits that a hash has
	misses int

	// Built at the first miss: the first of the hashes with the same bits, and for each the next
	// of them, as index + 1. However a peer chooses them, they are in one such chain each.
	first, next []uint32
	built       bool
}

// reset begins with the gap at which r stands.
func (m *matcher) reset(r *listReader) error {
	m.r, m.hashes, m.base, m.end, m.misses, m.built = r, m.hashes[:0], 0, false, 0, false
	m.mask = 1<<(8*uint(r.width)) - 1 // all bits if there are 64
	return m.fill()
}

func (m *matcher) fill() error {
	m.built = false
	for !m.end && len(m.hashes) < bounds.span {
		h, ok, err := m.r.hash()
		if err != nil {
			return err
		}
		if m.end = !ok; ok {
			m.hashes = append(m.hashes, h)
		}
	}
	return nil
}

// find returns the first position from at on under which the peer listed the hash that begins
// with sum, if it is known.
func (m *matcher) find(sum, at uint64) (pos uint64, ok bool, err error) {
	h := sum & m.mask
	if i := at - m.base; at >= m.base && i < uint64(len(m.hashes)) && m.hashes[i] == h {
		m.misses = 0
		return at, true, m.forward(at + 1)
	}
	if !m.built {
		m.build()
	}
	slot := m.slot(h)
	for m.first[slot] != 0 && m.base+uint64(m.first[slot]-1) < at {
		m.first[slot] = m.next[m.first[slot]-1] // at never goes back
	}
	for n := m.first[slot]; n != 0; n = m.next[n-1] {
		if m.hashes[n-1] == h {
			m.misses = 0
			pos = m.base + uint64(n-1) // before the base moves on
			return pos, true, m.forward(pos + 1)
		}
	}
	if m.misses++; m.misses > bounds.span/2 && !m.end {
		m.misses = 0
		return 0, false, m.forward(m.base + uint64(bounds.span/2))
	}
	return 0, false, nil
}

// forward lets the span begin at a position, once that has got far into it.
func (m *matcher) forward(to uint64) error {
	n := to - m.base
	if m.end || n < uint64(bounds.span/2) {
		return nil
	}
	m.hashes = m.hashes[:copy(m.hashes, m.hashes[n:])]
	m.base = to
	return m.fill()
}

func (m *matcher) slot(h uint64) uint64 {
	return h * 0x9e3779b97f4a7c15 >> (64 - bits.Len(uint(len(m.first))-1))
}

func (m *matcher) build() {
	size := 1 << bits.Len(uint(len(m.hashes)))
	if cap(m.first) < size {
		m.first, m.next = make([]uint32, size), make([]uint32, size)
	}
	m.first, m.next = m.first[:size], m.next[:size]
	clear(m.first)
	// Backwards, so that of equal hashes the first is found first.
	for i := len(m.hashes) - 1; i >= 0; i-- {
		slot := m.slot(m.hashes[i])
		m.next[i], m.first[slot] = m.first[slot], uint32(i+1)
	}
	m.built = true
}

// rest reads what is left of the gap and returns how many hashes it had.
func (m *matcher) rest() (uint64, error) {
	total := m.base + uint64(len(m.hashes))
	if m.end {
		return total, nil
	}
	m.end = true
	n, err := m.r.rest()
	return total + n, err
}

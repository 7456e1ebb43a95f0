package sync

import "math/bits"

// matchSpan is how many hashes of the peer's a matcher knows at once.
const matchSpan = 1 << 15

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

	table []uint32 // index in hashes + 1, by the low bits of the hash; built at the first miss
	built bool
}

// reset begins with the gap at which r stands.
func (m *matcher) reset(r *listReader) error {
	m.r, m.hashes, m.base, m.end, m.misses, m.built = r, m.hashes[:0], 0, false, 0, false
	m.mask = 1<<(8*uint(r.width)) - 1 // all bits if there are 64
	return m.fill()
}

func (m *matcher) fill() error {
	m.built = false
	for !m.end && len(m.hashes) < matchSpan {
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
	slot := h * 0x9e3779b97f4a7c15 >> (64 - m.bits())
	for ; m.table[slot] != 0; slot = (slot + 1) & uint64(len(m.table)-1) {
		i := uint64(m.table[slot] - 1)
		if m.hashes[i] == h && m.base+i >= at {
			m.misses = 0
			return m.base + i, true, m.forward(m.base + i + 1)
		}
	}
	if m.misses++; m.misses > matchSpan/2 && !m.end {
		m.misses = 0
		return 0, false, m.forward(m.base + matchSpan/2)
	}
	return 0, false, nil
}

// forward lets the span begin at a position, once that has got far into it.
func (m *matcher) forward(to uint64) error {
	n := to - m.base
	if m.end || n < matchSpan/2 {
		return nil
	}
	m.hashes = m.hashes[:copy(m.hashes, m.hashes[n:])]
	m.base = to
	return m.fill()
}

func (m *matcher) bits() int { return bits.Len(uint(len(m.table)) - 1) }

func (m *matcher) build() {
	size := 1 << bits.Len(uint(2*len(m.hashes)))
	if cap(m.table) < size {
		m.table = make([]uint32, size)
	}
	m.table = m.table[:size]
	clear(m.table)
	// In order, so that of equal hashes the first is found first.
	for i, h := range m.hashes {
		slot := h * 0x9e3779b97f4a7c15 >> (64 - m.bits())
		for m.table[slot] != 0 {
			slot = (slot + 1) & uint64(size-1)
		}
		m.table[slot] = uint32(i + 1)
	}
	m.built = true
}

// rest reads what is left of the gap and returns how many hashes it had.
func (m *matcher) rest() (uint64, error) {
	total := m.base + uint64(len(m.hashes))
	for !m.end {
		_, ok, err := m.r.hash()
		if err != nil {
			return 0, err
		}
		if m.end = !ok; ok {
			total++
		}
	}
	return total, nil
}

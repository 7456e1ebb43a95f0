package sync

import (
	"encoding/binary"
	"iter"
)

// gap is a place where the sides differ: nodes of a list of the peer's, and our keys there.
type gap struct {
	skip    uint64 // nodes of the list since the gap before
	length  uint64 // nodes of the list
	descend bool   // we have something there, too, so it is to be looked into
	from    []byte // our nodes there begin in [from, to)
	to      []byte // nil is open
}

// gaps is a list of gaps in one piece of memory.
type gaps struct {
	buf    []byte
	deeper int // how many are to be looked into
}

func (g *gaps) reset() { *g = gaps{buf: g.buf[:0]} }

// add appends a copy of x. The keys of a gap that is not looked into are not kept.
func (g *gaps) add(x gap) {
	g.buf = binary.AppendUvarint(g.buf, x.skip)
	g.buf = binary.AppendUvarint(g.buf, x.length<<1|bit(x.descend))
	if !x.descend {
		return
	}
	g.deeper++
	g.buf = appendString(g.buf, x.from)
	g.buf = append(g.buf, byte(bit(x.to != nil)))
	if x.to != nil {
		g.buf = appendString(g.buf, x.to)
	}
}

// all yields the gaps in order. Their keys belong to g.
func (g *gaps) all() iter.Seq[gap] {
	return func(yield func(gap) bool) {
		for at := 0; ; {
			x, next, ok := g.at(at)
			if !ok || !yield(x) {
				return
			}
			at = next
		}
	}
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// at returns the gap at offset at and the offset of the one after it. The first is at 0, and at
// the end ok is false. The keys belong to g.
func (g *gaps) at(at int) (x gap, next int, ok bool) {
	b := g.buf[at:]
	if len(b) == 0 {
		return gap{}, at, false
	}
	number := func() uint64 {
		n, size := binary.Uvarint(b)
		b = b[size:]
		return n
	}
	key := func() []byte {
		n := number()
		k := b[:n:n]
		b = b[n:]
		return k
	}
	x.skip = number()
	n := number()
	x.length, x.descend = n>>1, n&1 == 1
	if x.descend {
		x.from = key()
		open := b[0] == 0
		if b = b[1:]; !open {
			x.to = key()
		}
	}
	return x, len(g.buf) - len(b), true
}

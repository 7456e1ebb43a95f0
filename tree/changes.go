package tree

import "encoding/binary"

// change says how one node of a level differs from before the flush.
type change struct {
	key  []byte // empty: the anchor
	was  bool   // it was stored and a boundary
	is   bool   // it is stored and a boundary
	gone bool   // it is not stored
}

// changes is a list of changes in key order, flat, without Go pointers:
// one byte of flags, u16 key length, key.
type changes struct {
	buf   []byte
	n     int
	nodes int // changes that leave a node beside the anchor
}

const (
	flagWas = 1 << iota
	flagIs
	flagGone
)

func (c *changes) reset() { c.buf, c.n, c.nodes = c.buf[:0], 0, 0 }

func (c *changes) add(ch change) {
	var flags byte
	if ch.was {
		flags |= flagWas
	}
	if ch.is {
		flags |= flagIs
	}
	if ch.gone {
		flags |= flagGone
	}
	if len(ch.key) > 0 && !ch.gone {
		c.nodes++
	}
	c.buf = append(c.buf, flags)
	c.buf = binary.NativeEndian.AppendUint16(c.buf, uint16(len(ch.key)))
	c.buf = append(c.buf, ch.key...)
	c.n++
}

// next decodes the change at offset at, and returns the offset of the one after it.
func (c *changes) next(at int) (ch change, next int, ok bool) {
	if at >= len(c.buf) {
		return change{}, at, false
	}
	flags := c.buf[at]
	k := at + 3
	next = k + int(binary.NativeEndian.Uint16(c.buf[at+1:]))
	return change{
		key: c.buf[k:next:next],
		was: flags&flagWas != 0, is: flags&flagIs != 0, gone: flags&flagGone != 0,
	}, next, true
}

package tree

import "encoding/binary"

// change says how one node of a level differs from before the flush.
type change struct {
	key  []byte // empty: the anchor
	was  bool   // it was stored and a boundary
	is   bool   // it is stored and a boundary
	gone bool   // it is not stored

	added bool   // it was not stored
	old   []byte // its hash before; if added, the hash now of the one before it
	hash  []byte // its hash now, unless gone
}

// changes is a list of changes in key order, flat, without Go pointers:
// one byte of flags, u16 key length, key, and if hashes are kept both of them.
type changes struct {
	buf   []byte
	k     int // length of the hashes kept, 0 if none are
	n     int
	nodes int // changes that leave a node beside the anchor
}

const (
	flagWas = 1 << iota
	flagIs
	flagGone
	flagAdded
)

// reset empties c, to keep hashes of k bytes, or none.
func (c *changes) reset(k int) { c.buf, c.k, c.n, c.nodes = c.buf[:0], k, 0, 0 }

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
	if ch.added {
		flags |= flagAdded
	}
	if len(ch.key) > 0 && !ch.gone {
		c.nodes++
	}
	c.buf = append(c.buf, flags)
	c.buf = binary.NativeEndian.AppendUint16(c.buf, uint16(len(ch.key)))
	c.buf = append(c.buf, ch.key...)
	if c.k > 0 {
		c.buf = append(c.buf, ch.old...)
		if ch.gone {
			ch.hash = zeroHash[:c.k]
		}
		c.buf = append(c.buf, ch.hash...)
	}
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
	ch = change{
		key: c.buf[k:next:next],
		was: flags&flagWas != 0, is: flags&flagIs != 0, gone: flags&flagGone != 0,
		added: flags&flagAdded != 0,
	}
	if c.k > 0 {
		ch.old = c.buf[next:][:c.k]
		ch.hash = c.buf[next+c.k:][:c.k]
		next += 2 * c.k
	}
	return ch, next, true
}

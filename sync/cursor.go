package sync

import (
	"bytes"

	"github.com/dchest/siphash"

	"github.com/okradb/okra-go/okra"
)

// salt makes the short hashes of a pass, so that nobody can choose entries beforehand whose
// short hashes are equal.
type salt uint64

// sum returns 8 bytes of SipHash-2-4 of a node's hash, keyed by the salt. Its low bytes are the
// node's short hash.
func (s salt) sum(h okra.Hash, buf []byte) uint64 {
	return siphash.Hash(uint64(s), 0x6f6b72612073616c, h.Append(buf[:0]))
}

// window is the keys of a pass: from lower on, up to upper and without it. Nil is open.
type window struct{ lower, upper []byte }

// holds reports whether the window holds key.
func (w window) holds(key []byte) bool {
	return bytes.Compare(key, w.lower) >= 0 && (w.upper == nil || bytes.Compare(key, w.upper) < 0)
}

// whole reports whether the window holds all keys.
func (w window) whole() bool { return len(w.lower) == 0 && w.upper == nil }

// cut ends the window at key, if it goes further.
func (w *window) cut(key []byte) {
	if key != nil && (w.upper == nil || bytes.Compare(key, w.upper) < 0) {
		w.upper = bytes.Clone(key)
	}
}

// cursor walks over the nodes of a level that begin within [from, to) and have, or may have, keys
// in the window. It reads some at a time and holds nothing in between.
type cursor struct {
	h     *held
	work  *Budget
	salt  salt
	level int

	from, to []byte // of what is still to be read; from nil is the anchor, to nil is open
	after    bool   // from itself has been read
	lower    []byte // of the window, until the first read
	done     bool

	keys []byte // of the nodes that were read
	ends []int
	sums []uint64
	i    int
	size int // nodes to read at once
	hash [32]byte
}

// reset begins anew.
func (c *cursor) reset(level int, from, to []byte, w window) {
	c.level, c.to, c.lower = level, to, w.lower
	c.from = append(c.from[:0], from...)
	if w.upper != nil && (to == nil || bytes.Compare(w.upper, to) < 0) {
		c.to = w.upper
	}
	c.after, c.done, c.i, c.size = false, false, 0, 64
	c.ends, c.sums = c.ends[:0], c.sums[:0]
}

// mostRead bounds the nodes that a cursor reads at once, and so its memory.
const mostRead = 1024

// next returns the key of the next node, which is valid until the next call, and its sum.
func (c *cursor) next() (key []byte, sum uint64, ok bool, err error) {
	if c.i == len(c.ends) {
		if c.done {
			return nil, 0, false, nil
		}
		if err := c.read(); err != nil {
			return nil, 0, false, err
		}
		if len(c.ends) == 0 {
			return nil, 0, false, nil
		}
	}
	key, sum = c.key(c.i), c.sums[c.i]
	c.i++
	return key, sum, true, nil
}

func (c *cursor) key(i int) []byte {
	start := 0
	if i > 0 {
		start = c.ends[i-1]
	}
	return c.keys[start:c.ends[i]:c.ends[i]]
}

// read reads the nodes that come next.
func (c *cursor) read() error {
	c.keys, c.ends, c.sums, c.i = c.keys[:0], c.ends[:0], c.sums[:0], 0
	err := c.h.view(func(tx *okra.Tx) error {
		if err := c.skip(tx); err != nil {
			return err
		}
		for n, err := range tx.Nodes(c.level, c.bounds()) {
			if err != nil {
				return err
			}
			c.keys = append(c.keys, n.Key...)
			c.ends = append(c.ends, len(c.keys))
			c.sums = append(c.sums, c.salt.sum(n.Hash, c.hash[:]))
			if len(c.ends) == c.size {
				break
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(c.ends) < c.size {
		c.done = true
	} else {
		c.from, c.after = append(c.from[:0], c.key(len(c.ends)-1)...), true
	}
	c.size = min(4*c.size, mostRead)
	return c.work.take(len(c.ends))
}

// skip moves from to the first node that may have keys in the window.
func (c *cursor) skip(tx *okra.Tx) error {
	lower := c.lower
	c.lower = nil
	if bytes.Compare(lower, c.from) <= 0 {
		return nil
	}
	if c.level == 0 {
		c.from = append(c.from[:0], lower...)
		return nil
	}
	for n, err := range tx.NodesBackward(c.level, okra.Bounds{LE: lower, GE: c.from}) {
		c.from = append(c.from[:0], n.Key...)
		return err
	}
	return nil
}

func (c *cursor) bounds() okra.Bounds {
	b := okra.Bounds{LT: c.to}
	switch {
	case c.after || c.level == 0 && len(c.from) == 0: // the anchor of level 0 is no entry
		b.GT = append([]byte{}, c.from...)
	case len(c.from) > 0:
		b.GE = c.from
	}
	return b
}

package tree

import "weak"

// Small flushes are hashed by two goroutines in the tests, as only large ones are otherwise, and
// small leaves are enough for a cache.
func init() {
	aloneMost = 32 << 10
	cacheRecord = 0
}

// SmallCache returns a Cache that forgets after some nodes of a few children.
func SmallCache() *Cache { return &Cache{most: 1, chunk: 1 << 10} }

// Knows reports whether c remembers the node with a hash.
func (c *Cache) Knows(hash []byte) bool { return c.children(hash) != nil }

// Put remembers a node as the tree does.
func (c *Cache) Put(hash, children []byte) {
	if c.serves(len(hash)) {
		c.put(nil, hash, children)
	}
}

// SmallBuffers returns Buffers whose jobs hold n bytes of child hashes, so that nodes of a few
// children are as wide as nodes of thousands are otherwise.
func SmallBuffers(n int) *Buffers {
	b := &Buffers{}
	for i := range b.jobs {
		b.jobs[i].got.Hashes = make([]byte, 0, n)
	}
	return b
}

// Settle applies the writes that wait to level 0, as a scan does before it begins.
func (t *Tree) Settle() error { return t.settle() }

// Bytes returns the size of what c holds.
func (c *Cache) Bytes() (n int) {
	for _, g := range []generation{c.young, c.old} {
		for _, chunk := range g.chunks {
			n += len(chunk)
		}
	}
	return n
}

// Held returns what tells whether the memory for sorting writes, and that for deletes and mended
// leaves, is still there.
func (b *Buffers) Held() (refs weak.Pointer[ref], batch weak.Pointer[byte]) {
	return weak.Make(&b.refs[:1][0]), weak.Make(&b.deletes.buf[:1][0])
}

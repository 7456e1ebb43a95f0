package tree

import (
	"bytes"
	"encoding/binary"
)

// A Cache remembers nodes: the hashes of their children, joined, by the hash of the node. So when
// some children of a node change, its new hash is taken without reading the others, which may
// lie on as many pages.
//
// What it holds is true of any tree whose hashes have the same length, whoever wrote it and
// whatever became of the transaction, since a hash names its children. One goroutine at a
// time may use it, through any number of trees. A nil Cache remembers nothing.
type Cache struct {
	k          int // length of the hashes held; set by the first Tree
	chunk      int // bytes of a chunk
	most       int // chunks of a generation
	young, old generation
}

// A generation holds nodes in the order in which they came. When the young one is full, the old
// one is dropped and the young one becomes old: what is used meanwhile is entered anew.
type generation struct {
	places map[uint64]uint32 // by the first bytes of the hash: place among the chunks
	chunks [][]byte
}

const (
	cacheChunk = 256 << 10
	cacheNode  = 16 << 10 // bytes of child hashes of the widest node remembered
	cachePlace = 40       // bytes of memory that a place takes, at most about

	// cacheHash is the least hash length with which nodes are remembered: shorter hashes may
	// well name two nodes.
	cacheHash = 16
)

// cacheRecord is the size in bytes from which leaves make it worth to remember their parents: of
// smaller ones, and of nodes above, a page holds so many that reading them takes less. It is a
// variable for tests.
var cacheRecord = 200

// NewCache returns an empty Cache for about limit bytes of memory, but at least half a MiB and at
// most 2 GiB, which it takes as it fills.
func NewCache(limit int) *Cache {
	return &Cache{chunk: cacheChunk, most: min(max(1, limit/2/cacheChunk), 1<<30/cacheChunk)}
}

// serves reports whether c can remember nodes with hashes of k bytes.
func (c *Cache) serves(k int) bool {
	if c == nil || k < cacheHash {
		return false
	}
	if c.k == 0 {
		c.k = k
	}
	return c.k == k
}

// An entry is: u32 length of the child hashes, node hash, child hashes.
const cacheHead = 4

func cacheKey(hash []byte) uint64 { return binary.NativeEndian.Uint64(hash) }

// find returns the entry of hash in g and on, or nil.
func (c *Cache) find(g *generation, hash []byte) []byte {
	place, ok := g.places[cacheKey(hash)]
	if !ok {
		return nil
	}
	e := g.chunks[int(place)/c.chunk][int(place)%c.chunk:]
	if !bytes.Equal(e[cacheHead:][:len(hash)], hash) {
		return nil
	}
	return e[:cacheHead+len(hash)+int(binary.NativeEndian.Uint32(e))]
}

// children returns the joined hashes of the children of the node with a hash, or nil if it is not
// known. They belong to c and are valid until the next put.
func (c *Cache) children(hash []byte) []byte {
	e := c.find(&c.young, hash)
	if e == nil {
		e = c.find(&c.old, hash)
	}
	if e == nil {
		return nil
	}
	return e[cacheHead+c.k:]
}

// put remembers the children of the node with a hash. It may forget the node with the hash was,
// in whose place this one is in the tree; was may be nil. It keeps neither slice.
func (c *Cache) put(was, hash, children []byte) {
	if len(children) > cacheNode || cacheHead+c.k+len(children) > c.chunk {
		return
	}
	g := &c.young
	if was != nil {
		if e := c.find(g, was); len(e) == cacheHead+c.k+len(children) {
			place := g.places[cacheKey(was)]
			delete(g.places, cacheKey(was))
			copy(e[cacheHead:], hash)
			copy(e[cacheHead+c.k:], children)
			g.places[cacheKey(hash)] = place
			return
		}
	}
	if c.find(g, hash) != nil {
		return
	}
	chunk, offset := c.room(cacheHead + c.k + len(children))
	e := binary.NativeEndian.AppendUint32(g.chunks[chunk], uint32(len(children)))
	e = append(e, hash...)
	g.chunks[chunk] = append(e, children...)
	g.places[cacheKey(hash)] = uint32(chunk*c.chunk + offset)
}

// room returns the chunk of the young generation that has room for n bytes, and where.
func (c *Cache) room(n int) (chunk, offset int) {
	g := &c.young
	last := len(g.chunks) - 1
	if last >= 0 && c.chunk-len(g.chunks[last]) >= n {
		return last, len(g.chunks[last])
	}
	if len(g.chunks)*c.chunk+len(g.places)*cachePlace >= c.most*c.chunk {
		c.young, c.old = c.old, c.young
		clear(g.places)
		g.chunks = g.chunks[:0]
	}
	if g.places == nil {
		g.places = make(map[uint64]uint32)
	}
	if last = len(g.chunks); last < cap(g.chunks) && cap(g.chunks[:last+1][last]) > 0 {
		g.chunks = g.chunks[:last+1] // of a generation dropped
		g.chunks[last] = g.chunks[last][:0]
	} else {
		g.chunks = append(g.chunks, make([]byte, 0, c.chunk))
	}
	return last, 0
}

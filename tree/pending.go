package tree

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
)

// pending holds the writes that wait for the next flush, in an arena of records without Go
// pointers, in the order they were made. A record is laid out as the leaf hash is taken:
//
//	u32 key length · key · u32 value length · value
//
// so that hashing needs no copy. Two value lengths that no value can have mark a delete and a
// record whose value is a hash.
type pending struct {
	chunks [][]byte // all but the last are full
	spare  [][]byte // emptied chunks of chunkSize
	n      int      // records
	bytes  int      // bytes of records
	index  []uint64 // open hash table of chunk<<32|offset+1; built by the first find
	used   int      // slots of index in use
	seed   maphash.Seed
}

const (
	chunkSize   = 256 << 10
	keepSpare   = 8 // chunks kept between transactions: 2 MiB
	markDelete  = 1<<32 - 1
	markHash    = 1<<32 - 2
	recordHead  = 8
	slotMinimum = 64
)

// A ref is the place of one record, with eight bytes of its key to sort by.
type ref struct {
	prefix uint64
	chunk  uint32
	off    uint32
}

// order compares the places of two records: the earlier write comes first.
func (r ref) order(o ref) int {
	return cmp.Or(cmp.Compare(r.chunk, o.chunk), cmp.Compare(r.off, o.off))
}

// release gives back the memory of p that only a large transaction needs.
func (p *pending) release() {
	if len(p.spare) > keepSpare {
		clear(p.spare[keepSpare:])
		p.spare = p.spare[:keepSpare]
	}
}

// reset empties p and keeps its memory.
func (p *pending) reset() {
	for _, c := range p.chunks {
		if cap(c) == chunkSize {
			p.spare = append(p.spare, c[:0])
		}
	}
	clear(p.chunks)
	p.chunks, p.n, p.bytes = p.chunks[:0], 0, 0
	p.index, p.used = nil, 0
}

// room returns the last chunk with at least n bytes of capacity left.
func (p *pending) room(n int) []byte {
	if i := len(p.chunks) - 1; i >= 0 && cap(p.chunks[i])-len(p.chunks[i]) >= n {
		return p.chunks[i]
	}
	var c []byte
	if s := len(p.spare) - 1; n <= chunkSize && s >= 0 {
		c, p.spare = p.spare[s], p.spare[:s]
	} else {
		c = make([]byte, 0, max(n, chunkSize))
	}
	p.chunks = append(p.chunks, c)
	return c
}

// add appends a record; mark is the value length, or one of the marks.
func (p *pending) add(key, value []byte, mark uint32) {
	size := recordHead + len(key) + len(value)
	c := p.room(size)
	r := ref{chunk: uint32(len(p.chunks) - 1), off: uint32(len(c))}
	c = binary.BigEndian.AppendUint32(c, uint32(len(key)))
	c = append(c, key...)
	c = binary.BigEndian.AppendUint32(c, mark)
	p.chunks[r.chunk] = append(c, value...)
	p.n++
	p.bytes += size
	if p.index != nil {
		p.insert(r)
	}
}

// A write is one decoded record of pending. Its bytes belong to the arena.
type write struct {
	key   []byte
	value []byte // the value, or the hash
	mark  uint32
	whole []byte // what the leaf hash is taken of
}

// at decodes the record at chunk and off. k is the hash length of the tree.
func (p *pending) at(chunk, off uint32, k int) write {
	b := p.chunks[chunk][off:]
	n, mark, end := layout(b, k)
	return write{
		key: b[4 : 4+n : 4+n], value: b[recordHead+n : end : end], mark: mark, whole: b[:end],
	}
}

// layout returns the length of the key and the mark of the record that b begins with, and where
// the record ends.
func layout(b []byte, k int) (n int, mark uint32, end int) {
	n = int(binary.BigEndian.Uint32(b))
	mark = binary.BigEndian.Uint32(b[4+n:])
	end = recordHead + n
	switch mark {
	case markDelete:
	case markHash:
		end += k
	default:
		end += int(mark)
	}
	return n, mark, end
}

// key decodes only the key of the record at r.
func (p *pending) key(r ref) []byte {
	b := p.chunks[r.chunk][r.off:]
	n := binary.BigEndian.Uint32(b)
	return b[4 : 4+n : 4+n]
}

// find returns the last write of key, if any waits. The first call builds an index of all
// that wait; the writes after it keep the index.
func (p *pending) find(key []byte, k int) (w write, ok bool) {
	if p.n == 0 {
		return write{}, false
	}
	if p.index == nil {
		p.seed = maphash.MakeSeed()
		p.grow(slotMinimum)
		p.each(k, p.insert)
	}
	mask := uint64(len(p.index) - 1)
	for i := maphash.Bytes(p.seed, key) & mask; p.index[i] != 0; i = (i + 1) & mask {
		r := unslot(p.index[i])
		if bytes.Equal(p.key(r), key) {
			return p.at(r.chunk, r.off, k), true
		}
	}
	return write{}, false
}

// each calls fn with the place of every record, in the order they were added.
func (p *pending) each(k int, fn func(ref)) {
	for c, b := range p.chunks {
		for off := 0; off < len(b); {
			fn(ref{chunk: uint32(c), off: uint32(off)})
			_, _, end := layout(b[off:], k)
			off += end
		}
	}
}

func slot(r ref) uint64   { return uint64(r.chunk)<<32 | uint64(r.off) + 1 }
func unslot(s uint64) ref { return ref{chunk: uint32((s - 1) >> 32), off: uint32(s - 1)} }

// insert enters the record at r in the index, in place of an earlier one of the same key.
func (p *pending) insert(r ref) {
	if 2*p.used >= len(p.index) {
		p.grow(2 * len(p.index))
	}
	key := p.key(r)
	mask := uint64(len(p.index) - 1)
	i := maphash.Bytes(p.seed, key) & mask
	for ; p.index[i] != 0; i = (i + 1) & mask {
		if bytes.Equal(p.key(unslot(p.index[i])), key) {
			p.index[i] = slot(r)
			return
		}
	}
	p.index[i] = slot(r)
	p.used++
}

// grow makes the index n slots large and enters again what it held.
func (p *pending) grow(n int) {
	old := p.index
	p.index, p.used = make([]uint64, n), 0
	for _, s := range old {
		if s != 0 {
			p.insert(unslot(s))
		}
	}
}

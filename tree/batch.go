package tree

import "encoding/binary"

// A Batch is a list of puts and deletes, or of the questions of Gather, in one flat buffer, so
// that it can be handed across a language border in one call. The zero Batch is empty and ready.
//
// Each item is: u32 value length (0xffffffff: delete, or Before), u16 key length, both in the
// machine's byte order, then the key and the value.
type Batch struct {
	buf []byte
	n   int
}

// batchHead is the length of an item before its key.
const batchHead = 6

// deleteMark stands for the value length of a delete.
const deleteMark = 1<<32 - 1

// Reset empties b and keeps its memory.
func (b *Batch) Reset() { b.buf, b.n = b.buf[:0], 0 }

// release gives back the memory of b if that is more than most bytes, as for a large value.
func (b *Batch) release(most int) {
	if cap(b.buf) > most {
		*b = Batch{}
	}
}

// Len returns the number of items.
func (b *Batch) Len() int { return b.n }

// Bytes returns the encoded items. They belong to b.
func (b *Batch) Bytes() []byte { return b.buf }

// Put appends a put of value under the key prefix·key, and returns the place of the value in
// b, to be written until b grows or is reset. A nil hash or value adds no bytes.
func (b *Batch) Put(prefix byte, key, hash, value []byte) []byte {
	b.head(uint32(len(hash)+len(value)), prefix, key)
	at := len(b.buf)
	b.buf = append(b.buf, hash...)
	b.buf = append(b.buf, value...)
	return b.buf[at:]
}

// Delete appends a delete of prefix·key.
func (b *Batch) Delete(prefix byte, key []byte) { b.head(deleteMark, prefix, key) }

// At appends a question of Gather for the run that begins at prefix·key, or one of Floor.
func (b *Batch) At(prefix byte, key []byte) { b.head(0, prefix, key) }

// Before appends a question of Gather for the run that holds the record before prefix·key.
func (b *Batch) Before(prefix byte, key []byte) { b.head(deleteMark, prefix, key) }

func (b *Batch) head(size uint32, prefix byte, key []byte) {
	b.buf = binary.NativeEndian.AppendUint32(b.buf, size)
	b.buf = binary.NativeEndian.AppendUint16(b.buf, uint16(1+len(key)))
	b.buf = append(b.buf, prefix)
	b.buf = append(b.buf, key...)
	b.n++
}

// An Item is one item of a Batch. Its bytes belong to the batch.
type Item struct {
	Key    []byte
	Value  []byte
	Delete bool // or, in a question, Before
}

// Next decodes the item at offset at and returns it with the offset of the one after it. The
// first is at 0; at the end ok is false.
func (b *Batch) Next(at int) (item Item, next int, ok bool) {
	if at >= len(b.buf) {
		return Item{}, at, false
	}
	size := binary.NativeEndian.Uint32(b.buf[at:])
	k := at + batchHead
	v := k + int(binary.NativeEndian.Uint16(b.buf[at+4:]))
	item.Key = b.buf[k:v:v]
	if size == deleteMark {
		item.Delete = true
		return item, v, true
	}
	next = v + int(size)
	item.Value = b.buf[v:next:next]
	return item, next, true
}

// Rest returns the items of b from offset at, of which there are n. It shares b's memory.
func (b *Batch) Rest(at, n int) Batch { return Batch{buf: b.buf[at:], n: n} }

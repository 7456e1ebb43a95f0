package tree

import (
	"encoding/binary"

	"github.com/zeebo/blake3"
)

// digestRoom is how many bytes a digester keeps before it hashes them.
const digestRoom = 16 << 10

// A digester hashes inputs of any length in bounded memory, part by part.
type digester struct {
	buf     []byte         // parts that wait
	long    *blake3.Hasher // of inputs that do not fit buf; made when first needed
	spilled bool           // long has the parts before those in buf
}

// reset begins a new input.
func (d *digester) reset() { d.buf, d.spilled = d.buf[:0], false }

// add appends a part to the input. It does not keep p.
func (d *digester) add(p []byte) {
	if len(d.buf)+len(p) <= digestRoom {
		d.buf = append(d.buf, p...)
		return
	}
	if !d.spilled {
		if d.long == nil {
			d.long = blake3.New()
		}
		d.long.Reset()
		d.spilled = true
	}
	d.long.Write(d.buf) // never fails
	d.long.Write(p)
	d.buf = d.buf[:0]
}

// sum returns the hash of the input, of k bytes.
func (d *digester) sum(k int) Hash {
	if !d.spilled {
		return digest(k, d.buf)
	}
	d.long.Write(d.buf)
	d.buf = d.buf[:0]
	var sum [MaxHash]byte
	return hashOf(d.long.Sum(sum[:0])[:k])
}

// leaf returns the leaf hash of an entry, as [LeafHash] does, without a copy of a long value.
func (d *digester) leaf(k int, key, value []byte) Hash {
	d.reset()
	d.buf = binary.BigEndian.AppendUint32(d.buf, uint32(len(key)))
	d.buf = append(d.buf, key...)
	d.buf = binary.BigEndian.AppendUint32(d.buf, uint32(len(value)))
	d.add(value)
	return d.sum(k)
}

package bench

import "slices"

// Batch is the keys and values of one iteration, in the order in which both sides take them. Its
// memory is reused from iteration to iteration, so a row allocates nothing for them while it is
// timed.
type Batch struct {
	keys      []byte // Len keys of keySize bytes
	values    []byte // Len values of valueSize bytes
	valueSize int
}

// reset makes b n entries of undefined contents.
func (b *Batch) reset(n, valueSize int) {
	b.valueSize = valueSize
	b.keys = slices.Grow(b.keys[:0], n*keySize)[:n*keySize]
	b.values = slices.Grow(b.values[:0], n*valueSize)[:n*valueSize]
}

// Len returns the number of entries.
func (b *Batch) Len() int { return len(b.keys) / keySize }

// part returns the entries from <= j < to, which share their memory with b.
func (b *Batch) part(from, to int) *Batch {
	return &Batch{
		keys:      b.keys[from*keySize : to*keySize],
		values:    b.values[from*b.valueSize : to*b.valueSize],
		valueSize: b.valueSize,
	}
}

// Key returns the key of entry j, 0 <= j < Len. The slice belongs to the batch and is valid
// until it is filled again.
func (b *Batch) Key(j int) []byte {
	return b.keys[j*keySize : (j+1)*keySize : (j+1)*keySize]
}

// Value returns the value of entry j, 0 <= j < Len; it is empty in a batch that was filled
// without values. The slice belongs to the batch and is valid until it is filled again.
func (b *Batch) Value(j int) []byte {
	return b.values[j*b.valueSize : (j+1)*b.valueSize : (j+1)*b.valueSize]
}

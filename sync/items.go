package sync

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/okradb/okra-go/okra"
)

// kind is what an item says about its key.
type kind byte

// The kinds of items. Those of a pass, which say what the answering side has:
const (
	itemValue    kind = iota // a value
	itemName                 // a leaf hash
	itemTooLarge             // a leaf hash, and the size of a value that is over the limit
)

// The kind with which the asking side names a key of its own, to learn what the other has there.
const itemAsked kind = 3

// The kinds of changes that the asking side sends. A change is made only where the key is still
// as it was compared.
const (
	changeAdd    kind = iota + 4 // a value, where there is none
	changePut                    // a value, in place of the one with a hash
	changeDelete                 // in place of the value with a hash
)

func (k kind) hasValue() bool { return k == itemValue || k == changeAdd || k == changePut }
func (k kind) hasHash() bool {
	return k == itemName || k == itemTooLarge || k == changePut || k == changeDelete
}

// item is a key with what is said about it.
type item struct {
	kind  kind
	key   []byte
	hash  okra.Hash // if the kind has one
	size  int64     // of the value
	value []byte
	check uint32 // of the leaf hash, if there is a value
}

// check is the part of a leaf's sum that goes with a value, so that the receiver knows whether
// the entry is the one that the sender's tree has.
func check(sum uint64) uint32 { return uint32(sum) }

// itemWriter writes items into frames of one type. Keys are cut by what they share with the one
// before in the frame; a value that does not fit goes on in further frames.
type itemWriter struct {
	w    *wire
	t    frameType
	body []byte
	last []byte
	n    int
}

// keyRoom is more than an item takes without its value.
const keyRoom = okra.MaxKey + 32 + 4*binary.MaxVarintLen64

func (o *itemWriter) write(i item) error {
	if len(o.body) > 0 && len(o.body)+keyRoom+len(i.value) > o.w.room() {
		if err := o.flush(); err != nil {
			return err
		}
	}
	shared := 0
	for shared < min(len(o.last), len(i.key)) && o.last[shared] == i.key[shared] {
		shared++
	}
	o.body = append(o.body, byte(i.kind))
	o.body = binary.AppendUvarint(o.body, uint64(shared))
	o.body = appendString(o.body, i.key[shared:])
	if i.kind.hasHash() {
		o.body = i.hash.Append(o.body)
	}
	if i.kind == itemTooLarge {
		o.body = binary.AppendUvarint(o.body, uint64(i.size))
	}
	o.last = append(o.last[:0], i.key...)
	o.n++
	if !i.kind.hasValue() {
		return nil
	}
	o.body = binary.LittleEndian.AppendUint32(o.body, i.check)
	o.body = binary.AppendUvarint(o.body, uint64(len(i.value)))
	n := min(len(i.value), o.w.room()-len(o.body))
	o.body = append(o.body, i.value[:n]...)
	if n == len(i.value) {
		return nil
	}
	if err := o.flush(); err != nil {
		return err
	}
	for rest := i.value[n:]; len(rest) > 0; {
		n := min(len(rest), o.w.room())
		if err := o.w.send(frameChunk, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

func (o *itemWriter) flush() error {
	if len(o.body) == 0 {
		return nil
	}
	err := o.w.send(o.t, o.body)
	o.body, o.last = o.body[:0], o.last[:0]
	return err
}

// itemReader reads the items of a sequence of frames of one type, which the frame of another
// type ends.
type itemReader struct {
	w       *wire
	t       frameType
	k       int
	window  window
	allowed func(kind) bool
	phase   string

	d      decoder
	last   []byte // key in the frame
	any    bool   // a key has been read
	before []byte // the key before
	value  []byte // of a value in more than one frame
}

// next reads the next item, whose bytes are valid until the next call. At the frame that ends
// the items ok is false, and that frame is the next to receive.
func (r *itemReader) next() (i item, ok bool, err error) {
	for len(r.d.b) == 0 {
		t, body, err := r.w.receive(r.phase)
		if err != nil {
			return item{}, false, err
		}
		if t != r.t {
			r.w.unread()
			return item{}, false, nil
		}
		if len(body) == 0 {
			return item{}, false, fmt.Errorf("%s: %w: frame without items", r.phase, ErrProtocol)
		}
		r.d, r.last = decoder{b: body}, r.last[:0]
	}
	i, err = r.decode()
	if err != nil {
		return item{}, false, fmt.Errorf("%s: %w", r.phase, err)
	}
	return i, true, nil
}

func (r *itemReader) decode() (i item, err error) {
	d := &r.d
	i.kind = kind(d.byte("kind of an item"))
	if d.err == nil && !r.allowed(i.kind) {
		d.fail(fmt.Sprintf("item of kind %d", i.kind))
	}
	shared := int(d.uvarint(uint64(len(r.last)), "shared part of a key"))
	r.last = append(r.last[:shared], d.string(okra.MaxKey-shared, "key")...)
	i.key = r.last
	if i.kind.hasHash() {
		i.hash = d.hash(r.k)
	}
	if i.kind == itemTooLarge {
		i.size = int64(d.uvarint(math.MaxInt64, "size of a value"))
	}
	if i.kind.hasValue() {
		if b := d.bytes(4, "check of a value"); d.err == nil {
			i.check = binary.LittleEndian.Uint32(b)
		}
		i.size = int64(d.uvarint(uint64(r.w.limits.MaxValue), "size of a value"))
	}
	if d.err != nil {
		return i, d.err
	}
	switch {
	case len(i.key) == 0:
		return i, fmt.Errorf("%w: empty key", ErrProtocol)
	case r.any && string(i.key) <= string(r.before):
		return i, fmt.Errorf("%w: key %q after %q: not in order", ErrProtocol, i.key, r.before)
	case !r.window.holds(i.key):
		return i, fmt.Errorf("%w: key %q is outside of what was asked for", ErrProtocol, i.key)
	}
	r.any, r.before = true, append(r.before[:0], i.key...)
	if !i.kind.hasValue() {
		return i, nil
	}
	if i.size <= int64(len(d.b)) {
		i.value = d.bytes(int(i.size), "value")
		return i, nil
	}
	i.value, err = r.long(i.size)
	i.key = r.before
	return i, err
}

// long reads a value that goes on in further frames. It takes memory as the bytes arrive.
func (r *itemReader) long(size int64) ([]byte, error) {
	r.value = append(r.value[:0], r.d.b...)
	r.d.b = nil
	for int64(len(r.value)) < size {
		body, err := r.w.expect(frameChunk, r.phase)
		if err != nil {
			return nil, err
		}
		if len(body) == 0 || int64(len(r.value)+len(body)) > size {
			return nil, fmt.Errorf("%w: piece of a value has %d bytes", ErrProtocol, len(body))
		}
		r.value = append(r.value, body...)
	}
	return r.value, nil
}

// oneLeaf returns the hash of an entry, and what of it goes with the value.
func oneLeaf(k int, s salt, key, value []byte) (okra.Hash, uint64) {
	h := okra.LeafHash(k, key, value)
	var buf [32]byte
	return h, s.sum(h, buf[:])
}

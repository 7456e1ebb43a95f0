package tree

import (
	"errors"
	"fmt"
)

// A Tree reads and writes one tree through a Storage, within one transaction. Its reads see
// its own writes. It is used by one goroutine at a time and ends with the transaction.
//
// A write is complete, in storage and in every level, after [Tree.Flush]; the other methods
// flush by themselves what they need. If a step of a flush fails, every later call gives
// [ErrFailed] and the transaction must be aborted.
type Tree struct {
	s        Storage
	hasher   Hasher // s, if it is one
	format   Format
	rule     Rule
	readOnly bool
	buf      *Buffers
	cache    *Cache // nil if there is none for hashes of this length

	// whole says that level 0 is all there is: a bulk load put the leaves and took the levels
	// above and the header away, to be built from the leaves by the next flush.
	whole  bool
	writes uint64  // counts the calls that change entries
	moves  *uint64 // counts the steps that write to storage, of all trees of the transaction
	err    error   // why the tree can no longer be used
	lost   error   // what an iteration ended with

	ownMoves uint64 // what moves points to, unless the tree is beside another

	rec  [1]Record // the answer of a Scan for one
	crew *crew     // during a flush
}

// maxPending bounds the memory of the writes that wait, in bytes; past it they are applied.
const maxPending = 24 << 20

// pendingEach is what one write that waits costs beside its bytes: two refs to sort it by.
const pendingEach = 32

// New returns the tree of format f, from [Open] or [Create], in s. A nil buf means that the
// tree is read-only: writes give [ErrReadOnly].
func New(s Storage, f Format, buf *Buffers) *Tree {
	t := &Tree{s: s, format: f, rule: f.Rule(), readOnly: buf == nil, buf: buf}
	t.moves = &t.ownMoves
	t.hasher, _ = s.(Hasher)
	if buf != nil {
		buf.pending.reset()
	}
	return t
}

// Remember has t look for nodes in c, and enter them there, if c has none of another hash length.
func (t *Tree) Remember(c *Cache) {
	if c.serves(t.format.K) {
		t.cache = c
	}
}

// kept returns the length of the hashes to keep of the leaves that the waiting writes change, for
// the cache: 0 if the children of a node are so small, or so many of them change, that they are
// as soon read.
func (t *Tree) kept() (int, error) {
	p := &t.buf.pending
	if t.cache == nil || p.n > editedMost || p.bytes < cacheRecord*p.n {
		return 0, nil
	}
	if p.n <= jobItems {
		return t.rule.Len, nil
	}
	n, err := t.s.Count()
	if int64(p.n) > n/int64(t.format.Q)*editsMost/2 {
		return 0, err
	}
	return t.rule.Len, err
}

// Open reads the header in s and returns the format of the tree there, which must agree with
// every field of want that is set, or the error is [ErrFormat]. Without a header the error is
// [ErrNotOkra]. It writes nothing.
func Open(s Storage, want Format) (Format, error) {
	if err := want.Validate(); err != nil {
		return Format{}, err
	}
	value, ok, err := s.Get(headerLevel, nil)
	if err != nil {
		return Format{}, err
	}
	if !ok {
		return Format{}, fmt.Errorf("%w: no header", ErrNotOkra)
	}
	have, err := DecodeHeader(value)
	if err != nil {
		return Format{}, err
	}
	return agree(have, want)
}

// Create opens the tree in s as [Open] does, and makes an empty one if s has no records. It
// completes a header without a mode.
func Create(s Storage, want Format) (Format, error) {
	f, err := Open(s, want)
	if err == nil {
		value, _, err := s.Get(headerLevel, nil)
		if err != nil || len(value) == 11 {
			return f, err
		}
		return f, putHeader(s, f)
	}
	if !errors.Is(err, ErrNotOkra) {
		return Format{}, err
	}
	n, countErr := s.Count()
	if countErr != nil {
		return Format{}, countErr
	}
	if n > 0 {
		return Format{}, fmt.Errorf("%w, and it has %d other records", err, n)
	}
	f = want.withDefaults()
	var b Batch
	empty := EmptyHash(f.K)
	b.Put(0, nil, empty.Bytes(), nil)
	var effects [1]Effect
	if err := s.Apply(&b, f.Rule(), effects[:], nil); err != nil {
		return Format{}, err
	}
	return f, putHeader(s, f)
}

func putHeader(s Storage, f Format) error {
	var b Batch
	b.Put(headerLevel, nil, nil, EncodeHeader(f))
	var effects [1]Effect
	return s.Apply(&b, f.Rule(), effects[:], nil)
}

// Beside tells t that it is in one transaction with o: what either writes moves records that the
// other may be reading.
func (t *Tree) Beside(o *Tree) { t.moves = o.moves }

// Lost returns the error that an iteration over t ended with, if one did, for a caller who wants
// to be sure that none was overlooked.
func (t *Tree) Lost() error { return t.lost }

// Format returns the format of the tree; no field is zero.
func (t *Tree) Format() Format { return t.format }

// Close ends the use of t: every later call, and every iteration under way, gives err.
func (t *Tree) Close(err error) {
	if t.err == nil || errors.Is(t.err, ErrFailed) {
		t.err = err
	}
	t.writes++
}

// fail marks the transaction as dead after an error of storage in a step that writes.
func (t *Tree) fail(err error) error {
	if err == nil {
		return nil
	}
	t.err = fmt.Errorf("%w: %w", ErrFailed, err)
	return err
}

// checkKey returns the error for a key that no tree can hold.
func checkKey(key []byte) error {
	if len(key) == 0 {
		return ErrKeyEmpty
	}
	if len(key) > MaxKey {
		return fmt.Errorf("%w: it has %d bytes and begins with %x", ErrKeyTooLong, len(key), key[:16])
	}
	return nil
}

// writable returns why t cannot take a write of key.
func (t *Tree) writable(key []byte) error {
	if t.err != nil {
		return t.err
	}
	if t.readOnly {
		return ErrReadOnly
	}
	return checkKey(key)
}

// Put stores value under key, replacing what was there; in index mode it stores the leaf hash
// alone. It copies key and value. It returns [ErrKeyEmpty], [ErrKeyTooLong] or
// [ErrValueTooLong] for arguments that no tree can hold. A nil value is an empty one.
func (t *Tree) Put(key, value []byte) error {
	if err := t.writable(key); err != nil {
		return err
	}
	if uint64(len(value)) > markHash-1-MaxHash {
		return fmt.Errorf("%w: %d bytes", ErrValueTooLong, len(value))
	}
	if t.format.Mode == Index {
		h := LeafHash(t.format.K, key, value)
		return t.add(key, h.b[:h.n], markHash)
	}
	return t.add(key, value, uint32(len(value)))
}

// PutHash stores a hash of the caller's under key, in a tree of mode Index; elsewhere it
// returns [ErrMode]. A hash of other than K bytes gives [ErrHashSize]. It copies key.
func (t *Tree) PutHash(key []byte, h Hash) error {
	if err := t.writable(key); err != nil {
		return err
	}
	if t.format.Mode != Index {
		return fmt.Errorf("%w: a tree in store mode takes values, not hashes", ErrMode)
	}
	if h.Len() != t.format.K {
		return fmt.Errorf("%w: %d bytes, the tree has K=%d", ErrHashSize, h.Len(), t.format.K)
	}
	return t.add(key, h.b[:h.n], markHash)
}

// Delete removes key. It returns nil if there is no such key.
func (t *Tree) Delete(key []byte) error {
	if err := t.writable(key); err != nil {
		return err
	}
	return t.add(key, nil, markDelete)
}

func (t *Tree) add(key, value []byte, mark uint32) error {
	p := &t.buf.pending
	p.add(key, value, mark)
	t.writes++
	if p.bytes+pendingEach*p.n > maxPending {
		return t.settle()
	}
	return nil
}

// Flush applies the writes that wait and brings every level in line, so that what is in
// storage is the tree of its entries. Without writes it does nothing.
func (t *Tree) Flush() error {
	if err := t.settle(); err != nil {
		return err
	}
	if !t.whole {
		return nil
	}
	t.whole = false
	*t.moves++
	return t.fail(t.build())
}

// settle applies the writes that wait to level 0. The levels above are in line after it too,
// unless t.whole.
func (t *Tree) settle() error {
	if t.err != nil {
		return t.err
	}
	if t.readOnly || t.buf.pending.n == 0 {
		return nil
	}
	*t.moves++
	err := t.applyPending()
	t.buf.pending.reset()
	return t.fail(err)
}

// Writable reports whether t takes writes.
func (t *Tree) Writable() bool { return !t.readOnly }

package tree

import (
	"bytes"
	"fmt"
)

// leaf checks a record of level 0.
func (v *verifier) leaf(rec *Record) error {
	k, store := v.t.format.K, v.t.format.Mode == Store
	key := rec.Key[1:]
	if len(key) == 0 {
		return v.hashOnly(rec, EmptyHash(k))
	}
	v.leaves++
	if len(rec.Value) < k {
		return v.hashOnly(rec, Hash{})
	}
	stored := hashOf(rec.Value[:k])
	right := stored
	if store {
		right = v.digest.leaf(k, key, rec.Value[k:])
	}
	if v.ladder != nil {
		v.ladder.leaf(right)
	}
	if !store {
		return v.hashOnly(rec, Hash{})
	}
	if right != stored {
		if err := v.problem(rec, WrongHash, right); err != nil {
			return err
		}
	}
	return v.find(rec)
}

// hashOnly checks a record that holds a hash and nothing else; a zero want means any hash.
func (v *verifier) hashOnly(rec *Record, want Hash) error {
	k := v.t.format.K
	if len(rec.Value) < k {
		if err := v.problem(rec, TooShort, want); err != nil {
			return err
		}
		return v.find(rec)
	}
	if len(rec.Value) > k {
		if err := v.problem(rec, TooLong, want); err != nil {
			return err
		}
	}
	if want.n > 0 && hashOf(rec.Value[:k]) != want {
		if err := v.problem(rec, WrongHash, want); err != nil {
			return err
		}
	}
	return v.find(rec)
}

// find looks a record up by its key, which takes another way through the storage than to read
// it in order.
func (v *verifier) find(rec *Record) error {
	value, ok, err := v.t.s.Get(rec.Key[0], rec.Key[1:])
	if err != nil {
		return err
	}
	if !ok || !sameBytes(value, rec.Value) {
		return v.problem(rec, Hidden, Hash{})
	}
	return nil
}

// sameBytes reports whether a and b are equal. Mostly they are the same memory.
func sameBytes(a, b []byte) bool {
	if len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] {
		return true
	}
	return bytes.Equal(a, b)
}

// problem reports a problem of a record, which has no value if it is not there.
func (v *verifier) problem(rec *Record, kind Kind, right Hash) error {
	p := Problem{Level: int(rec.Key[0]), Kind: kind, Right: right}
	if len(rec.Key) > 1 {
		p.Key = bytes.Clone(rec.Key[1:])
	}
	if k := v.t.format.K; len(rec.Value) >= k && p.Level != HeaderLevel {
		p.Stored = hashOf(rec.Value[:k])
	}
	return v.report(p)
}

// beyond reports what is stored above the level of the root. The reference leaves an anchor
// there, over the anchor of level 0, when the last entry goes.
func (v *verifier) beyond(root byte) error {
	from := []byte{root + 1}
	if root == 0 {
		var recs [2]Record
		n, err := v.t.s.Scan(AtOrAfter, from, []byte{headerLevel}, recs[:])
		if err != nil {
			return err
		}
		k := v.t.format.K
		empty := EmptyHash(k)
		left := NodeHash(k, empty.b[:k])
		if n == 1 && len(recs[0].Key) == 1 && bytes.Equal(recs[0].Value, left.b[:k]) &&
			recs[0].Key[0] == 1 {
			return nil
		}
	}
	return v.allStray(from, []byte{headerLevel})
}

// allStray reports every record from a key to another, nil for the end of the table.
func (v *verifier) allStray(from, to []byte) error {
	left := v.records(from, to)
	defer left.close()
	return v.drain(left, nil)
}

// records reads the records of a range in order, and sees to it that they are.
type records struct {
	v    *verifier
	from []byte
	s    scanner
	recs []Record // those read that are left
	last []byte   // the key of the one before
	end  bool
}

// records returns the records from a key to another. They must be closed.
func (v *verifier) records(from, to []byte) *records {
	return &records{v: v, from: from, s: v.t.scan(AtOrAfter, from, to)}
}

func (r *records) close() { r.s.close() }

// peek returns the next record without moving on, nil at the end. Its bytes are valid until
// something writes.
func (r *records) peek() (*Record, error) {
	if len(r.recs) == 0 && !r.end {
		if err := r.read(); err != nil {
			return nil, err
		}
	}
	if r.end {
		return nil, nil
	}
	return &r.recs[0], nil
}

// skip moves on from the record that peek returned, which stays valid until the next peek.
func (r *records) skip() { r.recs = r.recs[1:] }

// next returns the next record and moves on.
func (r *records) next() (*Record, error) {
	rec, err := r.peek()
	if rec != nil {
		r.skip()
	}
	return rec, err
}

// read fetches more records.
func (r *records) read() error {
	recs, err := r.s.read()
	if err != nil {
		return err
	}
	r.recs, r.end = recs, len(recs) == 0
	for i := range recs {
		key := recs[i].Key
		if bytes.Compare(key, r.from) < 0 || r.last != nil && bytes.Compare(key, r.last) <= 0 {
			return fmt.Errorf("%w: record %x comes out of order, after %x", ErrCorrupt, key, r.last)
		}
		r.last = key
	}
	if r.v.watch != nil && len(recs) > 0 {
		return r.v.watch(int64(len(recs)))
	}
	return nil
}

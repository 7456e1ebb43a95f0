package tree

import (
	"bytes"
	"errors"
	"fmt"
)

// A Rebuilt says what [Tree.Rebuild] found and made.
type Rebuilt struct {
	Entries int64 // in the tree

	// Wrong is the number of those whose leaf did not fit: in store mode its hash was not that
	// of key and value, in index mode something followed the hash. Dropped is the number of
	// records of level 0 that were too short for a leaf. They are gone.
	Wrong, Dropped int64

	// Before is the root as it was stored, After the one of the tree as it is. Before is the zero
	// Root if it could not be read.
	Before, After Root

	// Level1 says that level 1, as it was stored, was that of the leaves' stored hashes, or not
	// there over no leaves: so no leaf came, went, or changed its hash since it was written.
	Level1 bool
}

// Trusted reports whether something stored vouches for every entry: the old root is that of the
// entries, or else every leaf fits and level 1 is that of the leaves.
func (r Rebuilt) Trusted() bool {
	return r.Before == r.After || r.Level1 && r.Wrong == 0 && r.Dropped == 0
}

// Rebuild makes every level again from the records of level 0, and the header, and takes away
// whatever else is in the table. Afterwards the table is that of a sound tree, in any case.
//
// In store mode it takes key and value for right and the leaf's hash from them. Where that is not
// the stored one, either may have been damaged, and the leaf alone cannot tell which. In index
// mode there is no value and it keeps the hash. A record too short for a hash is no entry and is
// dropped.
//
// Before it writes, it calls found with the problem of each such leaf; an error of found is
// returned, and nothing has been written. A nil found is not called. [Rebuilt.Trusted] says
// whether the entries could be trusted altogether: a leaf that is missing, or that somebody
// added, has no problem of its own. If Wrong and Dropped are all there were, K or the mode in the
// header are likely to be wrong, and the transaction should be aborted rather than committed.
//
// A table that does not find its own records gives [ErrCorrupt], and nothing has been written:
// then [Tree.Salvage] may still read its entries, for a new table.
//
// It is to be called before other writes of its transaction, since those repair the damaged tree
// when they are flushed, which may fail. It reads level 0 up to three times, in bounded memory
// but for one value at a time, and writes all levels above.
func (t *Tree) Rebuild(found func(Problem) error, w Watch) (Rebuilt, error) {
	if t.err == nil && t.readOnly {
		return Rebuilt{}, ErrReadOnly
	}
	if err := t.Flush(); err != nil {
		return Rebuilt{}, err
	}
	r, mend, err := t.survey(found, w)
	if err != nil {
		return r, err
	}
	t.writes++
	if err := t.clear(); err != nil {
		return r, t.fail(err)
	}
	if mend {
		if err := t.mend(w); err != nil {
			return r, t.fail(err)
		}
	}
	if err := t.Flush(); err != nil { // builds
		return r, err
	}
	r.After, err = t.Root()
	return r, err
}

// survey reads the tree as it is, for what can be said of the leaves. It reports whether some must
// be changed.
func (t *Tree) survey(found func(Problem) error, w Watch) (r Rebuilt, mend bool, err error) {
	r.Before, err = t.Root()
	if err != nil && !errors.Is(err, ErrCorrupt) {
		return r, false, err
	}
	r.Level1 = true
	v := verifier{t: t, watch: w}
	v.report = func(p Problem) error {
		switch {
		case p.Kind == Hidden:
			return hiddenRecord(recordKey(byte(p.Level), p.Key))
		case p.Level == HeaderLevel:
			return nil
		case p.Level > 0:
			if p.Level == 1 || v.leaves == 0 {
				r.Level1 = false
			}
			return nil
		case p.Key == nil:
		case p.Kind == TooShort:
			r.Dropped++
		default:
			r.Wrong++
		}
		mend = true
		if found == nil {
			return nil
		}
		return found(p)
	}
	err = v.whole()
	if errors.Is(err, ErrTooTall) { // so the levels are; they go
		err = nil
	}
	if v.leaves == 0 && !r.Level1 { // Root looks past a record above an empty level 0
		r.Before = Root{}
	}
	r.Entries = v.leaves - r.Dropped
	return r, mend, err
}

func hiddenRecord(key []byte) error {
	return fmt.Errorf("%w: the table itself: record %x is not found by its key", ErrCorrupt, key)
}

// clear takes away all records but those of level 0, to be built by the next flush.
func (t *Tree) clear() error {
	if err := t.dropLevels(); err != nil {
		return err
	}
	b := &t.buf.deletes
	for {
		n, err := t.s.Scan(AtOrAfter, []byte{headerLevel}, nil, t.buf.records[:])
		if err != nil || n == 0 {
			return err
		}
		b.Reset()
		for _, r := range t.buf.records[:n] {
			b.Delete(r.Key[0], r.Key[1:])
		}
		effects, err := t.applyDeletes(b)
		if err != nil {
			return err
		}
		if effects[0]&Existed == 0 {
			first, _, _ := b.Next(0)
			return hiddenRecord(first.Key)
		}
	}
}

// mend puts the records of level 0 right, each from itself.
func (t *Tree) mend(w Watch) error {
	empty := EmptyHash(t.format.K)
	b := &t.buf.deletes
	b.Reset()
	b.Put(0, nil, empty.b[:empty.n], nil)
	if _, err := t.applyDeletes(b); err != nil {
		return err
	}
	var d digester
	last := []byte{0}
	for {
		n, err := t.s.Scan(After, last, []byte{1}, t.buf.records[:])
		if err != nil || n == 0 {
			return err
		}
		b.Reset()
		done := 0
		for ; done < n && len(b.Bytes()) < jobBytes; done++ {
			t.mendLeaf(b, &t.buf.records[done], &d)
		}
		last = append(last[:0], t.buf.records[done-1].Key...)
		if w != nil {
			if err := w(int64(done)); err != nil {
				return err
			}
		}
		if _, err := t.applyDeletes(b); err != nil {
			return err
		}
	}
}

// mendLeaf adds to b what puts a leaf right, if something must.
func (t *Tree) mendLeaf(b *Batch, rec *Record, d *digester) {
	k, key := t.format.K, rec.Key[1:]
	switch {
	case len(rec.Value) < k:
		b.Delete(0, key)
	case t.format.Mode == Index:
		if len(rec.Value) > k {
			b.Put(0, key, rec.Value[:k], nil)
		}
	default:
		h := d.leaf(k, key, rec.Value[k:])
		if !bytes.Equal(h.b[:k], rec.Value[:k]) {
			b.Put(0, key, h.b[:k], rec.Value[k:])
		}
	}
}

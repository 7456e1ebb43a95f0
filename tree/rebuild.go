package tree

import (
	"bytes"
	"fmt"
)

// Rebuild makes every level again from the records of level 0, and the header, and takes away
// whatever else is in the table. Afterwards the table is that of a sound tree, in any case.
//
// In store mode it takes key and value for right and the leaf's hash from them. Where that is not
// the stored one, either may have been damaged, and the leaf alone cannot tell which. In index
// mode there is no value and it keeps the hash. A record too short for a hash is no entry and is
// dropped.
//
// Before it writes, it calls found as [Tree.Survey] does; an error of found is returned, and
// nothing has been written. [Rebuilt.Trusted] says whether the entries could be trusted
// altogether: a leaf that is missing, or that somebody added, has no problem of its own. If
// Wrong and Dropped are all there were, K or the mode in the header are likely to be wrong, and
// the transaction should be aborted rather than committed. A table that does not find its own
// records gives [ErrCorrupt], and nothing has been written: then [Tree.Salvage] may still read
// its entries, for a new table.
//
// It is to be called before other writes of its transaction, since those repair the damaged tree
// when they are flushed, which may fail. It reads level 0 up to three times, in bounded memory
// but for one value at a time, and writes all levels above.
func (t *Tree) Rebuild(found func(Problem) error, w Watch) (Rebuilt, error) {
	if t.err == nil && t.readOnly {
		return Rebuilt{}, ErrReadOnly
	}
	r, err := t.Survey(found, w)
	if err != nil {
		return r, err
	}
	if r.Hidden > 0 {
		return r, fmt.Errorf("%w: %d records of the table are not found by their keys",
			ErrCorrupt, r.Hidden)
	}
	t.writes++
	*t.moves++
	if err := t.clear(); err != nil {
		return r, t.fail(err)
	}
	if err := t.putAnchor(); err != nil {
		return r, t.fail(err)
	}
	if r.Wrong+r.Dropped > 0 {
		if err := t.mend(w); err != nil {
			return r, t.fail(err)
		}
	}
	if err := t.Flush(); err != nil { // builds
		return r, err
	}
	root, err := t.Root()
	if err == nil && root != r.After {
		err = fmt.Errorf("%w: what was read is not what was built on", ErrCorrupt)
	}
	return r, t.fail(err)
}

// clear takes away all records but those of level 0, to be built by the next flush.
func (t *Tree) clear() error {
	if err := t.dropLevels(); err != nil {
		return err
	}
	b := &t.buf.deletes
	for {
		n, err := t.s.Scan(AtOrAfter, []byte{headerLevel}, nil, t.buf.answer(answerMost))
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
			return fmt.Errorf("%w: record %x is not found by its key", ErrCorrupt, first.Key)
		}
	}
}

// putAnchor puts the anchor of level 0.
func (t *Tree) putAnchor() error {
	empty := EmptyHash(t.format.K)
	b := &t.buf.deletes
	b.Reset()
	b.Put(0, nil, empty.b[:empty.n], nil)
	_, err := t.applyDeletes(b)
	return err
}

// mend puts the leaves right, each from itself.
func (t *Tree) mend(w Watch) error {
	b := &t.buf.deletes
	var d digester
	last := []byte{0}
	for {
		n, err := t.s.Scan(After, last, []byte{1}, t.buf.answer(answerMost))
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

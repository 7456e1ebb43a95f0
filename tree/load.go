package tree

import (
	"fmt"
	"iter"
)

// Load puts all entries, in any order, into an empty tree, or it returns [ErrNotEmpty]. It
// returns how many it took from the sequence, and the first error of that: then the transaction
// has failed, unless it took none. A key that comes twice keeps its last value.
//
// The leaves are written in runs of as many as memory is set aside for, in key order, and the
// levels built from the bottom up by the next flush: entries that come in key order are each
// appended, and others sorted within their run.
func (t *Tree) Load(entries iter.Seq2[Entry, error]) (n int64, err error) {
	if err := t.settle(); err != nil {
		return 0, err
	}
	if t.readOnly {
		return 0, ErrReadOnly
	}
	empty, err := t.onlyAnchor(0)
	if err != nil {
		return 0, err
	}
	if !empty {
		return 0, ErrNotEmpty
	}
	for e, err := range entries {
		if err == nil {
			err = t.putEntry(e)
		}
		if err != nil && n > 0 {
			t.fail(err)
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, t.Flush()
}

// putEntry puts an entry that may be of another tree. One of a tree in index mode has a hash and
// no value.
func (t *Tree) putEntry(e Entry) error {
	switch {
	case e.Value != nil || e.hash == nil:
		return t.Put(e.Key, e.Value)
	case t.format.Mode == Index:
		return t.PutHash(e.Key, e.Hash())
	default:
		return fmt.Errorf("load %x: %w", e.Key, ErrNoValues)
	}
}

package tree

import "iter"

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
			err = t.Put(e.Key, e.Value)
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

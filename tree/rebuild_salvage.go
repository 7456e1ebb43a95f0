package tree

import (
	"errors"
	"iter"
)

// Salvage yields the entries of a tree that may be damaged, in ascending order: what
// [Tree.Rebuild] would make entries of, without writing. It is [Tree.Range] over everything that
// leaves out the records too short for a leaf, where that ends, and looks at nothing but level 0.
// The hash of an entry is the stored one, right or wrong. Errors are those of [Tree.Verify].
func (t *Tree) Salvage() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if err := t.Flush(); err != nil {
			yield(Entry{}, err)
			return
		}
		v := verifier{t: t}
		left := v.records([]byte{0, 0}, []byte{1})
		defer left.close()
		k := t.format.K
		for {
			rec, err := left.next()
			if err != nil {
				yield(Entry{}, t.lose(err))
				return
			}
			if rec == nil {
				return
			}
			if len(rec.Value) < k {
				continue
			}
			e := Entry{Key: rec.Key[1:], hash: rec.Value[:k:k]}
			if t.format.Mode == Store {
				e.Value = rec.Value[k:]
			}
			left.s.keep(rec.Key)
			if !yield(e, nil) {
				return
			}
			if err := left.s.check(); err != nil {
				yield(Entry{}, t.lose(err))
				return
			}
			if left.s.moved() {
				left.recs, left.last = nil, left.s.last
			}
		}
	}
}

// OpenDamaged returns the format of the tree in s as [Open] does, but takes what want says for
// right, and what it leaves open from the header. If there is no header that can be read, want
// must say everything, or the error is that of Open. It writes nothing.
func OpenDamaged(s Storage, want Format) (Format, error) {
	if err := want.Validate(); err != nil {
		return Format{}, err
	}
	have, err := Open(s, Format{})
	if err == nil {
		if want.K == 0 {
			want.K = have.K
		}
		if want.Q == 0 {
			want.Q = have.Q
		}
		if want.Mode == AnyMode {
			want.Mode = have.Mode
		}
		return want, nil
	}
	known := errors.Is(err, ErrNotOkra) || errors.Is(err, ErrFormat)
	if !known || want.K == 0 || want.Q == 0 || want.Mode == AnyMode {
		return Format{}, err
	}
	return want, nil
}

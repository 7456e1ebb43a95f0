package tree

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
)

// A Watch is called now and then by long work, with the number of records read since it was
// called last. An error of it ends the work, which returns it. A nil Watch is never called.
type Watch func(records int64) error

// Verify checks every record of the table and yields what is wrong, each thing once. It reads
// level 0 once and each level above twice, keeps one record of two levels in memory, and makes
// no assumption about the number of a node's children. An error of storage, or records that do
// not come in the order of their keys (which gives [ErrCorrupt]), ends it: the error is yielded
// with a zero Problem, and [Tree.Lost] has it too. A tree without problems yields nothing. A
// write while the loop runs, to this or another tree of the transaction, gives [ErrWritten].
//
// Each level is checked against the level below it as that is stored, right or wrong:
//
//   - A leaf's hash must be that of its key and value. In index mode there is nothing to compare
//     it with, so that only its length is checked.
//   - The nodes of a level above must be the anchor and one for each boundary of the level
//     below, each with the hash of its children, where the level below has a record beside its
//     anchor; otherwise that is the root's level, and every record above it is [Stray].
//   - A record that is [TooShort] has no hash: the level above is checked without it.
//   - Every record must be found by its key as well as in order.
//   - The header must be that of [Tree.Format], or its first 10 bytes (FORMAT.md, section 4), and
//     nothing may follow it.
//
// So a value that changed is one problem, that of its leaf; a leaf's hash that changed is a
// problem of the leaf and of its parent, and not of what is above, since the parent's stored
// hash is what that was made of. A leaf that vanished shows in its parent alone.
//
// Problems of the header come first; then those of the leaves and of level 1 together, in the
// order of their keys, and then level by level upward. The state that the reference leaves
// behind when the last entry goes (FORMAT.md, section 8) is no problem. What Verify cannot see
// is a table that is the tree of other entries: an older copy, or one that somebody rewrote with
// its hashes. Only a root kept elsewhere tells.
func (t *Tree) Verify() iter.Seq2[Problem, error] { return t.VerifyWatched(nil) }

// VerifyWatched is [Tree.Verify] with a sign of life and a way to stop: see [Watch].
func (t *Tree) VerifyWatched(w Watch) iter.Seq2[Problem, error] {
	return func(yield func(Problem, error) bool) {
		err := t.Flush()
		if err == nil {
			v := verifier{t: t, watch: w}
			v.report = func(p Problem) error {
				writes, moves := t.writes, *t.moves
				switch {
				case !yield(p, nil):
					return errStopped
				case t.writes == writes && *t.moves == moves:
					return nil
				case t.err != nil:
					return t.err
				}
				return ErrWritten
			}
			err = v.whole()
		}
		if err != nil && err != errStopped {
			yield(Problem{}, t.lose(err))
		}
	}
}

// errStopped says that the caller has broken off a loop. Nobody sees it.
var errStopped = errors.New("stopped")

// A verifier checks the levels of a tree.
type verifier struct {
	t      *Tree
	watch  Watch
	report func(Problem) error

	digest digester // of a leaf
	node   digester // of the node under way
	key    []byte   // the record key of that
	leaves int64    // records of level 0 beside the anchor
	ladder *ladder  // takes the right hashes of the leaves; nil if nobody asks for them
}

// whole checks everything.
func (v *verifier) whole() error {
	if err := v.header(); err != nil {
		return err
	}
	for level := byte(0); ; level++ {
		if level == MaxLevel { // above it there is no room
			only, err := v.t.onlyAnchor(level)
			if err == nil && !only {
				err = fmt.Errorf("%w: level %d has a node", ErrTooTall, level)
			}
			return err
		}
		if top, err := v.pass(level); err != nil {
			return err
		} else if top {
			return v.beyond(level)
		}
	}
}

// header checks the header and that nothing follows it.
func (v *verifier) header() error {
	value, ok, err := v.t.s.Get(headerLevel, nil)
	if err != nil {
		return err
	}
	want := EncodeHeader(v.t.format)
	p := Problem{Level: HeaderLevel}
	switch {
	case !ok:
		p.Kind = Missing
	case !bytes.Equal(value, want) && !bytes.Equal(value, want[:10]):
		p.Kind = WrongHeader
	}
	if p.Kind != 0 {
		if err := v.report(p); err != nil {
			return err
		}
	}
	return v.allStray([]byte{headerLevel, 0}, nil)
}

// pass checks the nodes of level+1 against the records of a level, and those too on level 0. It
// reports whether the level is the root's: then it has not looked at what is above.
func (v *verifier) pass(level byte) (top bool, err error) {
	below := v.records([]byte{level}, []byte{level + 1})
	defer below.close()
	above := v.records([]byte{level + 1}, []byte{level + 2})
	defer above.close()
	v.node.reset()
	v.key = append(v.key[:0], level+1)
	anchor, beside := false, false
	for {
		rec, err := below.next()
		if err != nil {
			return false, err
		}
		isAnchor := rec != nil && len(rec.Key) == 1
		if level == 0 && !anchor && !isAnchor {
			empty := EmptyHash(v.t.format.K)
			if err := v.problem(&Record{Key: []byte{0}}, Missing, empty); err != nil {
				return false, err
			}
		}
		if rec == nil {
			break
		}
		anchor, beside = true, beside || !isAnchor
		if level == 0 {
			if err := v.leaf(rec); err != nil {
				return false, err
			}
		}
		if err := v.child(rec, above); err != nil {
			return false, err
		}
	}
	if !beside {
		return true, nil
	}
	if err := v.compare(above); err != nil {
		return false, err
	}
	return false, v.drain(above, nil)
}

// child adds a record to the node under way, and ends that before a boundary.
func (v *verifier) child(rec *Record, above *records) error {
	k := v.t.format.K
	if len(rec.Value) < k {
		return nil
	}
	if len(rec.Key) > 1 && v.t.rule.Boundary(rec.Value) {
		if err := v.compare(above); err != nil {
			return err
		}
		v.key = append(v.key[:1], rec.Key[1:]...)
		v.node.reset()
	}
	v.node.add(rec.Value[:k])
	return nil
}

// compare looks for the node under way among the records of the level above.
func (v *verifier) compare(above *records) error {
	if err := v.drain(above, v.key); err != nil {
		return err
	}
	sum := v.node.sum(v.t.format.K)
	rec, err := above.peek()
	if err != nil {
		return err
	}
	if rec == nil || !bytes.Equal(rec.Key, v.key) {
		return v.problem(&Record{Key: v.key}, Missing, sum)
	}
	above.skip()
	return v.hashOnly(rec, sum)
}

// drain reports as stray the records that are left before a record key; nil means all.
func (v *verifier) drain(left *records, key []byte) error {
	for {
		rec, err := left.peek()
		if err != nil || rec == nil || key != nil && bytes.Compare(rec.Key, key) >= 0 {
			return err
		}
		left.skip()
		if err := v.problem(rec, Stray, Hash{}); err != nil {
			return err
		}
		if err := v.find(rec); err != nil {
			return err
		}
	}
}

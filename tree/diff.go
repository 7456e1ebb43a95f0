package tree

import (
	"bytes"
	"fmt"
	"iter"
)

// A Source is a tree that [Diff] reads: a [*Tree], or what stands on one. Its sequences are as
// those of Tree are; several may be under way at once.
type Source interface {
	Format() Format
	Root() (Root, error)
	Nodes(level int, b Bounds) iter.Seq2[Node, error]
	Range(b Bounds) iter.Seq2[Entry, error]
}

// Change is how an entry differs between two trees, ours and theirs.
type Change uint8

// The changes that would make ours like theirs.
const (
	Added   Change = iota + 1 // only theirs has the key
	Removed                   // only ours has it
	Changed                   // both have it, with other leaf hashes
)

// String returns "added", "removed" or "changed".
func (c Change) String() string {
	return [...]string{Added: "added", Removed: "removed", Changed: "changed"}[c]
}

// A Delta is one key under which two trees differ. Its bytes are borrowed from the trees.
type Delta struct {
	Change Change
	Key    []byte
	Ours   Entry // zero if Added
	Theirs Entry // zero if Removed
}

// Diff yields the entries within b in which two trees differ, in ascending order of their keys.
// Where it meets nodes of the same key and hash on both sides it goes on behind them, so it reads
// the nodes that differ and their neighbours, on each level, and none of equal trees but the
// roots. On failure it yields a zero Delta with the error once, then stops. Trees of another K or
// Q give [ErrFormat]; the mode may differ, since leaf hashes do not.
//
// Neither tree may be written to while it runs.
func Diff(ours, theirs Source, b Bounds) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		d := differ{sides: [2]Source{ours, theirs}, bounds: b, yield: yield}
		if err := d.run(); err != nil && err != errStopped {
			yield(Delta{}, err)
		}
	}
}

type differ struct {
	sides  [2]Source
	bounds Bounds
	yield  func(Delta, error) bool
}

func (d *differ) run() error {
	var roots [2]Root
	for i, s := range d.sides {
		var err error
		if roots[i], err = s.Root(); err != nil {
			return err
		}
	}
	f, g := d.sides[0].Format(), d.sides[1].Format()
	if f.K != g.K || f.Q != g.Q {
		return fmt.Errorf("%w: ours is %s, theirs %s", ErrFormat, f, g)
	}
	if roots[0] == roots[1] {
		return nil
	}
	return d.level(min(roots[0].Level, roots[1].Level), Bounds{})
}

// level compares the nodes of a level that begin within span, where both sides have nodes of
// their own or end, and goes down where they differ.
func (d *differ) level(level int, span Bounds) error {
	if level == 0 {
		return d.leaves(span)
	}
	nodes := func(s Source) iter.Seq2[Node, error] { return s.Nodes(level, span) }
	ours, stop := pull(nodes(d.sides[0]))
	defer stop()
	theirs, stop := pull(nodes(d.sides[1]))
	defer stop()
	var begin []byte // where the nodes under way that differ begin
	open := false
	for {
		a, b, err := both(&ours, &theirs, func(n Node) []byte { return n.Key })
		if err != nil {
			return err
		}
		end := a == nil && b == nil
		equal := a != nil && b != nil && a.Hash == b.Hash
		if open && (equal || end) {
			sub := span
			sub.GE, sub.GT = begin, nil
			if equal {
				sub.LT, sub.LE = bytes.Clone(a.Key), nil
			}
			if err := d.down(level-1, sub); err != nil {
				return err
			}
			open = false
		}
		if end {
			return nil
		}
		if !equal && !open {
			open = true
			if a != nil {
				begin = bytes.Clone(a.Key)
			} else {
				begin = bytes.Clone(b.Key)
			}
		}
	}
}

// down goes to a lower level, unless the span lies outside the bounds asked for.
func (d *differ) down(level int, span Bounds) error {
	lower, upper := span.GE, span.LT
	b := d.bounds
	if upper != nil && (b.GE != nil && bytes.Compare(upper, b.GE) <= 0 ||
		b.GT != nil && bytes.Compare(upper, b.GT) <= 0) ||
		lower != nil && (b.LT != nil && bytes.Compare(lower, b.LT) >= 0 ||
			b.LE != nil && bytes.Compare(lower, b.LE) > 0) {
		return nil
	}
	return d.level(level, span)
}

// leaves yields the differences among the entries within span and the bounds.
func (d *differ) leaves(span Bounds) error {
	if len(span.GE) == 0 {
		span.GE = nil
	}
	within := d.bounds.and(span)
	ours, stop := pull(d.sides[0].Range(within))
	defer stop()
	theirs, stop := pull(d.sides[1].Range(within))
	defer stop()
	for {
		a, b, err := both(&ours, &theirs, func(e Entry) []byte { return e.Key })
		if err != nil {
			return err
		}
		var delta Delta
		switch {
		case a == nil && b == nil:
			return nil
		case a == nil:
			delta = Delta{Change: Added, Key: b.Key, Theirs: *b}
		case b == nil:
			delta = Delta{Change: Removed, Key: a.Key, Ours: *a}
		case !bytes.Equal(a.hash, b.hash):
			delta = Delta{Change: Changed, Key: a.Key, Ours: *a, Theirs: *b}
		default:
			continue
		}
		if !d.yield(delta, nil) {
			return errStopped
		}
	}
}

// and returns the bounds of the keys within both.
func (b Bounds) and(o Bounds) Bounds {
	return Bounds{
		GE: tighter(b.GE, o.GE, 1), GT: tighter(b.GT, o.GT, 1),
		LE: tighter(b.LE, o.LE, -1), LT: tighter(b.LT, o.LT, -1),
	}
}

// tighter returns the greater of two limits, for sign 1, or the lesser; nil is none.
func tighter(a, b []byte, sign int) []byte {
	if a == nil || b != nil && sign*bytes.Compare(b, a) > 0 {
		return b
	}
	return a
}

// A head is a sequence with its first item in hand.
type head[T any] struct {
	next func() (T, error, bool)
	item T
	ok   bool // item is in hand
	err  error
	done bool
}

// pull returns the head of a sequence, to be stopped.
func pull[T any](seq iter.Seq2[T, error]) (h head[T], stop func()) {
	h.next, stop = iter.Pull2(seq)
	return h, stop
}

// peek fetches the next item if none is in hand.
func (h *head[T]) peek() error {
	if h.ok || h.done {
		return h.err
	}
	h.item, h.err, h.ok = h.next()
	if !h.ok || h.err != nil {
		h.ok, h.done = false, true
	}
	return h.err
}

// both takes the next items of two sequences in the order of their keys: from one side, or from
// both where the keys are equal. At the end both are nil.
func both[T any](a, b *head[T], key func(T) []byte) (x, y *T, err error) {
	if err := a.peek(); err != nil {
		return nil, nil, err
	}
	if err := b.peek(); err != nil {
		return nil, nil, err
	}
	switch {
	case !a.ok && !b.ok:
		return nil, nil, nil
	case !b.ok:
		x = &a.item
	case !a.ok:
		y = &b.item
	default:
		c := bytes.Compare(key(a.item), key(b.item))
		if c <= 0 {
			x = &a.item
		}
		if c >= 0 {
			y = &b.item
		}
	}
	if x != nil {
		a.ok = false
	}
	if y != nil {
		b.ok = false
	}
	return x, y, nil
}

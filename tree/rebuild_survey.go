package tree

import "errors"

// A Rebuilt says what [Tree.Survey] found and [Tree.Rebuild] made.
type Rebuilt struct {
	Entries int64 // in the tree

	// Wrong is the number of those whose leaf did not fit: in store mode its hash was not that
	// of key and value, in index mode something followed the hash. Dropped is the number of
	// records of level 0 that are too short for a leaf and no entries.
	Wrong, Dropped int64

	// Hidden is the number of records that were not found by their keys.
	Hidden int64

	// Before is the root as it was stored, the zero Root if it could not be read. After is the
	// root of the entries.
	Before, After Root

	// Vouched says that After is Before, on a level above 0 that has nothing beside its anchor: so
	// the entries are those that the old root was made of.
	Vouched bool

	// Level1 says that level 1, as it was stored, was that of the leaves' stored hashes, or not
	// there over no leaves: so no leaf came, went, or changed its hash since it was written.
	Level1 bool
}

// Trusted reports whether something stored vouches for every entry: the old root, or else the
// leaves' own hashes together with level 1.
func (r Rebuilt) Trusted() bool {
	return r.Vouched || r.Level1 && r.Wrong == 0 && r.Dropped == 0
}

// Survey says what [Tree.Rebuild] would find and make, without writing. It calls found, if that
// is not nil, with each problem that [Tree.Verify] yields; an error of found ends it. It reads
// as Verify does, and keeps up to 26 KB for each level. Entries that need more than MaxLevel
// levels give [ErrTooTall].
func (t *Tree) Survey(found func(Problem) error, w Watch) (Rebuilt, error) {
	r := Rebuilt{Level1: true}
	var err error
	if r.Before, err = t.Root(); err != nil && !errors.Is(err, ErrCorrupt) {
		return r, err
	}
	v := verifier{t: t, watch: w, ladder: &ladder{rule: t.rule}}
	v.report = func(p Problem) error {
		switch {
		case p.Kind == Hidden:
			r.Hidden++
		case p.Level == HeaderLevel:
		case p.Level > 0:
			r.Level1 = r.Level1 && p.Level > 1 && v.leaves > 0
		case p.Key == nil:
		case p.Kind == TooShort:
			r.Dropped++
		default:
			r.Wrong++
		}
		if found == nil {
			return nil
		}
		return found(p)
	}
	err = v.whole()
	r.Entries = v.leaves - r.Dropped
	if err != nil && !errors.Is(err, ErrTooTall) { // if what is stored is, that says nothing
		return r, err
	}
	if r.After, err = v.ladder.root(); err != nil || r.After != r.Before || r.After.Level == 0 {
		return r, err
	}
	r.Vouched, err = t.onlyAnchor(byte(r.After.Level)) // else it was not the root, but lost that
	return r, err
}

// A ladder makes the root of leaves that come in order, in bounded memory: of each level it has
// the node under way.
type ladder struct {
	rule  Rule
	rungs []*rung
	err   error
}

// A rung is one level of a ladder.
type rung struct {
	anchor Hash     // of the level
	beside bool     // it has a node beside its anchor
	node   digester // of the node under way on the level above
	begun  bool     // that is not the first, the anchor
}

// begin puts the anchor of the next level.
func (l *ladder) begin(anchor Hash) {
	if len(l.rungs) > MaxLevel {
		l.err = ErrTooTall
		return
	}
	r := &rung{anchor: anchor}
	r.node.add(anchor.b[:l.rule.Len])
	l.rungs = append(l.rungs, r)
}

// leaf puts the next leaf.
func (l *ladder) leaf(h Hash) {
	if len(l.rungs) == 0 {
		l.begin(EmptyHash(l.rule.Len))
	}
	l.add(0, h)
}

// add puts the next node of a level that has its anchor.
func (l *ladder) add(level int, h Hash) {
	if l.err != nil {
		return
	}
	r := l.rungs[level]
	r.beside = true
	if l.rule.Boundary(h.b[:]) {
		l.end(level)
	}
	r.node.add(h.b[:l.rule.Len])
}

// end ends the node under way above a level.
func (l *ladder) end(level int) {
	r := l.rungs[level]
	h := r.node.sum(l.rule.Len)
	r.node.reset()
	if r.begun {
		l.add(level+1, h)
		return
	}
	r.begun = true
	l.begin(h)
}

// root returns the root over all leaves. Nothing can be put after it.
func (l *ladder) root() (Root, error) {
	if len(l.rungs) == 0 {
		l.begin(EmptyHash(l.rule.Len))
	}
	for level := 0; ; level++ {
		if l.err != nil {
			return Root{}, l.err
		}
		if r := l.rungs[level]; !r.beside {
			return Root{Level: level, Hash: r.anchor}, nil
		}
		l.end(level)
	}
}

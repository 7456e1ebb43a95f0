package sync

import (
	"math"

	"github.com/okradb/okra-go/okra"
)

// few nodes are listed at once, rather than those above them.
const few = 32

// openLevel returns the level to open with: the highest with a few nodes in the window, so that
// the list is small and what is equal is not looked into.
func (p *pass) openLevel() (int, error) {
	for level := p.h.root.Level; level > 0; level-- {
		n, err := p.count(level, few/2)
		if n >= few/2 || err != nil {
			return level, err
		}
	}
	return 0, nil
}

// guess is how many entries a peer is taken to have by a side that opens with its leaves, since it
// has few. That hashes of leaves look alike is found out only behind the entries.
const guess = 1 << 20

// open sends the first list of a pass.
func (p *pass) open() error {
	p.found.reset()
	p.found.add(gap{descend: true})
	level, err := p.openLevel()
	if err != nil {
		return err
	}
	return p.list(level, true)
}

// answer sends what was found in the peer's list, with a list of our nodes one level further
// down, or more where there are few. It reports whether there is nothing more to look into.
func (p *pass) answer() (final bool, err error) {
	if p.shared && p.lopsided() {
		p.ask, p.own, p.found.deeper = true, nil, 0
	}
	if p.found.deeper == 0 {
		return true, p.list(0, false)
	}
	level := min(p.theirLevel-1, p.h.root.Level)
	for below := range level {
		n, err := p.count(below, few+1)
		if err != nil {
			return false, err
		}
		if n <= few {
			level = below
			break
		}
	}
	return false, p.list(level, false)
}

// lopsided reports whether we have so much more than the peer in the gaps that were found, that
// neither our nodes there nor our keys are worth listing to find out about the peer's.
// Of leaves that were compared few are on both sides.
func (p *pass) lopsided() bool {
	many := uint64(bounds.many)
	if p.theirLevel == 0 {
		many /= 4
	}
	return p.ours > many*(p.theirs+few)
}

// count returns the number of nodes of a level in the gaps that were found, or limit if it is
// less.
func (p *pass) count(level int, limit int) (n int, err error) {
	for g := range p.found.all() {
		if n >= limit {
			break
		}
		if !g.descend {
			continue
		}
		c := &p.nodes
		c.reset(level, g.from, g.to, p.window)
		for n < limit {
			_, _, ok, err := c.next()
			if err != nil {
				return 0, err
			}
			if !ok {
				break
			}
			n++
		}
	}
	return n, nil
}

// list sends the gaps found and lists our nodes of a level in those that are to be looked into.
func (p *pass) list(level int, first bool) error {
	head := listHead{final: p.found.deeper == 0, ask: p.ask, compared: p.compared, sum: p.sum, level: level}
	if !head.final {
		pairs, err := p.measure(level, first)
		if err != nil {
			return err
		}
		head.width = width(pairs, p.wider)
	}
	if p.own != nil {
		p.window.cut(p.own.over)
	}
	if string(p.window.upper) != string(p.told) {
		head.cut = p.window.upper
	}
	p.told = p.window.upper
	w := writeList(p.w, head)
	for g := range p.found.all() {
		if !first {
			if err := w.gap(g.skip, g.length, g.descend && !head.final); err != nil {
				return err
			}
		}
		if !g.descend || head.final {
			continue
		}
		c := &p.nodes
		c.reset(level, g.from, g.to, p.window)
		for {
			_, sum, ok, err := c.next()
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			if err := w.hash(sum); err != nil {
				return err
			}
		}
		if err := w.cut(false); err != nil {
			return err
		}
	}
	p.listed, p.found = p.found, p.listed
	p.level, p.within = level, p.window
	return w.end()
}

// measure counts the nodes of a level that are to be listed, and cuts the window where they
// would be too many. It returns how many pairs of different nodes, one of each side, are
// likely to be compared by their short hashes.
func (p *pass) measure(level int, first bool) (pairs float64, err error) {
	q := float64(p.h.format().Q)
	total := 0
	for g := range p.found.all() {
		if !g.descend {
			continue
		}
		c := &p.nodes
		c.reset(level, g.from, g.to, p.window)
		n := 0
		for {
			key, _, ok, err := c.next()
			if err != nil {
				return 0, err
			}
			if !ok {
				break
			}
			if total+n >= bounds.list {
				p.window.cut(key)
				break
			}
			n++
		}
		total += n
		// Of the leaves of a node most are equal; of nodes above anything may be.
		differ := float64(n)
		if level == 0 {
			differ = min(differ, 1+3*differ/q)
		}
		if first && level == 0 {
			differ = guess
		}
		pairs += float64(n) * differ
	}
	return pairs, nil
}

// width returns the bytes of a short hash so that two nodes that differ are seldom alike: once
// in 4096 lists of one pair, and in proportion to the fourth root of the number of pairs. That
// it happens is found out, and costs the pass.
func width(pairs float64, wider int) int {
	bits := 12 + 0.75*math.Log2(max(pairs, 1))
	return min(max(int(math.Ceil(bits/8)), 1)+wider, 8)
}

// appended reports whether the peer's tree is ours up to its last key, so that all it lacks is
// behind that. Nothing is sent to find out.
func (p *pass) appended(theirs okra.Root, last []byte) (yes bool, err error) {
	err = p.h.view(func(tx *okra.Tx) error {
		root, err := tx.RootThrough(last)
		yes = root == theirs
		return err
	})
	return yes, err
}

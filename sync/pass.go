package sync

import (
	"bytes"
	"errors"
	"fmt"
	"math"
)

// bounds are those of the memory and the work of a pass. A pass that would need more ends at a
// key, and the next begins there. Only tests change them.
var bounds = struct {
	gaps    int // bytes of gaps that are to be looked into
	keys    int // bytes of the keys that only one side has
	list    int // hashes in one list
	scan    int // nodes of ours that are compared with one list
	span    int // hashes of the peer's that a matcher knows at once
	names   int // bytes of names that are taken when they have to be kept
	decided int // bytes of what is decided about these
	least   int // bytes from the peer in a pass which that ends early; fewer are suspicious
	many    int // times as many nodes in the gaps of a list, from which on the few are named

	batchBytes, batchItems int // of one transaction
}{
	gaps:    512 << 10,
	keys:    9 << 18,
	list:    2 << 20,
	scan:    4 << 20,
	span:    1 << 15,
	names:   1 << 20,
	decided: 1 << 20,
	least:   4 << 10,
	many:    16,

	batchBytes: 1 << 20,
	batchItems: 8 << 10,
}

// errAlike says that nodes that differ have been taken for equal.
var errAlike = errors.New("two short hashes are alike")

// pass is the search for what differs within a window of keys, as one side sees it. Both sides
// do the same in turn: compare the peer's list with their own nodes, and list what is below.
type pass struct {
	w      *wire
	h      *held
	salt   salt
	wider  int // bytes that the hashes of both sides are longer than needed, after two were alike
	window window
	told   []byte // the upper end of the window that the peer knows
	ended  []byte // where the peer has ended it; nil if it has not

	own    *keySet // the keys that only we have; nil if nobody asks
	shared bool    // those of them that lie where the peer has nothing are not asked for
	ask    bool    // the asking side is to name its keys instead

	listed gaps   // our nodes that the peer knows: those of level in these gaps
	level  int    // MaxInt before the first list
	within window // as it was then

	theirLevel int // of the peer's last list

	found    gaps   // in the peer's last list
	seen     uint64 // hashes of it that were read
	at       uint64 // where the last gap found ended
	compared uint64 // hashes that were compared, all unless it was stopped
	sum      uint64 // of the nodes that we have, too
	scanned  int    // nodes of ours that were compared
	stopped  bool   // there were too many gaps or nodes: nothing is found from a key on

	// Nodes of the last list's level in gaps where both sides have some.
	ours, theirs uint64

	nodes, leaves, again cursor
	match                matcher
	stretch              stretch
}

func newPass(w *wire, h *held, work *Budget, s salt, win window) *pass {
	p := &pass{w: w, h: h, salt: s, window: win, told: win.upper, level: math.MaxInt}
	for _, c := range []*cursor{&p.nodes, &p.leaves, &p.again} {
		c.h, c.work, c.salt = h, work, s
	}
	return p
}

// find answers a list that has been read, and so on in turns with the peer until one side has
// nothing more to look into.
func (p *pass) find() error {
	final, err := p.answer()
	if final || err != nil {
		return err
	}
	return p.look()
}

// look reads the peer's list, and then finds as find does.
func (p *pass) look() error {
	final, err := p.read(false)
	if final || err != nil {
		return err
	}
	return p.find()
}

// listing walks again over the nodes that we have listed, as the peer names gaps in them.
type listing struct {
	p    *pass
	c    *cursor
	next int // offset of the next of p.listed
	to   []byte
	open bool // a gap of p.listed is being walked over

	key   []byte // the node that was peeked at
	sum   uint64
	have  bool
	taken uint64
}

// peek makes the next node known. A gap's end is known by new.
func (l *listing) peek() (ok, fresh bool, err error) {
	if l.have {
		return true, false, nil
	}
	for {
		if l.open {
			l.key, l.sum, l.have, err = l.c.next()
			if l.have || err != nil {
				return l.have, fresh, err
			}
			l.open = false
		}
		g, next, ok := l.p.listed.at(l.next)
		if !ok {
			return false, true, nil
		}
		l.next, fresh = next, true
		if g.descend {
			l.c.reset(l.p.level, g.from, g.to, l.p.within)
			l.to, l.open = g.to, true
		}
	}
}

// skip passes over n nodes that both sides have, and adds up their sums.
func (l *listing) skip(n uint64) (sum uint64, err error) {
	for ; n > 0; n-- {
		ok, _, err := l.peek()
		if err != nil {
			return 0, err
		}
		if !ok {
			return 0, fmt.Errorf("%s: %w: it names more nodes than were listed", listPhase, ErrProtocol)
		}
		sum += l.sum
		l.have = false
		l.taken++
	}
	return sum, nil
}

// gap passes over n nodes, which must lie in one gap of those listed, and returns the range of
// their keys.
func (l *listing) gap(n uint64) (from, to []byte, err error) {
	if n == 0 {
		return nil, nil, fmt.Errorf("%s: %w: gap of no node", listPhase, ErrProtocol)
	}
	for i := range n {
		ok, fresh, err := l.peek()
		if err != nil {
			return nil, nil, err
		}
		if !ok || fresh && i > 0 {
			return nil, nil, fmt.Errorf("%s: %w: it names a gap of more nodes than were listed there", listPhase, ErrProtocol)
		}
		if i == 0 {
			from = bytes.Clone(l.key)
		}
		l.have = false
		l.taken++
	}
	to = l.to
	if ok, fresh, err := l.peek(); err != nil {
		return nil, nil, err
	} else if ok && !fresh {
		to = bytes.Clone(l.key)
	}
	return from, to, nil
}

// read reads the peer's list and compares it with our nodes. It reports whether the peer has
// nothing more to look into. In the first list of a pass all is one gap.
func (p *pass) read(first bool) (final bool, err error) {
	r, err := readList(p.w)
	if err != nil {
		return false, err
	}
	err = p.learn(r, first)
	if errors.Is(err, errMoved) || errors.Is(err, errAlike) {
		// The pass begins again.
		if err := r.forget(); err != nil {
			return false, err
		}
	}
	return r.final, err
}

// forget reads all that the peer sends until it is our turn: while one side sends, the other
// must not.
func (r *listReader) forget() error {
	if err := r.skip(); err != nil || !r.final || r.ask || !r.w.asking {
		return err
	}
	return skipItems(r.w)
}

// skipItems reads items that are of no use up to their end.
func skipItems(w *wire) error {
	for {
		t, _, err := w.receive("receive entries")
		switch {
		case err != nil:
			return err
		case t == frameDone:
			return nil
		case !t.carries():
			return w.unexpected(t)
		}
	}
}

// end ends the window where the peer has it end, if that is not where it ended before.
func (p *pass) end(key []byte) {
	if was := p.window.upper; key != nil && (was == nil || bytes.Compare(key, was) < 0) {
		p.window.cut(key)
		p.ended = p.window.upper
	}
}

// learn compares a list with our nodes.
func (p *pass) learn(r *listReader, first bool) error {
	if r.final && first {
		return fmt.Errorf("%s: %w: first list is the last", listPhase, ErrProtocol)
	}
	if !r.final && r.level >= p.level {
		return fmt.Errorf("%s: %w: level %d after level %d", listPhase, ErrProtocol, r.level, p.level)
	}
	if r.cut != nil && bytes.Compare(r.cut, p.window.lower) <= 0 {
		return fmt.Errorf("%s: %w: pass that ends before it begins", listPhase, ErrProtocol)
	}
	p.end(r.cut)
	p.told = p.window.upper
	p.found.reset()
	p.seen, p.at, p.sum, p.scanned, p.stopped = 0, 0, 0, 0, false
	p.ours, p.theirs, p.ask = 0, 0, r.ask
	p.theirLevel = r.level
	if first {
		r.more = true
		if err := p.compare(r, nil, nil); err != nil {
			return err
		}
		if end, err := r.fill(); err != nil {
			return err
		} else if !end {
			return fmt.Errorf("%s: %w: first list goes on behind its hashes", listPhase, ErrProtocol)
		}
	} else if err := p.follow(r); err != nil {
		return err
	}
	if !p.stopped {
		p.compared = p.seen
	}
	return nil
}

// follow reads what the peer says about the nodes that we have listed.
func (p *pass) follow(r *listReader) error {
	l := &listing{p: p, c: &p.again}
	var sum uint64
	for {
		g, ok, err := r.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		s, err := l.skip(g.skip)
		if err != nil {
			return err
		}
		sum += s
		from, to, err := l.gap(g.length)
		if err != nil {
			return err
		}
		if !g.descend && p.level == 0 {
			err = p.addLeaves(from, to, g.length)
		} else if !g.descend {
			err = p.addAlone(from, to, false)
		} else {
			err = p.compare(r, from, to)
		}
		if err != nil {
			return err
		}
	}
	if r.compared < l.taken {
		return fmt.Errorf("%s: %w: it has compared %d nodes and names %d", listPhase, ErrProtocol, r.compared, l.taken)
	}
	s, err := l.skip(r.compared - l.taken)
	if err != nil {
		return err
	}
	if sum += s; sum != r.sum {
		return errAlike
	}
	return nil
}

// compare compares the peer's hashes of a gap with our nodes within [from, to), and notes the
// gaps in which they differ.
func (p *pass) compare(r *listReader, from, to []byte) error {
	if err := p.match.reset(r); err != nil {
		return err
	}
	base := p.seen
	end, err := p.align(r.level, base, from, to)
	if err != nil {
		return err
	}
	total, err := p.match.rest()
	if err != nil {
		return err
	}
	p.seen = base + total
	if p.stopped {
		return nil
	}
	if total > p.stretch.theirs || p.stretch.ours > 0 {
		if err := p.note(r.level, base+p.stretch.theirs, total-p.stretch.theirs, end); err != nil {
			return err
		}
	}
	if p.full() {
		p.stop(p.seen, end)
	}
	return nil
}

// full reports whether no more can be compared with this list.
func (p *pass) full() bool { return len(p.found.buf) > bounds.gaps || p.scanned >= bounds.scan }

// stop ends the window at key, below which everything has been found, with so many of the peer's
// nodes compared. Without a key all has been.
func (p *pass) stop(compared uint64, key []byte) {
	if key != nil {
		p.stopped, p.compared = true, compared
		p.window.cut(key)
	}
}

// stretch is where a gap begins, while it is not known where it ends.
type stretch struct {
	theirs uint64 // position in the peer's hashes
	ours   int    // nodes of ours since then
	from   []byte // the key of the first of these
}

// align walks over our nodes within [from, to) and notes the gaps between those that the peer
// has listed, too. What is left at the end is in p.stretch, and ends before the key returned.
func (p *pass) align(level int, base uint64, from, to []byte) (end []byte, err error) {
	p.stretch = stretch{from: append(p.stretch.from[:0], from...)}
	if p.stopped {
		return to, nil
	}
	if level > p.h.root.Level {
		// We have no such nodes, and so at most one gap.
		ok, err := p.occupied(from, to)
		p.stretch.ours = int(bit(ok))
		return to, err
	}
	c := &p.nodes
	c.reset(level, from, to, p.window)
	for {
		key, sum, ok, err := c.next()
		if !ok || err != nil {
			return to, err
		}
		if p.scanned >= bounds.scan {
			return key, nil // the rest of the peer's nodes may lie before or behind it
		}
		p.scanned++
		pos, ok, err := p.match.find(sum, p.stretch.theirs)
		if err != nil {
			return nil, err
		}
		if !ok {
			if p.stretch.ours++; p.stretch.ours == 1 {
				p.stretch.from = append(p.stretch.from[:0], key...)
			}
			continue
		}
		if pos > p.stretch.theirs || p.stretch.ours > 0 {
			if err := p.note(level, base+p.stretch.theirs, pos-p.stretch.theirs, key); err != nil {
				return nil, err
			}
		}
		p.stretch.theirs, p.stretch.ours = pos+1, 0
		p.sum += sum
		if len(p.found.buf) > bounds.gaps {
			// Nothing is known of the nodes behind this one.
			p.stop(base+pos+1, key)
			return key, nil
		}
	}
}

// occupied reports whether we have an entry within [from, to) and the window.
func (p *pass) occupied(from, to []byte) (yes bool, err error) {
	c := &p.nodes
	c.reset(0, from, to, p.window)
	_, _, yes, err = c.next()
	return yes, err
}

// note notes a gap, which ends before our key to: so many nodes of the peer's, and p.stretch's of
// ours.
func (p *pass) note(level int, at, theirs uint64, to []byte) error {
	both := theirs > 0 && p.stretch.ours > 0
	if both {
		p.ours, p.theirs = p.ours+uint64(p.stretch.ours), p.theirs+theirs
	}
	if theirs > 0 {
		g := gap{skip: at - p.at, length: theirs, descend: both && level > 0}
		if g.descend {
			g.from, g.to = p.stretch.from, to
		}
		p.found.add(g)
		p.at = at + theirs
	}
	switch {
	case p.stretch.ours == 0 || both && level > 0 || p.own == nil:
		return nil
	case both:
		return p.addLeaves(p.stretch.from, to, uint64(p.stretch.ours))
	}
	return p.addAlone(p.stretch.from, to, level == 0 && p.stretch.ours == 1)
}

// addAlone is add where the peer has nothing.
func (p *pass) addAlone(from, to []byte, one bool) error {
	if p.shared {
		return nil
	}
	return p.add(from, to, one)
}

// addLeaves adds our n keys within [from, to), between which the peer may have others: one by one
// if they are few, or fit well, else as a range that holds those of the peer's, too.
func (p *pass) addLeaves(from, to []byte, n uint64) error {
	if p.own != nil && n > 1 && (n <= few || n <= uint64(p.own.room()/64)) {
		return p.addEach(from, to)
	}
	return p.add(from, to, n == 1)
}

// add notes that only we have what lies within [from, to), which is one key if one says so.
func (p *pass) add(from, to []byte, one bool) error {
	if p.own == nil {
		return nil
	}
	if p.own.sums {
		return p.addEach(from, to)
	}
	p.own.add(keyRange{from: from, to: to, one: one})
	return nil
}

// addEach adds our keys within [from, to) one by one.
func (p *pass) addEach(from, to []byte) error {
	c := &p.leaves
	c.reset(0, from, to, p.window)
	for {
		key, sum, ok, err := c.next()
		if !ok || err != nil {
			return err
		}
		if !p.own.add(keyRange{from: key, one: true, sum: sum}) {
			return nil // nor would those behind it
		}
	}
}

package sync

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/okradb/okra-go/okra"
)

// errEnough ends the session of a Diff whose caller has seen enough.
var errEnough = errors.New("no more differences are wanted")

// finish brings over what a pass has found, and returns where the next has to begin, or nil.
func (c *client) finish(p *pass, win window, items bool) (next []byte, err error) {
	defer func() { c.ended = p.ended }()
	if p.own != nil {
		p.window.cut(p.own.over)
		p.own.sort()
	}
	if p.ask {
		if c.wish()&wantShared == 0 {
			return nil, fmt.Errorf("%s: %w: it asks for names", listPhase, ErrProtocol)
		}
		if items, err = c.name(p); err != nil {
			return nil, err
		}
	}
	t := &taker{c: c, p: p, decided: decisions{k: c.r.format().K}}
	if items {
		if err := t.take(); err != nil {
			return nil, err
		}
	}
	switch {
	case c.differ != nil:
		err = t.differ(nil)
	case c.dir.push:
		err = c.push(p, &t.decided)
	case c.opts.Mirror:
		err = c.prune(p)
	}
	if err != nil {
		return nil, err
	}
	if bytes.Equal(p.window.upper, win.upper) {
		return nil, nil
	}
	return p.window.upper, nil
}

// taker takes the items of a pass: it puts them here, and decides what is to be done there.
type taker struct {
	c *client
	p *pass

	batch   batch
	done    outcome
	behind  bool // the batch lies behind our last key
	decided decisions

	ours *source // of Diff: what only we have
	list []item
}

// take receives the items and applies them in batches, up to the end of the window.
func (t *taker) take() error {
	c := t.c
	in := itemReader{w: c.w, t: frameItems, k: c.r.format().K, window: window{t.p.window.lower, t.p.told}, phase: "receive entries",
		allowed: func(k kind) bool {
			return k == itemTooLarge || k == itemName && !c.values() || k == itemValue && c.values()
		}}
	for {
		i, ok, err := in.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if !t.p.window.holds(i.key) {
			continue // the next pass begins before it
		}
		if i.kind == itemValue {
			h, sum := oneLeaf(in.k, t.p.salt, i.key, i.value)
			if i.hash = h; check(sum) != i.check {
				return fmt.Errorf("receive entries: %w: value of key %q does not have the hash that the peer has for it; nothing of this batch was written; have the peer verify its store", ErrProtocol, i.key)
			}
		}
		if c.differ != nil {
			err = t.differ(&i)
		} else if t.batch.add(i) {
			err = t.flush()
		}
		if err != nil {
			return err
		}
	}
	if err := t.flush(); err != nil {
		return err
	}
	body, err := c.w.expect(frameDone, "receive entries")
	if err != nil {
		return err
	}
	end, err := decodeEnding(body, in.k)
	if err != nil {
		return fmt.Errorf("receive entries: %w", err)
	}
	if end.cut != nil && bytes.Compare(end.cut, t.p.window.lower) <= 0 {
		return fmt.Errorf("receive entries: %w: items that end before they begin", ErrProtocol)
	}
	t.p.end(end.cut)
	c.sum.PeerAfter = end.root
	return nil
}

// outcome is what a batch did, or would do.
type outcome struct {
	changes   Changes
	conflicts Conflicts
	refused   refusals
	decided   []decision
	spared    [][]byte // keys that a mirror must not delete, since the peer has them
	events    []Event
	cut       []byte // where decisions became too many
}

// flush applies the batch in one transaction.
func (t *taker) flush() error {
	c := t.c
	if len(t.batch.items) == 0 {
		return nil
	}
	write := c.dir.pull && !c.opts.DryRun
	fn := func(tx *okra.Tx) error {
		t.done = outcome{} // it may run more than once
		size := len(t.decided.buf)
		var err error
		if t.behind, err = nothingFrom(tx, t.batch.items[0].key); err != nil {
			return err
		}
		for _, i := range t.batch.items {
			if size > bounds.decided {
				t.done.cut = bytes.Clone(i.key)
				return nil
			}
			n := len(t.done.decided)
			if err := t.decide(tx, i); err != nil {
				return err
			}
			for _, d := range t.done.decided[n:] {
				size += d.bytes()
			}
		}
		return nil
	}
	var err error
	if write {
		err = c.r.update(fn)
	} else {
		err = c.r.view(fn)
	}
	if err != nil {
		return fmt.Errorf("write what was received: %w", err)
	}
	t.settle()
	t.batch.reset()
	c.show("receive entries", false)
	return c.refused.exceed(c.limits.MaxRefused)
}

// nothingFrom reports whether there is no key from one on, so that none behind it need be looked
// up: the case of a replica that is filled, or has been left behind.
func nothingFrom(tx *okra.Tx, key []byte) (bool, error) {
	for _, err := range tx.Range(okra.Bounds{GE: key}) {
		return false, err
	}
	return true, nil
}

// settle counts what the batch did, once it is committed.
func (t *taker) settle() {
	s, d := &t.c.sum, &t.done
	s.Here.add(d.changes)
	s.Conflicts.Mine += d.conflicts.Mine
	s.Conflicts.Theirs += d.conflicts.Theirs
	s.Conflicts.Merged += d.conflicts.Merged
	s.Conflicts.Left += d.conflicts.Left
	t.c.refused.join(&d.refused)
	t.p.window.cut(d.cut)
	for _, x := range d.decided {
		t.decided.add(x)
	}
	for _, k := range d.spared {
		t.p.own.spare(k)
	}
	for _, e := range d.events {
		t.c.event(e)
	}
}

// decide decides about an item, and puts its entry if it is to be ours.
func (t *taker) decide(tx *okra.Tx, i item) error {
	c, d := t.c, &t.done
	var value []byte
	var ok bool
	var err error
	if !t.behind {
		if value, ok, err = lookUp(tx, i.key); err != nil {
			return err
		}
	}
	if c.opts.Mirror && c.dir.pull {
		d.spared = append(d.spared, i.key)
	}
	var mine okra.Hash
	if ok {
		mine = okra.LeafHash(tx.Format().K, i.key, value)
	}
	switch {
	case ok && mine == i.hash:
		d.decided = appendIf(d.decided, c.dir.push, decision{key: i.key, skip: true})
		return nil
	case !ok && !c.dir.pull:
		if c.opts.Mirror {
			d.decided = append(d.decided, decision{key: i.key, hash: i.hash, delete: true})
		}
		return nil
	case c.opts.Mirror && !c.dir.pull:
		d.decided = append(d.decided, decision{key: i.key, hash: i.hash})
		return nil
	case ok && !c.opts.Mirror:
		return t.resolve(tx, i, value, mine)
	case i.kind == itemTooLarge:
		t.tooLarge(i)
		return nil
	case ok:
		var buf [32]byte
		if sum, known := t.p.own.find(i.key); !known || sum != t.p.salt.sum(mine, buf[:]) {
			t.refuse(i.key, ReasonChanged, "")
			return nil
		}
	}
	done, err := t.put(tx, i.key, i.value, ok)
	// Among what only we had it would be sent back.
	among := done && c.dir.push && t.p.own.covers(i.key)
	d.decided = appendIf(d.decided, among, decision{key: i.key, skip: true})
	return err
}

func appendIf(all []decision, yes bool, d decision) []decision {
	if yes {
		all = append(all, d)
	}
	return all
}

// resolve decides a conflict.
func (t *taker) resolve(tx *okra.Tx, i item, value []byte, mine okra.Hash) error {
	c, d := t.c, &t.done
	var merged []byte
	what := leave
	switch r := c.opts.Resolve; {
	case r.choose != nil:
		what = r.choose(mine, i.hash)
	case i.kind == itemTooLarge:
		what = takeTheirs // or something made of it
	default:
		var err error
		merged, err = r.merge(i.key, value, i.value)
		switch {
		case errors.Is(err, ErrConflict):
		case err != nil:
			return fmt.Errorf("resolve the conflict at key %q: %w", i.key, err)
		case bytes.Equal(merged, value):
			what = keepMine
		case bytes.Equal(merged, i.value):
			what = takeTheirs
		default:
			what, merged = takeMerged, clone(merged)
		}
	}
	x := decision{key: i.key, hash: i.hash}
	put := true
	var err error
	switch what {
	case leave:
		d.conflicts.Left++
		t.event(Event{Action: Conflicted, Key: i.key})
		x.skip = true
	case keepMine:
		d.conflicts.Mine++
	case takeTheirs:
		x.skip = true
		if i.kind == itemTooLarge && (c.dir.pull || c.opts.Resolve.merge != nil) {
			t.tooLarge(i)
			break
		}
		if c.dir.pull {
			put, err = t.put(tx, i.key, i.value, true)
		}
		d.conflicts.Theirs += int64(bit(put))
	case takeMerged:
		x.value = merged
		if c.dir.pull {
			put, err = t.put(tx, i.key, merged, true)
		}
		x.skip = !put // what is refused here is not sent there
		d.conflicts.Merged += int64(bit(put))
	}
	d.decided = appendIf(d.decided, c.dir.push, x)
	return err
}

// put puts an entry here, if it is accepted, and reports whether it was.
func (t *taker) put(tx *okra.Tx, key, value []byte, present bool) (bool, error) {
	d := &t.done
	if !t.c.opts.DryRun {
		reason, err := tryPut(tx, key, value, t.c.opts.Accept, &d.refused)
		if err != nil {
			return false, err
		}
		if reason != "" {
			t.event(Event{Action: Rejected, Key: key, Reason: reason})
			return false, nil
		}
	}
	e := Event{Action: Added, Key: key}
	if present {
		e.Action = Changed
		d.changes.Changed++
	} else {
		d.changes.Added++
	}
	t.event(e)
	return true, nil
}

func (t *taker) refuse(key []byte, reason Reason, detail string) {
	t.done.refused.add(reason, false, key, detail)
	t.event(Event{Action: Rejected, Key: key, Reason: reason})
}

// event keeps an event until the batch is committed.
func (t *taker) event(e Event) {
	if t.c.opts.OnEvent != nil {
		t.done.events = append(t.done.events, e)
	}
}

func (t *taker) tooLarge(i item) {
	t.refuse(i.key, ReasonTooLarge, fmt.Sprintf("%d bytes, and at most %d are taken", i.size, t.c.maxValue))
}

// differ reports differences up to an item of the peer's, or to the end if that is nil.
func (t *taker) differ(i *item) error {
	if t.ours == nil {
		t.ours = &source{r: t.c.r, keys: t.p.own, window: t.p.window, salt: t.p.salt}
	}
	for {
		if len(t.list) == 0 {
			var err error
			if t.list, err = t.ours.read(0, false); err != nil {
				return err
			}
		}
		if len(t.list) == 0 || !t.p.window.holds(t.list[0].key) {
			break
		}
		o := t.list[0]
		order := -1
		if i != nil {
			order = bytes.Compare(o.key, i.key)
		}
		if order > 0 {
			break
		}
		t.list = t.list[1:]
		if order < 0 {
			if !t.c.differ(Difference{Change: okra.Removed, Key: o.key, Ours: o.hash}) {
				return errEnough
			}
			continue
		}
		if o.hash != i.hash && !t.c.differ(Difference{Change: okra.Changed, Key: o.key, Ours: o.hash, Theirs: i.hash}) {
			return errEnough
		}
		return nil
	}
	if i != nil && !t.c.differ(Difference{Change: okra.Added, Key: i.key, Theirs: i.hash}) {
		return errEnough
	}
	return nil
}

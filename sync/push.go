package sync

import (
	"bytes"
	"fmt"

	"github.com/okradb/okra-go/okra"
)

// name names the keys that only we have, as far as is known, and reports whether there are any.
// The peer, which has many more, answers with what it has under them. It has to keep them until
// then, so where they are many the pass ends.
func (c *client) name(p *pass) (any bool, err error) {
	out := itemWriter{w: c.w, t: frameItems}
	src := source{r: c.r, keys: p.own, window: p.window, salt: p.salt}
	names := 0
	for {
		list, err := src.read(c.maxValue, false)
		if err != nil {
			return false, err
		}
		if len(list) == 0 {
			break
		}
		for _, i := range list {
			if names += len(i.key); names > bounds.names/2 && out.n > 0 {
				p.window.cut(i.key)
				break
			}
			if err := out.write(item{kind: itemAsked, key: i.key}); err != nil {
				return false, err
			}
		}
		if names > bounds.names/2 {
			break
		}
	}
	if out.n == 0 {
		return false, nil
	}
	if err := out.flush(); err != nil {
		return false, err
	}
	return true, c.w.send(frameDone, ending{root: p.h.root}.encode())
}

// push sends the peer what it is to change: what only we have, and what was decided about the
// keys that both have. Both come in ascending order of keys.
func (c *client) push(p *pass, decided *decisions) error {
	c.w.phase = "send entries"
	out := &sender{c: c, p: p, items: itemWriter{w: c.w, t: frameChanges}}
	src := source{r: c.r, keys: p.own, window: p.window, salt: p.salt}
	next, more := decided.take()
	for {
		list, err := src.read(c.maxValue, true)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			break
		}
		for _, i := range list {
			// Decisions about keys that we have not, or no longer, come before.
			for more && bytes.Compare(next.key, i.key) < 0 {
				if err := out.decision(next); err != nil {
					return err
				}
				next, more = decided.take()
			}
			var about *decision
			if more && bytes.Equal(next.key, i.key) {
				d := next
				about = &d
				next, more = decided.take()
			}
			if err := out.entry(i, about); err != nil {
				return err
			}
		}
	}
	for ; more; next, more = decided.take() {
		if err := out.decision(next); err != nil {
			return err
		}
	}
	return out.end()
}

// sender sends changes.
type sender struct {
	c       *client
	p       *pass
	items   itemWriter
	planned Changes
}

// decision sends what was decided about a key that we do not have.
func (s *sender) decision(d decision) error {
	if d.skip || !s.p.window.holds(d.key) {
		return nil
	}
	if !d.delete {
		s.refuse(d.key, ReasonChanged, "") // we had it a moment ago
		return nil
	}
	s.planned.Deleted++
	s.c.event(Event{Action: Deleted, There: true, Key: d.key})
	return s.send(item{kind: changeDelete, key: d.key, hash: d.hash})
}

// entry sends an entry of ours, as was decided about it if the peer has its key, too.
func (s *sender) entry(i item, d *decision) error {
	if d != nil && (d.skip || d.delete || d.hash == i.hash) {
		return nil
	}
	size := i.size
	if d != nil && d.value != nil {
		size = int64(len(d.value))
	}
	if size > s.c.maxValue {
		s.refuse(i.key, ReasonTooLarge, fmt.Sprintf("%d bytes, and at most %d are taken", size, s.c.maxValue))
		return nil
	}
	e := Event{Action: Added, There: true, Key: i.key}
	i.kind = changeAdd
	if d == nil {
		s.planned.Added++
	} else {
		s.planned.Changed++
		e.Action, i.kind, i.hash = Changed, changePut, d.hash
		if d.value != nil {
			i.value = d.value
			_, sum := oneLeaf(s.c.r.format().K, s.p.salt, i.key, i.value)
			i.check = check(sum)
		}
	}
	s.c.event(e)
	return s.send(i)
}

func (s *sender) refuse(key []byte, reason Reason, detail string) {
	s.c.refused.add(reason, true, key, detail)
	s.c.event(Event{Action: Rejected, There: true, Key: key, Reason: reason})
}

func (s *sender) send(i item) error {
	if s.c.opts.DryRun {
		return nil
	}
	s.c.show("send entries", false)
	return s.items.write(i)
}

// end waits for what the peer says about the changes.
func (s *sender) end() error {
	c := s.c
	if c.opts.DryRun || s.items.n == 0 {
		if c.opts.DryRun {
			c.sum.There.add(s.planned)
		}
		return c.refused.exceed(c.limits.MaxRefused)
	}
	if err := s.items.flush(); err != nil {
		return err
	}
	root, err := c.r.root()
	if err != nil {
		return err
	}
	if err := c.w.send(frameDone, ending{root: root}.encode()); err != nil {
		return err
	}
	body, err := c.w.expect(frameAck, "send entries")
	if err != nil {
		return err
	}
	a, err := decodeAck(body, c.r.format().K, s.items.n)
	if err != nil {
		return fmt.Errorf("send entries: %w", err)
	}
	c.sum.PeerAfter = a.root
	c.sum.There.add(a.made)
	c.refused.join(&a.refused)
	for _, r := range a.refused.list() {
		for _, k := range r.Keys {
			c.event(Event{Action: Rejected, There: true, Key: k, Reason: r.Reason})
		}
	}
	return c.refused.exceed(c.limits.MaxRefused)
}

// pruneKeys is how many keys are deleted in one transaction.
const pruneKeys = 4096

// prune deletes what only we have, where it is still what was compared: the last step of a
// mirror.
func (c *client) prune(p *pass) error {
	for at := 0; at < p.own.len(); {
		var deleted, changed [][]byte
		next := at
		fn := func(tx *okra.Tx) error {
			deleted, changed, next = deleted[:0], changed[:0], at // it may run more than once
			for ; next < p.own.len() && next < at+pruneKeys; next++ {
				r := p.own.at(next)
				if !p.window.holds(r.from) || r.spared {
					continue
				}
				value, ok, err := lookUp(tx, r.from)
				if err != nil {
					return err
				}
				if !ok {
					continue
				}
				if _, sum := oneLeaf(tx.Format().K, p.salt, r.from, value); sum != r.sum {
					changed = append(changed, r.from)
					continue
				}
				if !c.opts.DryRun {
					if err := tx.Delete(r.from); err != nil {
						return err
					}
				}
				deleted = append(deleted, r.from)
			}
			return nil
		}
		var err error
		if c.opts.DryRun {
			err = c.r.view(fn)
		} else {
			err = c.r.update(fn)
		}
		if err != nil {
			return fmt.Errorf("delete what the peer has not: %w", err)
		}
		at = next
		c.sum.Here.Deleted += int64(len(deleted))
		for _, k := range deleted {
			c.event(Event{Action: Deleted, Key: k})
		}
		for _, k := range changed {
			c.refused.add(ReasonChanged, false, k, "")
			c.event(Event{Action: Rejected, Key: k, Reason: ReasonChanged})
		}
		if err := c.refused.exceed(c.limits.MaxRefused); err != nil {
			return err
		}
		c.show("delete", false)
	}
	return nil
}

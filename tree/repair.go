package tree

import (
	"bytes"
	"fmt"

	"github.com/zeebo/blake3"
)

// repair brings the levels above 0 in line with the changes of level 0, each level once and
// on each the touched nodes only. It uses up list.
//
// A node of level L+1 holds the children from its own key to the next boundary of level L. So
// where a boundary went, its node goes too and the one before it takes its children; where one
// came, the node before it loses children; and every change touches the node that holds it.
// The nodes whose hash changed are the changes of the next level. It ends at a level that has
// only its anchor, the root.
func (t *Tree) repair(list *changes) error {
	next := &t.buf.raised
	for level := byte(0); list.n > 0; level++ {
		if list.nodes == 0 { // else the level has more than its anchor
			only, err := t.onlyAnchor(level)
			if err != nil {
				return err
			}
			if only {
				return t.truncate(level + 1)
			}
		}
		if level == MaxLevel {
			return ErrTooTall
		}
		if err := t.raise(level, list, next); err != nil {
			return err
		}
		list, next = next, list
	}
	return nil
}

// onlyAnchor reports whether a level has no node beside its anchor.
func (t *Tree) onlyAnchor(level byte) (bool, error) {
	n, err := t.s.Scan(After, []byte{level}, []byte{level + 1}, t.rec[:])
	return n == 0, err
}

// truncate deletes every record from a level up, but not the header.
func (t *Tree) truncate(level byte) error {
	b := &t.buf.deletes
	n, err := t.s.Scan(AtOrAfter, []byte{level}, []byte{headerLevel}, t.rec[:])
	if err != nil || n == 0 { // nearly always
		return err
	}
	for {
		n, err := t.s.Scan(AtOrAfter, []byte{level}, []byte{headerLevel}, t.buf.records[:])
		if err != nil || n == 0 {
			return err
		}
		b.Reset()
		for _, r := range t.buf.records[:n] {
			b.Delete(r.Key[0], r.Key[1:])
		}
		if _, err := t.applyDeletes(b); err != nil || n < len(t.buf.records) {
			return err
		}
	}
}

// applyDeletes applies b and returns what each item found.
func (t *Tree) applyDeletes(b *Batch) ([]Effect, error) {
	j := &t.buf.jobs[0]
	if cap(j.effects) < b.Len() {
		j.effects = make([]Effect, b.Len())
	}
	effects := j.effects[:b.Len()]
	return effects, t.s.Apply(b, t.rule, effects)
}

// raise takes the changes of a level to the level above, and sets out to its changes.
func (t *Tree) raise(level byte, in, out *changes) error {
	gone := &t.buf.gone
	gone.reset()
	if err := t.deleteVanished(level+1, in, gone); err != nil {
		return err
	}
	out.reset()
	r := &t.buf.nodes
	r.begin(t, level, in, out)
	if err := run(r, &t.buf.jobs); err != nil {
		return err
	}
	if gone.n > 0 {
		out.merge(gone, &t.buf.merged)
	}
	return nil
}

// deleteVanished deletes from a level the nodes whose boundary below is no longer one, and
// lists those that were stored in gone.
func (t *Tree) deleteVanished(level byte, in, gone *changes) error {
	b := &t.buf.deletes
	b.Reset()
	for at := 0; ; {
		ch, next, ok := in.next(at)
		if ok && ch.was && !ch.is {
			b.Delete(level, ch.key)
		}
		if b.Len() >= jobItems || !ok && b.Len() > 0 {
			effects, err := t.applyDeletes(b)
			if err != nil {
				return err
			}
			for i, at := 0, 0; i < b.Len(); i++ {
				item, next, _ := b.Next(at)
				at = next
				if effects[i]&Existed != 0 {
					gone.add(change{key: item.Key[1:], was: effects[i]&WasBoundary != 0, gone: true})
				}
			}
			b.Reset()
		}
		if !ok {
			return nil
		}
		at = next
	}
}

// nodes is the stage that rehashes the nodes of level+1 that the changes of a level touch.
type nodes struct {
	t     *Tree
	level byte
	in    *changes
	out   *changes
	at    int // offset of the next change in in
	left  int // changes from there

	starts Batch // record keys, on the lower level, of the first children of the nodes to do
	done   int   // starts done
	offset int   // where in starts the next one is
	last   []byte
	any    bool // last is the key of the latest start

	keys   Batch // questions to Floor
	floors [][]byte
}

func (r *nodes) begin(t *Tree, level byte, in, out *changes) {
	r.t, r.level, r.in, r.out = t, level, in, out
	r.at, r.left, r.done, r.offset, r.any = 0, in.n, 0, 0, false
	r.starts.Reset()
}

// fill finds the next nodes to rehash and gathers the hashes of their children.
func (r *nodes) fill(j *job) (more bool, err error) {
	j.reset()
	for r.done == r.starts.Len() {
		if r.at >= len(r.in.buf) {
			return false, nil
		}
		if err := r.findStarts(); err != nil {
			return false, err
		}
	}
	rest := r.starts.Rest(r.offset, r.starts.Len()-r.done)
	j.got.room()
	if err := r.t.s.Gather(&rest, r.t.rule, &j.got); err != nil {
		return false, err
	}
	for range j.got.Ends {
		r.take(j)
	}
	if j.got.Last != nil {
		if err := r.wide(j); err != nil {
			return false, err
		}
	}
	return r.done < r.starts.Len() || r.at < len(r.in.buf), nil
}

// take moves the next start to the batch of j, with room for its hash.
func (r *nodes) take(j *job) {
	item, next, _ := r.starts.Next(r.offset)
	j.batch.Put(r.level+1, item.Key[1:], zeroHash[:r.t.format.K], nil)
	r.offset = next
	r.done++
}

var zeroHash [MaxHash]byte

// setLast sets the hash of the last item of j's batch.
func (j *job) setLast(sum []byte) {
	b := j.batch.Bytes()
	copy(b[len(b)-len(sum):], sum)
}

// wide hashes a node whose children did not fit one answer, of any number, in one pass.
func (r *nodes) wide(j *job) error {
	var begun int
	if n := len(j.got.Ends); n > 0 {
		begun = j.got.Ends[n-1]
	}
	sum, _, err := r.t.stream(r.level, j.got.Hashes[begun:], j.got.Last)
	if err != nil {
		return err
	}
	r.take(j)
	j.setLast(sum)
	return nil
}

// stream returns the hash of a node of which the hashes in begun have been read, up to the
// child under the record key last, and the record key of the boundary that ends it, nil at the
// end of the level.
func (t *Tree) stream(level byte, begun, last []byte) (sum, next []byte, err error) {
	k := t.format.K
	h := blake3.New()
	h.Write(begun) // never fails
	from := bytes.Clone(last)
	for {
		n, err := t.s.Scan(After, from, []byte{level + 1}, t.buf.records[:])
		if err != nil {
			return nil, nil, err
		}
		for _, rec := range t.buf.records[:n] {
			if len(rec.Value) < k {
				return nil, nil, corruptRecord(rec.Key)
			}
			if t.rule.Boundary(rec.Value) {
				return h.Sum(nil)[:k], bytes.Clone(rec.Key), nil
			}
			h.Write(rec.Value[:k])
		}
		if n < len(t.buf.records) {
			return h.Sum(nil)[:k], nil, nil
		}
		from = append(from[:0], t.buf.records[n-1].Key...)
	}
}

func corruptRecord(key []byte) error {
	return fmt.Errorf("%w: record %x is shorter than its hash", ErrCorrupt, key)
}

// findStarts asks which nodes hold the next changes, and lists each node once.
func (r *nodes) findStarts() error {
	r.starts.Reset()
	r.done, r.offset = 0, 0
	r.keys.Reset()
	end := r.at
	most := share(r.left)
	for n := 0; n < most; n++ {
		ch, next, ok := r.in.next(end)
		if !ok {
			break
		}
		if !ch.is || !ch.was {
			r.keys.Key(r.level+1, ch.key)
		}
		end = next
		r.left--
	}
	if cap(r.floors) < jobItems {
		r.floors = make([][]byte, jobItems)
	}
	floors := r.floors[:r.keys.Len()]
	if err := r.t.s.Floor(&r.keys, floors); err != nil {
		return err
	}
	for r.at < end {
		ch, next, _ := r.in.next(r.at)
		r.at = next
		if !ch.is || !ch.was {
			// The node that holds ch, or held it before ch became a boundary.
			var start []byte
			if floors[0] != nil {
				start = floors[0][1:]
			}
			floors = floors[1:]
			r.start(start)
		}
		if ch.is {
			r.start(ch.key)
		}
	}
	return nil
}

// start lists the node under key, unless the list has passed it: changes come in key order,
// and where Floor does not know yet of a boundary that came, that one is in the list.
func (r *nodes) start(key []byte) {
	if r.any && bytes.Compare(key, r.last) <= 0 {
		return
	}
	r.any = true
	r.last = append(r.last[:0], key...)
	r.starts.Key(r.level, key)
}

func (r *nodes) hash(j *job) { j.hashNodes(r.t.rule) }

// hashNodes sets the hashes in the batch of j to those of the children gathered.
func (j *job) hashNodes(rule Rule) {
	at, begin := 0, 0
	for i := 0; i < j.batch.Len(); i++ {
		item, next, _ := j.batch.Next(at)
		at = next
		if i < len(j.got.Ends) { // a wide node stands after these, hashed already
			sum := blake3.Sum256(j.got.Hashes[begin:j.got.Ends[i]])
			begin = j.got.Ends[i]
			copy(item.Value, sum[:rule.Len])
		}
		j.isB = append(j.isB, rule.Boundary(item.Value))
	}
}

func (r *nodes) apply(j *job) error {
	effects := j.slots()
	if err := r.t.s.Apply(&j.batch, r.t.rule, effects); err != nil {
		return err
	}
	j.report(effects, r.out)
	return nil
}

// room empties g and gives it its memory.
func (g *Gathered) room() {
	if cap(g.Hashes) == 0 {
		g.Hashes = make([]byte, 0, jobHashes)
	}
	g.Hashes, g.Ends = g.Hashes[:0], g.Ends[:0]
	g.Last = nil
}

// merge adds the changes of o, none of whose keys c has, by way of the list tmp.
func (c *changes) merge(o, tmp *changes) {
	tmp.reset()
	a, anext, aok := c.next(0)
	b, bnext, bok := o.next(0)
	for aok || bok {
		if aok && (!bok || bytes.Compare(a.key, b.key) < 0) {
			tmp.add(a)
			a, anext, aok = c.next(anext)
		} else {
			tmp.add(b)
			b, bnext, bok = o.next(bnext)
		}
	}
	*c, *tmp = *tmp, *c
}

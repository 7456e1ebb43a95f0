package tree

import (
	"bytes"
	"fmt"
	"slices"

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
			n, err := t.s.Scan(After, []byte{level}, []byte{headerLevel}, t.rec[:])
			switch {
			case err != nil || n == 0:
				return err // the root, and nothing above
			case t.rec[0].Key[0] != level:
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
	for {
		n, err := t.s.Scan(AtOrAfter, []byte{level}, []byte{headerLevel}, t.buf.answer(answerMost))
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
	effects, _, err := t.buf.jobs[0].write(t, b, false)
	return effects, err
}

// raise takes the changes of a level to the level above, and sets out to its changes.
func (t *Tree) raise(level byte, in, out *changes) error {
	b := t.buf
	b.gone.reset(0)
	if err := t.deleteVanished(level+1, in, &b.gone); err != nil {
		return err
	}
	out.reset(0)
	if in.k > 0 { // of leaves
		b.rest.reset(in.k)
		b.known.begin(t, in, out, &b.rest)
		if err := run(&b.known, &b.jobs, t.crew); err != nil {
			return err
		}
		in = &b.rest
	}
	if in.n > 0 {
		b.others.reset(0)
		b.nodes.begin(t, level, in, &b.others)
		if err := run(&b.nodes, &b.jobs, t.crew); err != nil {
			return err
		}
		out.merge(&b.others, &b.merged)
	}
	out.merge(&b.gone, &b.merged)
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

	questions Batch
	rest      Batch  // those not answered, for the next call
	asked     int    // questions answered
	offset    int    // where in questions the next one is
	end       []byte // record key where the last node gathered ends
	ended     bool   // it ends with the level
	last      []byte // key of the last node gathered
}

func (r *nodes) begin(t *Tree, level byte, in, out *changes) {
	r.t, r.level, r.in, r.out = t, level, in, out
	r.at, r.left, r.asked, r.offset = 0, in.n, 0, 0
	r.end, r.ended, r.last = r.end[:0], false, r.last[:0]
	r.questions.Reset()
}

// fill gathers the hashes of the children of the next nodes to rehash.
func (r *nodes) fill(j *job) (more bool, err error) {
	j.reset()
	if r.asked == r.questions.Len() {
		r.ask()
	}
	j.got.room()
	r.rest = r.questions.Rest(r.offset, r.questions.Len()-r.asked)
	if err := r.t.s.Gather(&r.rest, r.t.rule, &j.got); err != nil {
		return false, err
	}
	for _, run := range j.got.Runs {
		j.batch.Put(r.level+1, run.First[1:], zeroHash[:r.t.format.K], nil)
	}
	if n := len(j.got.Runs); n > 0 {
		r.last = append(r.last[:0], j.got.Runs[n-1].First[1:]...)
		r.end = append(r.end[:0], j.got.End...)
		r.ended = j.got.End == nil
	}
	j.size = len(j.got.Hashes)
	r.pass(j.got.Done)
	if len(j.got.Runs) == 0 && r.asked < r.questions.Len() {
		if err := r.wide(j); err != nil {
			return false, err
		}
	}
	return r.asked < r.questions.Len() || r.at < len(r.in.buf), nil
}

var zeroHash [MaxHash]byte

// pass moves on by n questions.
func (r *nodes) pass(n int) {
	for range n {
		_, r.offset, _ = r.questions.Next(r.offset)
		r.asked++
	}
}

// ask lists the questions for the next changes. A change lies in the node before it, which also
// loses children where a boundary came; a boundary begins a node of its own.
func (r *nodes) ask() {
	r.questions.Reset()
	r.asked, r.offset = 0, 0
	for n := r.t.crew.share(r.left); n > 0 && r.left > 0; n-- {
		ch, next, _ := r.in.next(r.at)
		r.at = next
		r.left--
		if (!ch.is || !ch.was) && !r.passed(ch.key) {
			r.questions.Before(r.level, ch.key)
		}
		if ch.is {
			r.questions.At(r.level, ch.key)
		}
	}
}

// passed reports whether the record before key lies in the last node gathered.
func (r *nodes) passed(key []byte) bool {
	return r.ended || len(r.end) > 0 && bytes.Compare(key, r.end[1:]) <= 0
}

// wide answers the next question for a node with more children than an answer holds, of any
// number, in one pass over them. Where it begins is looked up on the level above, which does
// not know yet of a boundary that came: but then that was the last node gathered.
func (r *nodes) wide(j *job) error {
	q, _, _ := r.questions.Next(r.offset)
	start := bytes.Clone(q.Key)
	if q.Delete {
		above := bytes.Clone(q.Key)
		above[0]++
		n, err := r.t.s.Scan(Before, above, []byte{r.level + 1}, r.t.rec[:])
		if err != nil {
			return err
		}
		start = append(start[:1], r.last...)
		if n > 0 && bytes.Compare(r.t.rec[0].Key[1:], r.last) > 0 {
			start = append(start[:1], r.t.rec[0].Key[1:]...)
		}
	}
	sum, next, err := r.t.stream(r.level, start)
	if err != nil {
		return err
	}
	j.batch.Put(r.level+1, start[1:], sum, nil)
	r.last = append(r.last[:0], start[1:]...)
	r.end, r.ended = append(r.end[:0], next...), next == nil
	for r.pass(1); r.asked < r.questions.Len(); r.pass(1) {
		q, _, _ := r.questions.Next(r.offset)
		if !q.Delete || !r.passed(q.Key[1:]) {
			break
		}
	}
	return nil
}

// stream returns the hash of the node whose first child is under the record key start, and the
// record key of the boundary that ends it, nil at the end of the level.
func (t *Tree) stream(level byte, start []byte) (sum, next []byte, err error) {
	k := t.format.K
	h := blake3.New()
	from, how := bytes.Clone(start), AtOrAfter
	for first := true; ; first = false {
		n, err := t.s.Scan(how, from, []byte{level + 1}, t.buf.answer(answerMost))
		if err != nil {
			return nil, nil, err
		}
		joined := t.buf.joined[:0]
		for i, rec := range t.buf.records[:n] {
			if len(rec.Value) < k {
				return nil, nil, corruptRecord(rec.Key)
			}
			if t.rule.Boundary(rec.Value) && !(first && i == 0) {
				next = bytes.Clone(rec.Key)
				break
			}
			joined = append(joined, rec.Value[:k]...)
		}
		h.Write(joined) // never fails
		if next != nil || n < len(t.buf.records) {
			return h.Sum(nil)[:k], next, nil
		}
		from, how = append(from[:0], t.buf.records[n-1].Key...), After
	}
}

func corruptRecord(key []byte) error {
	return fmt.Errorf("%w: record %x is shorter than its hash", ErrCorrupt, key)
}

func (r *nodes) hash(j *job) { j.hashNodes(r.t) }

// manyLeast is the least number of nodes for which a Hasher is asked.
const manyLeast = 3

// hashNodes sets the hashes in the batch of j to those of the children gathered.
func (j *job) hashNodes(t *Tree) {
	k, n := t.rule.Len, len(j.got.Runs)
	j.sums = slices.Grow(j.sums[:0], n*k)[:n*k]
	j.ends = j.ends[:0]
	for _, run := range j.got.Runs {
		j.ends = append(j.ends, run.End)
	}
	if n < manyLeast || t.hasher == nil || !t.hasher.HashMany(j.got.Hashes, j.ends, k, j.sums) {
		begin := 0
		for i, end := range j.ends {
			sum := blake3.Sum256(j.got.Hashes[begin:end])
			copy(j.sums[i*k:], sum[:k])
			begin = end
		}
	}
	for i, at := 0, 0; i < j.batch.Len(); i++ {
		item, next, _ := j.batch.Next(at)
		at = next
		if i < n { // a wide node stands after these, hashed already
			copy(item.Value, j.sums[i*k:][:k])
		}
		j.isB = append(j.isB, t.rule.Boundary(item.Value))
	}
}

func (r *nodes) apply(j *job) error {
	return j.apply(r.t, r.out, r.in.k > 0)
}

// room empties g and gives it its memory.
func (g *Gathered) room() {
	if cap(g.Hashes) == 0 {
		g.Hashes = make([]byte, 0, jobHashes)
	}
	*g = Gathered{Hashes: g.Hashes[:0], Runs: g.Runs[:0]}
}

// merge adds the changes of o, none of whose keys c has, by way of the list tmp.
func (c *changes) merge(o, tmp *changes) {
	switch {
	case o.n == 0:
		return
	case c.n == 0:
		*c, *o = *o, *c
		return
	}
	tmp.reset(c.k)
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

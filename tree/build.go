package tree

import "bytes"

// bulkLeast is the least number of writes for which a bulk load is considered.
const bulkLeast = 256

// bulkShare is the share of the records, one in so many, that writes which fill the memory
// must have changed for the levels to be built anew rather than repaired.
const bulkShare = 8

// applyPending applies the writes that wait and repairs the levels. Into an empty tree it
// appends the leaves and leaves the levels to build, as it does when the writes that filled
// the memory changed so much that more of the kind must be expected.
func (t *Tree) applyPending() error {
	b := t.buf
	var refs []ref
	refs, b.refs, b.spare = b.pending.sorted(t.format.K, b.refs, b.spare)
	full := b.pending.bytes+pendingEach*b.pending.n > maxPending
	t.crew = &crew{}
	defer t.crew.dismiss()
	if !t.whole && len(refs) >= bulkLeast {
		empty, err := t.onlyAnchor(0)
		if err != nil {
			return err
		}
		if empty {
			if err := t.dropLevels(); err != nil {
				return err
			}
		}
	}
	l := leaves{t: t, refs: refs}
	if !t.whole {
		k, err := t.kept()
		if err != nil {
			return err
		}
		l.out = &b.changed
		l.out.reset(k)
	} else if follows, err := t.follows(refs[0]); err != nil {
		return err
	} else {
		l.append = follows
	}
	if err := run(&l, &b.jobs, t.crew); err != nil {
		return err
	}
	if t.whole {
		return nil
	}
	if full {
		n, err := t.s.Count()
		if err != nil {
			return err
		}
		if int64(l.out.n) > n/bulkShare {
			return t.dropLevels()
		}
	}
	return t.repair(l.out)
}

// follows reports whether the write at r comes after every record stored.
func (t *Tree) follows(r ref) (bool, error) {
	n, err := t.s.Scan(Before, []byte{headerLevel, 0}, nil, t.rec[:])
	if err != nil || n == 0 {
		return false, err
	}
	last := t.rec[0].Key
	return last[0] == 0 && bytes.Compare(last[1:], t.buf.pending.key(r)) < 0, nil
}

// dropLevels takes away everything above level 0, the header too, until the next build.
func (t *Tree) dropLevels() error {
	if err := t.truncate(1); err != nil {
		return err
	}
	b := &t.buf.deletes
	b.Reset()
	b.Delete(headerLevel, nil)
	if _, err := t.applyDeletes(b); err != nil {
		return err
	}
	t.whole = true
	return nil
}

// build makes every level above 0 from the leaves, from the bottom up, and puts the header
// behind them: the records are appended in their order.
func (t *Tree) build() error {
	t.crew = &crew{}
	defer t.crew.dismiss()
	for level := byte(0); ; level++ {
		only, err := t.onlyAnchor(level)
		if err != nil {
			return err
		}
		if only {
			break
		}
		if level == MaxLevel {
			return ErrTooTall
		}
		if err := run(&parents{t: t, level: level, from: []byte{level}}, &t.buf.jobs, t.crew); err != nil {
			return err
		}
	}
	return putHeader(t.s, t.format)
}

// parents is the stage that appends to a storage, whose last records are those of a level, the
// level above.
type parents struct {
	t     *Tree
	level byte
	from  []byte // the record key of the child to go on at, which begins a node
	key   []byte // the record key of the first child of the node under way

	children, bytes int // read so far, and of what size
}

// fill reads the children of whole nodes, until enough of their hashes wait in j. A node is
// begun by the anchor or a boundary and ended by the next boundary or the level's end.
func (p *parents) fill(j *job) (more bool, err error) {
	j.reset()
	j.got.room()
	start, from, recs := AtOrAfter, p.from, p.t.buf.answer(answerMost)
	for {
		n, err := p.t.s.Scan(start, from, []byte{p.level + 1}, recs)
		if err != nil {
			return false, err
		}
		for _, rec := range recs[:n] {
			if full, err := p.child(j, rec); err != nil {
				return false, err
			} else if full {
				return p.from != nil, nil
			}
		}
		if n < len(recs) {
			p.close(j)
			return false, nil
		}
		start, from = After, recs[n-1].Key
	}
}

// child takes one child, unless j is full before it: then p.from is where to go on, nil at the
// end of the level.
func (p *parents) child(j *job, rec Record) (full bool, err error) {
	k := p.t.format.K
	if len(rec.Value) < k {
		return false, corruptRecord(rec.Key)
	}
	p.children++
	p.bytes += len(rec.Key) + len(rec.Value)
	if p.key == nil {
		p.key = bytes.Clone(rec.Key)
	} else if p.t.rule.Boundary(rec.Value) {
		p.close(j)
		p.key = bytes.Clone(rec.Key)
		if j.batch.Len() >= jobItems || len(j.got.Hashes) >= jobHashes/2 {
			p.from, p.key = p.key, nil
			return true, nil
		}
	}
	if len(j.got.Hashes)+k > cap(j.got.Hashes) {
		return true, p.wide(j)
	}
	j.got.Hashes = append(j.got.Hashes, rec.Value[:k]...)
	return false, nil
}

// close ends the node under way.
func (p *parents) close(j *job) {
	j.batch.Put(p.level+1, p.key[1:], zeroHash[:p.t.format.K], nil)
	j.size = len(j.got.Hashes)
	p.key = nil
	j.got.Runs = append(j.got.Runs, Run{End: len(j.got.Hashes)})
}

// wide hashes the node under way, which has more children than j has room for.
func (p *parents) wide(j *job) error {
	sum, next, err := p.t.stream(p.level, p.key)
	if err != nil {
		return err
	}
	j.batch.Put(p.level+1, p.key[1:], sum, nil)
	p.from, p.key = next, nil
	return nil
}

func (p *parents) hash(j *job) { j.hashNodes(p.t) }

func (p *parents) apply(j *job) error {
	if p.level == 0 && p.t.cache != nil && p.bytes >= cacheRecord*p.children {
		j.remember(p.t, nil, nil)
	}
	return p.t.s.Append(&j.batch)
}

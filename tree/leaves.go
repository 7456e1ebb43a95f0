package tree

import "github.com/zeebo/blake3"

// leaves is the stage that turns the writes that wait into records of level 0.
type leaves struct {
	t      *Tree
	refs   []ref    // what is left, in key order
	out    *changes // what changed; nil when nobody wants to know
	append bool     // every key follows all that is stored
}

func (l *leaves) fill(j *job) (more bool, err error) {
	j.reset()
	n, size, most := 0, 0, min(len(l.refs), l.t.crew.share(len(l.refs)))
	for n < most && size < jobBytes {
		_, _, end := layout(l.t.buf.pending.chunks[l.refs[n].chunk][l.refs[n].off:], l.t.format.K)
		size += max(hashLeast, end)
		n++
	}
	j.refs, l.refs, j.size = l.refs[:n], l.refs[n:], size
	return len(l.refs) > 0, nil
}

func (l *leaves) hash(j *job) {
	k := l.t.format.K
	for _, r := range j.refs {
		w := l.t.buf.pending.at(r.chunk, r.off, k)
		switch w.mark {
		case markDelete:
			if l.append {
				continue
			}
			j.batch.Delete(0, w.key)
			j.isB = append(j.isB, false)
		case markHash:
			j.batch.Put(0, w.key, w.value, nil)
			j.isB = append(j.isB, l.t.rule.Boundary(w.value))
		default:
			sum := blake3.Sum256(w.whole)
			j.batch.Put(0, w.key, sum[:k], w.value)
			j.isB = append(j.isB, l.t.rule.Boundary(sum[:]))
		}
	}
}

func (l *leaves) apply(j *job) error {
	if l.append {
		return l.t.s.Append(&j.batch)
	}
	effects := j.slots()
	if err := l.t.s.Apply(&j.batch, l.t.rule, effects); err != nil {
		return err
	}
	if l.out != nil {
		j.report(effects, l.out)
	}
	return nil
}

// report adds to out what the batch of j changed.
func (j *job) report(effects []Effect, out *changes) {
	for i, at := 0, 0; ; i++ {
		item, next, ok := j.batch.Next(at)
		if !ok {
			return
		}
		at = next
		if effects[i]&Unchanged != 0 {
			continue
		}
		key := item.Key[1:]
		anchor := len(key) == 0
		out.add(change{
			key:  key,
			was:  anchor || effects[i]&WasBoundary != 0,
			is:   anchor || j.isB[i],
			gone: item.Delete,
		})
	}
}

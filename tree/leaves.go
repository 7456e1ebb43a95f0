package tree

import (
	"slices"

	"github.com/zeebo/blake3"
)

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

// hash makes the batch. Where many values are to be hashed at once, what the hashes are taken of
// is copied side by side first.
func (l *leaves) hash(j *job) {
	k := l.t.format.K
	j.joined, j.ends = j.joined[:0], j.ends[:0]
	if len(j.refs) >= manyLeast && l.t.hasher != nil {
		for _, r := range j.refs {
			if w := l.t.buf.pending.at(r.chunk, r.off, k); w.mark < markHash {
				j.joined = append(j.joined, w.whole...)
				j.ends = append(j.ends, len(j.joined))
			}
		}
	}
	sums := j.sums[:0]
	if len(j.ends) > 0 {
		sums = slices.Grow(sums, len(j.ends)*k)[:len(j.ends)*k]
		j.sums = sums
		if !l.t.hasher.HashMany(j.joined, j.ends, k, sums) {
			sums = nil
		}
	}
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
			var sum []byte
			if len(sums) > 0 {
				sum, sums = sums[:k], sums[k:]
			} else {
				whole := blake3.Sum256(w.whole)
				sum = whole[:k]
			}
			j.batch.Put(0, w.key, sum, w.value)
			j.isB = append(j.isB, l.t.rule.Boundary(sum))
		}
	}
}

func (l *leaves) apply(j *job) error {
	if l.append {
		return l.t.s.Append(&j.batch)
	}
	out := l.out
	if out == nil {
		out = &changes{}
	}
	effects, olds, err := j.write(l.t, &j.batch, out.k > 0)
	if err == nil && l.out != nil {
		j.report(effects, olds, out)
	}
	return err
}

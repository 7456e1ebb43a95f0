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

// hashMany returns the hashes of the values among the writes of j, joined, or nil where they are
// better taken one by one.
func (l *leaves) hashMany(j *job) (sums []byte) {
	if len(j.refs) < manyLeast || j.size > 2*jobBytes || l.t.hasher == nil {
		return nil
	}
	k := l.t.format.K
	j.joined, j.ends = j.joined[:0], j.ends[:0]
	for _, r := range j.refs {
		if w := l.t.buf.pending.at(r.chunk, r.off, k); w.mark < markHash {
			j.joined = append(j.joined, w.whole...)
			j.ends = append(j.ends, len(j.joined))
		}
	}
	n := len(j.ends) * k
	j.sums = slices.Grow(j.sums[:0], n)[:n]
	if !l.t.hasher.HashMany(j.joined, j.ends, k, j.sums) {
		return nil
	}
	return j.sums
}

// hash makes the batch.
func (l *leaves) hash(j *job) {
	k := l.t.format.K
	sums := l.hashMany(j)
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
	effects, olds, err := j.write(l.t, &j.batch, l.out != nil && l.out.k > 0)
	if err == nil && l.out != nil {
		j.report(effects, olds, l.out)
	}
	return err
}

package tree

// Buffers is the memory that a writing Tree works in. It may serve one Tree after another, so
// that a small transaction need not allocate it. The zero Buffers is ready.
type Buffers struct {
	pending     pending
	refs, spare []ref
	jobs        [jobsAhead]job

	changed, raised, gone, merged changes // of two levels at a time
	rest, others                  changes // parts of such lists

	known   known
	nodes   nodes
	deletes Batch
	records [answerMost]Record
	used    int                        // records that were handed out
	joined  [answerMost * MaxHash]byte // the hashes of records
}

// answerMost is the most records of an answer.
const answerMost = 256

// answer returns room for n records, at most answerMost, until the next call.
func (b *Buffers) answer(n int) []Record {
	b.used = max(b.used, n)
	return b.records[:n]
}

// Release gives back, at the end of a transaction, the memory of b that only a large one needs, and
// lets go of the tree, of its cache, and of the storage's bytes, which may be unmapped while b is
// kept.
func (b *Buffers) Release() {
	const refs, most = 1 << 14, 256 << 10 // bytes, but for refs
	if cap(b.refs) > refs {
		b.refs = nil
	}
	if cap(b.spare) > refs {
		b.spare = nil
	}
	for _, c := range []*changes{&b.changed, &b.raised, &b.gone, &b.merged, &b.rest, &b.others} {
		if cap(c.buf) > most {
			c.buf = nil
		}
	}
	for i := range b.jobs {
		j := &b.jobs[i]
		j.batch.release(most)
		j.refs, j.stage, j.got.End = nil, nil, nil
		clear(j.got.Runs[:max(j.runs, len(j.got.Runs))])
		j.runs = 0
	}
	b.deletes.release(most)
	b.known.t, b.nodes.t = nil, nil
	clear(b.answer(b.used))
	b.used = 0
	b.pending.reset()
	b.pending.release()
}

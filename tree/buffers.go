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
	records [256]Record
	joined  [256 * MaxHash]byte // the hashes of records
}

// Release gives back, at the end of a transaction, the memory of b that only a large one needs, and
// lets go of the tree, of its cache, and of the storage's bytes, which may be unmapped while b is
// kept.
func (b *Buffers) Release() {
	const refs, most = 1 << 16, 1 << 20 // bytes, but for refs
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
		clear(j.got.Runs[:cap(j.got.Runs)])
	}
	b.deletes.release(most)
	b.known.t, b.nodes.t = nil, nil
	clear(b.records[:])
	b.pending.reset()
	b.pending.release()
}

package tree

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// editsMost is the most changed children of a node to be looked for in what is remembered of it:
// each is looked for among all, and to read them all takes no longer than some such searches.
const editsMost = 8

// editedMost is the most changed leaves whose hashes, old and new, a flush keeps in memory.
const editedMost = 1 << 16

// known is the stage that rehashes those parents of changed leaves whose children the cache knows,
// without reading the children. It leaves to rest the changes under other nodes, and under those
// where a boundary came or went.
type known struct {
	t    *Tree
	in   *changes
	at   int // offset of the next change in in
	left int // changes from there
	out  *changes
	rest *changes

	keys Batch
	wide []byte // record key of a node with more changes than a call takes, all left to rest
}

func (r *known) begin(t *Tree, in, out, rest *changes) {
	r.t, r.in, r.out, r.rest = t, in, out, rest
	r.at, r.left, r.wide = 0, in.n, r.wide[:0]
}

func (r *known) fill(j *job) (more bool, err error) {
	j.reset()
	j.got.room()
	n := min(r.left, r.t.crew.share(r.left))
	r.keys.Reset()
	for i, at := 0, r.at; i < n; i++ {
		ch, next, _ := r.in.next(at)
		r.keys.At(1, ch.key)
		at = next
	}
	floors := r.t.buf.answer(n)
	if err := r.t.s.Floor(&r.keys, floors); err != nil {
		return false, err
	}
	for len(floors) > 0 {
		same := 1
		for same < len(floors) && bytes.Equal(floors[same].Key, floors[0].Key) {
			same++
		}
		whole := same < len(floors) || same == r.left
		if whole && r.full(j, same) || !whole && same < n {
			break // the next call has all changes of this node
		}
		if !whole {
			r.wide = append(r.wide[:0], floors[0].Key...)
		}
		edited := whole && same <= editsMost && !bytes.Equal(floors[0].Key, r.wide) &&
			r.edit(j, floors[0], same)
		r.pass(same, !edited)
		floors = floors[same:]
	}
	j.size = len(j.got.Hashes)
	return r.left > 0, nil
}

// full reports whether the children of another node, with n changes, may not fit into j any more.
func (r *known) full(j *job, n int) bool {
	return len(j.got.Runs) > 0 && cap(j.got.Hashes)-len(j.got.Hashes) < cacheNode+n*r.in.k
}

// pass moves on by n changes.
func (r *known) pass(n int, leave bool) {
	for range n {
		ch, next, _ := r.in.next(r.at)
		if leave {
			r.rest.add(ch)
		}
		r.at = next
		r.left--
	}
}

// edit adds to j the node whose children the next n changes are of, or reports that it cannot.
func (r *known) edit(j *job, node Record, n int) bool {
	k := r.t.rule.Len
	if len(node.Key) == 0 || node.Key[0] != 1 || len(node.Value) < k {
		return false
	}
	for i, at := 0, r.at; i < n; i++ {
		ch, next, _ := r.in.next(at)
		if ch.was != ch.is {
			return false
		}
		at = next
	}
	children := r.t.cache.children(node.Value[:k])
	begin := len(j.got.Hashes)
	if children == nil || cap(j.got.Hashes)-begin < len(children)+n*k {
		return false
	}
	joined := append(j.got.Hashes[begin:], children...)
	for i, at := 0, r.at; i < n; i++ {
		ch, next, _ := r.in.next(at)
		var ok bool
		if joined, ok = ch.edit(joined, k); !ok {
			return false
		}
		at = next
	}
	j.got.Hashes = j.got.Hashes[:begin+len(joined)]
	j.got.Runs = append(j.got.Runs, Run{End: len(j.got.Hashes)})
	j.batch.Put(1, node.Key[1:], zeroHash[:k], nil)
	return true
}

// edit makes the change in the joined hashes of the children that the changed one is among. It
// reports false if it cannot tell which it is.
func (ch change) edit(joined []byte, k int) (edited []byte, ok bool) {
	at := only(joined, ch.old)
	switch {
	case at < 0:
		return joined, false
	case ch.gone:
		return slices.Delete(joined, at, at+k), true
	case ch.added:
		return slices.Insert(joined, at+k, ch.hash...), true
	}
	copy(joined[at:], ch.hash)
	return joined, true
}

// only returns where among joined hashes one is, or -1 if it is not there or more than once:
// equal hashes stand side by side in a tree of a caller's own.
func only(joined, hash []byte) int {
	at := -1
	first := binary.NativeEndian.Uint64(hash)
	for i := 0; i < len(joined); i += len(hash) {
		if binary.NativeEndian.Uint64(joined[i:]) == first && bytes.Equal(joined[i:i+len(hash)], hash) {
			if at >= 0 {
				return -1
			}
			at = i
		}
	}
	return at
}

func (r *known) hash(j *job) { j.hashNodes(r.t) }

func (r *known) apply(j *job) error { return j.apply(r.t, r.out, true) }

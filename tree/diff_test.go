package tree_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

// grow returns a store with random writes of a seed, after those of an earlier store.
func grow(t *testing.T, h *treetest.History, m *treetest.Memory, rounds int) {
	t.Helper()
	for range rounds {
		tr := tree.New(m, h.Format, &tree.Buffers{})
		if err := h.Write(tr, 100); err != nil {
			t.Fatal(err)
		}
		if err := tr.Flush(); err != nil {
			t.Fatal(err)
		}
	}
}

// mergeJoin is the difference by brute force: over all keys of both.
func mergeJoin(ours, theirs map[string]treetest.Leaf, b tree.Bounds) map[string]tree.Change {
	all := map[string]tree.Change{}
	for k, l := range ours {
		if o, ok := theirs[k]; !b.Contains([]byte(k)) {
			continue
		} else if !ok {
			all[k] = tree.Removed
		} else if o.Hash != l.Hash {
			all[k] = tree.Changed
		}
	}
	for k := range theirs {
		if _, ok := ours[k]; !ok && b.Contains([]byte(k)) {
			all[k] = tree.Added
		}
	}
	return all
}

// Diff finds what a merge join over all entries finds, in order and with the right entries, for
// random pairs: near and far, of other heights, one or both empty, within random bounds.
func TestM3DiffIsMergeJoin(t *testing.T) {
	pairs := 1500
	if testing.Short() {
		pairs = 150
	}
	base := seed(t)
	for i := range uint64(pairs) {
		rng := rand.New(rand.NewPCG(base+i, 7))
		f := tree.Format{K: 16, Q: []uint32{2, 3, 4, 32}[rng.IntN(4)], Mode: tree.Store}
		h := treetest.NewHistory(base+i, f, 1+rng.IntN(400))
		m, _ := create(t, f)
		grow(t, h, m, rng.IntN(8))
		mine, ours := m.Clone(), clone(h.Leaves)
		switch rng.IntN(5) {
		case 0: // against an empty one
			m, _ = create(t, f)
			h.Leaves = map[string]treetest.Leaf{}
		case 1: // unrelated
			h = treetest.NewHistory(base+i+1e9, f, 200)
			m, _ = create(t, f)
			grow(t, h, m, 3)
		default:
			grow(t, h, m, rng.IntN(3))
		}
		if rng.IntN(2) == 0 {
			mine, m, ours, h.Leaves = m, mine, h.Leaves, ours
		}
		bounds := tree.Bounds{}
		if rng.IntN(3) == 0 {
			bounds = tree.PrefixBounds([]byte{byte(rng.IntN(2) * 'a')})
		} else if rng.IntN(3) == 0 {
			bounds = tree.Bounds{GT: []byte{byte(rng.IntN(256))}, LE: []byte{byte(rng.IntN(256))}}
		}
		if err := checkDiff(tree.New(mine, f, nil), tree.New(m, f, nil), ours, h.Leaves, bounds); err != nil {
			t.Fatalf("pair %d: %v", base+i, err)
		}
	}
}

func clone(m map[string]treetest.Leaf) map[string]treetest.Leaf {
	c := make(map[string]treetest.Leaf, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}

func checkDiff(a, b *tree.Tree, ours, theirs map[string]treetest.Leaf, bounds tree.Bounds) error {
	want := mergeJoin(ours, theirs, bounds)
	var last []byte
	for d, err := range tree.Diff(a, b, bounds) {
		if err != nil {
			return err
		}
		key := string(d.Key)
		if want[key] != d.Change || last != nil && bytes.Compare(last, d.Key) >= 0 {
			return fmt.Errorf("%s %x after %x, want %d", d.Change, d.Key, last, want[key])
		}
		if d.Change != tree.Added && !bytes.Equal(d.Ours.Value, ours[key].Value) ||
			d.Change != tree.Removed && !bytes.Equal(d.Theirs.Value, theirs[key].Value) {
			return fmt.Errorf("%s %x has other values", d.Change, d.Key)
		}
		delete(want, key)
		last = bytes.Clone(d.Key)
	}
	if len(want) > 0 {
		return fmt.Errorf("%d differences are missing, as %v", len(want), want)
	}
	return nil
}

// Few differences among many entries read few records.
func TestM3DiffReadsFew(t *testing.T) {
	f := tree.Format{K: 16, Q: 4, Mode: tree.Store}
	m, f := create(t, f)
	tr := tree.New(m, f, &tree.Buffers{})
	for i := range 20000 {
		if err := tr.Put(u32(i), []byte("v")); err != nil {
			t.Fatal(err)
		}
	}
	if err := tr.Flush(); err != nil {
		t.Fatal(err)
	}
	other := m.Clone()
	tr = tree.New(other, f, &tree.Buffers{})
	for _, i := range []int{3, 7777, 19999} {
		if err := tr.Put(u32(i), []byte("w")); err != nil {
			t.Fatal(err)
		}
	}
	if err := tr.Flush(); err != nil {
		t.Fatal(err)
	}
	count := &counting{Storage: other}
	n := 0
	for _, err := range tree.Diff(tree.New(m, f, nil), tree.New(count, f, nil), tree.Bounds{}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 3 || count.read > 2000 {
		t.Errorf("%d differences took %d records of 20000", n, count.read)
	}
	count.read = 0
	for range tree.Diff(tree.New(count, f, nil), tree.New(count, f, nil), tree.Bounds{}) {
		t.Error("a tree differs from itself")
	}
	if count.read > 10 {
		t.Errorf("equal trees took %d records", count.read)
	}
}

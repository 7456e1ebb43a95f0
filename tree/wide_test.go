package tree_test

import (
	"encoding/binary"
	"maps"
	"testing"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

// plainHash returns the i-th hash of a leaf that is no boundary for any Q.
func plainHash(t *testing.T, k, i int) tree.Hash {
	t.Helper()
	return madeHash(t, k, 1<<32-1, i)
}

// madeHash returns a hash that begins with first and differs with i.
func madeHash(t *testing.T, k int, first uint32, i int) tree.Hash {
	t.Helper()
	b := make([]byte, k)
	binary.BigEndian.PutUint32(b, first)
	binary.BigEndian.PutUint64(b[4:], uint64(i))
	h, err := tree.HashFrom(b)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Leaves chosen so that none is a boundary make one node of them all. A flush then reads that
// node once, whatever it writes to it, and each shape that it takes is the oracle's.
func TestM1WideNode(t *testing.T) {
	n := 100000
	if testing.Short() {
		n = 20000
	}
	m, f := create(t, tree.Format{K: 16, Q: 32, Mode: tree.Index})
	leaves := map[string]treetest.Leaf{}
	write(t, m, f, func(tr *tree.Tree) error {
		for i := range n {
			h := plainHash(t, f.K, i)
			leaves[string(u32(2*i))] = treetest.Leaf{Hash: h}
			if err := tr.PutHash(u32(2*i), h); err != nil {
				return err
			}
		}
		return nil
	})
	if root := rootOf(t, m, f); root.Level != 1 || len(m.Records()) != n+3 {
		t.Fatalf("root is %s over %d records, want level 1 over %d", root, len(m.Records()), n+3)
	}
	steps := []struct {
		name   string
		passes float64 // over the node, at most
		put    map[int]tree.Hash
		del    []int
	}{
		{"one overwrite", 1.1, map[int]tree.Hash{n: plainHash(t, f.K, n)}, nil},
		{"one new key", 1.1, map[int]tree.Hash{n + 1: plainHash(t, f.K, n+1)}, nil},
		{"first and last", 1.1, map[int]tree.Hash{0: plainHash(t, f.K, n+2)}, []int{2 * (n - 1)}},
		{"one delete", 1.1, nil, []int{n + 1}},
		{"1,000 scattered", 1.2, scattered(t, f.K, n), nil},
		{"a boundary in the middle", 1.2, map[int]tree.Hash{n: madeHash(t, f.K, 0, 1)}, nil},
		{"that boundary overwritten", 1.2, map[int]tree.Hash{n: madeHash(t, f.K, 0, 2)}, nil},
		{"a second boundary", 1.2, map[int]tree.Hash{n / 2 * 2: madeHash(t, f.K, 1, 3)}, nil},
		{"both boundaries gone", 1.2, nil, []int{n, n / 2 * 2}},
	}
	for _, step := range steps {
		s := &counting{Storage: m}
		write(t, s, f, func(tr *tree.Tree) error {
			for i, h := range step.put {
				leaves[string(u32(i))] = treetest.Leaf{Hash: h}
				if err := tr.PutHash(u32(i), h); err != nil {
					return err
				}
			}
			for _, i := range step.del {
				delete(leaves, string(u32(i)))
				if err := tr.Delete(u32(i)); err != nil {
					return err
				}
			}
			return nil
		})
		if most := int(step.passes*float64(n)) + 100; s.read > most {
			t.Errorf("%s: %d records read, want at most %d", step.name, s.read, most)
		}
		if most := len(step.put) + len(step.del) + 16; s.written > most {
			t.Errorf("%s: %d records written, want at most %d", step.name, s.written, most)
		}
		if err := treetest.Diff(nodesOf(t, m, f), treetest.Build(f, leaves)); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
	}
	check(t, m, f, leaves)
}

// scattered returns 1,000 writes all over the node, a third of them to new keys.
func scattered(t *testing.T, k, n int) map[int]tree.Hash {
	t.Helper()
	all := map[int]tree.Hash{}
	for i := range 1000 {
		at := i * (2 * n / 1000)
		if i%3 == 0 {
			at++
		}
		all[at] = plainHash(t, k, 2*n+i)
	}
	return all
}

// A leaf whose hash, and whose chain of parents over it, are boundaries stands many levels tall
// among leaves that are none; it comes, changes and goes without a trace.
func TestM1TallLeaf(t *testing.T) {
	const levels = 12
	f := tree.Format{K: 16, Q: 2, Mode: tree.Index}
	var tall tree.Hash
	for i, height := 0, 0; height < levels; i++ {
		tall = madeHash(t, f.K, 0, i)
		height = 1
		for h := tree.NodeHash(f.K, tall.Bytes()); f.Rule().Boundary(h.Bytes()); height++ {
			h = tree.NodeHash(f.K, h.Bytes())
		}
	}
	m, f := create(t, f)
	leaves := map[string]treetest.Leaf{}
	put := func(key string, h tree.Hash) {
		t.Helper()
		leaves[key] = treetest.Leaf{Hash: h}
		write(t, m, f, func(tr *tree.Tree) error { return tr.PutHash([]byte(key), h) })
		check(t, m, f, leaves)
	}
	del := func(key string) {
		t.Helper()
		delete(leaves, key)
		write(t, m, f, func(tr *tree.Tree) error { return tr.Delete([]byte(key)) })
		check(t, m, f, leaves)
	}
	put("a", plainHash(t, f.K, 1))
	put("c", madeHash(t, f.K, 0, 1))
	put("d", plainHash(t, f.K, 2))
	low := rootOf(t, m, f)
	put("m", tall) // the last key: on no level it has a sibling
	high := rootOf(t, m, f)
	if high.Level < levels {
		t.Fatalf("root is %s, want %d levels at least", high, levels)
	}
	before := maps.Clone(leaves)
	put("n", plainHash(t, f.K, 3)) // now it has one, and a parent of another hash
	del("n")
	put("m", plainHash(t, f.K, 4))
	put("m", tall)
	if got := rootOf(t, m, f); got != high || !maps.Equal(keysOf(before), keysOf(leaves)) {
		t.Errorf("root is %s, want %s again", got, high)
	}
	del("m")
	if got := rootOf(t, m, f); got != low {
		t.Errorf("root is %s, want %s again", got, low)
	}
	for _, key := range []string{"c", "a", "d"} {
		del(key)
	}
}

func keysOf(leaves map[string]treetest.Leaf) map[string]bool {
	keys := map[string]bool{}
	for k := range leaves {
		keys[k] = true
	}
	return keys
}

package treetest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/zeebo/blake3"

	"github.com/okradb/okra-go/tree"
)

// Leaf is what the oracle knows of an entry.
type Leaf struct {
	Value []byte
	Hash  tree.Hash
}

// Build returns every node of the tree of the leaves, in (level, key) order, straight from the
// definition of the format and without any of the code under test but the hash of a leaf.
func Build(f tree.Format, leaves map[string]Leaf) []tree.Node {
	limit := (1 << 32) / uint64(f.Q)
	boundary := func(h tree.Hash) bool {
		b := h.Bytes()
		first := uint64(b[0])<<24 | uint64(b[1])<<16 | uint64(b[2])<<8 | uint64(b[3])
		return first < limit
	}
	hash := func(p []byte) tree.Hash {
		sum := blake3.Sum256(p)
		h, err := tree.HashFrom(sum[:f.K])
		if err != nil {
			panic("treetest: " + err.Error())
		}
		return h
	}
	level := []tree.Node{{Hash: hash(nil)}}
	for _, key := range slices.Sorted(maps.Keys(leaves)) {
		level = append(level, tree.Node{Key: []byte(key), Hash: leaves[key].Hash})
	}
	all := slices.Clone(level)
	for len(level) > 1 {
		var above []tree.Node
		var joined []byte
		for i, n := range level {
			joined = append(joined, n.Hash.Bytes()...)
			if last := i+1 == len(level); !last && !boundary(level[i+1].Hash) {
				continue
			}
			first := i // the first child of the node that ends here
			for first > 0 && !boundary(level[first].Hash) {
				first--
			}
			above = append(above, tree.Node{
				Level: n.Level + 1, Key: level[first].Key, Hash: hash(joined),
			})
			joined = nil
		}
		all = append(all, above...)
		level = above
	}
	return all
}

// Nodes returns every node of t, in (level, key) order, in memory of their own.
func Nodes(t *tree.Tree) ([]tree.Node, error) {
	root, err := t.Root()
	if err != nil {
		return nil, err
	}
	var all []tree.Node
	for level := 0; level <= root.Level; level++ {
		for n, err := range t.Nodes(level, tree.Bounds{}) {
			if err != nil {
				return nil, err
			}
			n.Key = bytes.Clone(n.Key)
			all = append(all, n)
		}
	}
	return all, nil
}

// Diff returns the first difference between the nodes of two trees as an error, or nil.
func Diff(got, want []tree.Node) error {
	for i := range min(len(got), len(want)) {
		g, w := got[i], want[i]
		if g.Level != w.Level || !bytes.Equal(g.Key, w.Key) || g.Hash != w.Hash {
			return fmt.Errorf("node %d is level %d key %x hash %s, want level %d key %x hash %s",
				i, g.Level, g.Key, g.Hash, w.Level, w.Key, w.Hash)
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("there are %d nodes, want %d", len(got), len(want))
	}
	return nil
}

// Check compares t with the tree built anew from the leaves: every node of every level, every
// value, and the number of records, so that nothing stands above the root.
func Check(t *tree.Tree, s tree.Storage, leaves map[string]Leaf) error {
	want := Build(t.Format(), leaves)
	got, err := Nodes(t)
	if err != nil {
		return err
	}
	if err := Diff(got, want); err != nil {
		return err
	}
	if n, err := s.Count(); err != nil || n != int64(len(want))+1 {
		return fmt.Errorf("there are %d records, want %d nodes and a header (%v)", n, len(want), err)
	}
	if n, err := t.Len(); err != nil || n != int64(len(leaves)) {
		return fmt.Errorf("Len is %d, want %d (%v)", n, len(leaves), err)
	}
	n := 0
	for e, err := range t.Range(tree.Bounds{}) {
		if err != nil {
			return err
		}
		leaf, ok := leaves[string(e.Key)]
		if !ok || !bytes.Equal(e.Value, leaf.Value) || e.Hash() != leaf.Hash {
			return fmt.Errorf("entry %x is %x, want %x (known: %t)", e.Key, e.Value, leaf.Value, ok)
		}
		n++
	}
	if n != len(leaves) {
		return fmt.Errorf("Range yields %d entries, want %d", n, len(leaves))
	}
	return nil
}

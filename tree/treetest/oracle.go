package treetest

import (
	"bytes"
	"fmt"
	"iter"
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

// A Reader is what can be checked: a tree.Tree, or what stands on one.
type Reader interface {
	Format() tree.Format
	Root() (tree.Root, error)
	Nodes(level int, b tree.Bounds) iter.Seq2[tree.Node, error]
	Range(tree.Bounds) iter.Seq2[tree.Entry, error]
	Backward(tree.Bounds) iter.Seq2[tree.Entry, error]
	Len() (int64, error)
}

// Nodes returns every node of t, in (level, key) order, in memory of their own.
func Nodes(t Reader) ([]tree.Node, error) {
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

// Check compares t with the tree built anew from the leaves: every node of every level, and
// every entry in both orders.
func Check(t Reader, leaves map[string]Leaf) error {
	got, err := Nodes(t)
	if err != nil {
		return err
	}
	if err := Diff(got, Build(t.Format(), leaves)); err != nil {
		return err
	}
	if n, err := t.Len(); err != nil || n != int64(len(leaves)) {
		return fmt.Errorf("length is %d, want %d (%v)", n, len(leaves), err)
	}
	keys := slices.Sorted(maps.Keys(leaves))
	if err := checkEntries(t.Range(tree.Bounds{}), keys, leaves); err != nil {
		return fmt.Errorf("ascending: %w", err)
	}
	slices.Reverse(keys)
	if err := checkEntries(t.Backward(tree.Bounds{}), keys, leaves); err != nil {
		return fmt.Errorf("descending: %w", err)
	}
	return nil
}

func checkEntries(got iter.Seq2[tree.Entry, error], keys []string, leaves map[string]Leaf) error {
	n := 0
	for e, err := range got {
		if err != nil {
			return err
		}
		if n == len(keys) || string(e.Key) != keys[n] {
			return fmt.Errorf("entry %d is %x", n, e.Key)
		}
		leaf := leaves[keys[n]]
		if !bytes.Equal(e.Value, leaf.Value) || e.Hash() != leaf.Hash ||
			(e.Value == nil) != (leaf.Value == nil) {
			return fmt.Errorf("entry %x is %x, want %x", e.Key, e.Value, leaf.Value)
		}
		n++
	}
	if n != len(keys) {
		return fmt.Errorf("%d entries, want %d", n, len(keys))
	}
	return nil
}

// CheckRecords demands that s holds the nodes of the leaves and a header, and nothing above
// the root or beside it.
func CheckRecords(s tree.Storage, f tree.Format, leaves map[string]Leaf) error {
	want := int64(len(Build(f, leaves)) + 1)
	if n, err := s.Count(); err != nil || n != want {
		return fmt.Errorf("there are %d records, want %d (%v)", n, want, err)
	}
	return nil
}

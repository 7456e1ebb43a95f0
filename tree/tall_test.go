package tree_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

// tower returns records, made by hand, of a tree with an anchor and the node "k" on each level
// below top and an anchor on top; "k" is a boundary on all of them but the last. No hash fits
// its children, which is as far as a test can get: real entries of that height cannot be found.
func tower(t *testing.T, top int) (*treetest.Memory, tree.Format) {
	t.Helper()
	m, f := create(t, tree.Format{K: 16, Q: 1 << 20})
	for level := range top {
		anchor := plainHash(t, f.K, level)
		m.Set([]byte{byte(level)}, anchor.Bytes())
		first := uint32(0)
		if level == top-1 {
			first = 1<<32 - 1
		}
		m.Set([]byte{byte(level), 'k'}, madeHash(t, f.K, first, level).Bytes())
	}
	m.Set([]byte{byte(top)}, plainHash(t, f.K, top).Bytes())
	return m, f
}

// Level 254 is the last one. Its records end before the header, which is no node, and a write
// that changes every level leaves it the root.
func TestTallestTree(t *testing.T) {
	m, f := tower(t, tree.MaxLevel)
	tr := tree.New(m, f, &tree.Buffers{})
	if root, err := tr.Root(); err != nil || root.Level != tree.MaxLevel {
		t.Fatalf("root is %s (%v), want level %d", root, err, tree.MaxLevel)
	}
	before := rootOf(t, m, f)
	if err := errors.Join(tr.Put([]byte("a"), []byte("1")), tr.Flush()); err != nil {
		t.Fatal(err)
	}
	if root, err := tr.Root(); err != nil || root.Level != tree.MaxLevel || root == before {
		t.Errorf("root is %s (%v), want another of level %d", root, err, tree.MaxLevel)
	}
	whole := tree.PrefixBounds([]byte{0xff})
	whole.GE = nil
	for _, b := range []tree.Bounds{{}, {GE: []byte{}}, {LE: []byte{}}, whole} {
		for name, seq := range map[string]func(int, tree.Bounds) (keys []string, err error){
			"Nodes":         collect(tr.Nodes),
			"NodesBackward": collect(tr.NodesBackward),
		} {
			if keys, err := seq(tree.MaxLevel, b); err != nil || !slices.Equal(keys, []string{""}) {
				t.Errorf("%s of the top within %v are %q (%v), want the anchor", name, b, keys, err)
			}
		}
	}
	var below []string
	for n, err := range tr.Children(tree.MaxLevel, nil) {
		if err != nil {
			t.Fatal(err)
		}
		below = append(below, string(n.Key))
	}
	if !slices.Equal(below, []string{"", "k"}) {
		t.Errorf("children of the root are %q", below)
	}
	for _, level := range []int{-1, tree.MaxLevel + 1, 1 << 20} {
		_, nodeErr := tr.Node(level, nil)
		_, seqErr := collect(tr.Nodes)(level, tree.Bounds{})
		_, backErr := collect(tr.NodesBackward)(level, tree.Bounds{})
		var childErr error
		for _, err := range tr.Children(level, nil) {
			childErr = err
		}
		for _, err := range []error{nodeErr, seqErr, backErr, childErr} {
			if !errors.Is(err, tree.ErrLevel) {
				t.Errorf("level %d gives %v, want ErrLevel", level, err)
			}
		}
	}
}

// Entries that need a level more are refused, and the transaction is dead.
func TestTooTall(t *testing.T) {
	m, f := tower(t, tree.MaxLevel)
	last := []byte{tree.MaxLevel - 1, 'k'}
	m.Set(last, madeHash(t, f.K, 0, 1).Bytes())
	m.Set([]byte{tree.MaxLevel, 'k'}, plainHash(t, f.K, 1).Bytes())
	tr := tree.New(m, f, &tree.Buffers{})
	if err := tr.Put([]byte("a"), []byte("1")); err != nil {
		t.Fatal(err)
	}
	if err := tr.Flush(); !errors.Is(err, tree.ErrTooTall) {
		t.Fatalf("the flush gives %v, want ErrTooTall", err)
	}
	if _, err := tr.Root(); !errors.Is(err, tree.ErrFailed) || !errors.Is(err, tree.ErrTooTall) {
		t.Errorf("Root gives %v, want ErrFailed with ErrTooTall", err)
	}
}

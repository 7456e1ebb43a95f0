package tree_test

import (
	"encoding/binary"
	"testing"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

// A content is what a tree holds: values by key.
type content map[string]string

// leaves returns what the oracle must know of c in a tree of format f.
func (c content) leaves(f tree.Format) map[string]treetest.Leaf {
	all := map[string]treetest.Leaf{}
	for k, v := range c {
		leaf := treetest.Leaf{Hash: tree.LeafHash(f.K, []byte(k), []byte(v))}
		if f.Mode == tree.Store {
			leaf.Value = []byte(v)
		}
		all[k] = leaf
	}
	return all
}

// build returns a tree in memory that holds c, written in one flush.
func (c content) build(t *testing.T, f tree.Format) (*treetest.Memory, tree.Format) {
	t.Helper()
	m, f := create(t, f)
	write(t, m, f, func(tr *tree.Tree) error {
		for k, v := range c {
			if err := tr.Put([]byte(k), []byte(v)); err != nil {
				return err
			}
		}
		return nil
	})
	return m, f
}

// root returns the root of a tree that holds c.
func (c content) root(t *testing.T, f tree.Format) tree.Root {
	t.Helper()
	m, f := c.build(t, f)
	return rootOf(t, m, f)
}

func rootOf(t *testing.T, s tree.Storage, f tree.Format) tree.Root {
	t.Helper()
	root, err := tree.New(s, f, nil).Root()
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// write runs fn on a tree in s, as one transaction, and flushes.
func write(t *testing.T, s tree.Storage, f tree.Format, fn func(*tree.Tree) error) {
	t.Helper()
	tr := tree.New(s, f, tree.SmallBuffers(1<<12))
	err := fn(tr)
	if err == nil {
		err = tr.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// check demands that m holds the tree of the leaves and nothing beside it.
func check(t *testing.T, m *treetest.Memory, f tree.Format, leaves map[string]treetest.Leaf) {
	t.Helper()
	err := treetest.Check(tree.New(m, f, nil), leaves)
	if err == nil {
		err = treetest.CheckRecords(m, f, leaves)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// u32 is the key of i in the tables of roots.
func u32(i int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(i)) }

// Contents that a hash without lengths takes for each other have different roots.
func TestM2DifferentContents(t *testing.T) {
	pairs := map[string][2]content{
		"a byte moves between values": {{"k1": "ab", "k2": "c"}, {"k1": "a", "k2": "bc"}},
		"a byte moves into the key":   {{"a": "bc"}, {"ab": "c"}},
		"all bytes in the key":        {{"abc": ""}, {"a": "bc"}},
		"key and value swapped":       {{"a": "b"}, {"b": "a"}},
		"NUL at the end of the key":   {{"a": "v"}, {"a\x00": "v"}},
		"NUL moves into the key":      {{"a": "\x00v"}, {"a\x00": "v"}},
		"NUL at the end of the value": {{"a": "v"}, {"a": "v\x00"}},
		"empty value against absent":  {{"a": "", "b": "1"}, {"b": "1"}},
		"empty value against NUL":     {{"a": ""}, {"a": "\x00"}},
		"two entries against one": {
			{"a": "b", "c": "d"}, {"a": "b\x00\x00\x00\x01c\x00\x00\x00\x01d"},
		},
	}
	for name, pair := range pairs {
		for _, f := range formats() {
			if a, b := pair[0].root(t, f), pair[1].root(t, f); a == b {
				t.Errorf("%s: in %s both roots are %s", name, f, a)
			}
		}
	}
}

// Every change of the entries changes the root, also those a hash over keys alone or an XOR
// of hashes does not see.
func TestM18EveryChangeShows(t *testing.T) {
	base := content{"a": "1", "b": "2", "c": "same", "d": "same"}
	changes := map[string]content{
		"other value":                 {"a": "x", "b": "2", "c": "same", "d": "same"},
		"values swapped":              {"a": "2", "b": "1", "c": "same", "d": "same"},
		"both of two equal rows gone": {"a": "1", "b": "2"},
		"one of two equal rows gone":  {"a": "1", "b": "2", "c": "same"},
		"one more equal row":          {"a": "1", "b": "2", "c": "same", "d": "same", "e": "same"},
		"all values equal":            {"a": "same", "b": "same", "c": "same", "d": "same"},
		"nothing":                     {},
	}
	for _, f := range formats() {
		seen := map[tree.Root]string{base.root(t, f): "the base"}
		for name, c := range changes {
			root := c.root(t, f)
			if other, ok := seen[root]; ok {
				t.Errorf("%s: %s and %s both have the root %s", f, name, other, root)
			}
			seen[root] = name
		}
	}
}

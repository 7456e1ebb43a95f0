package tree_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

// permutations calls fn with every order of items, in one slice.
func permutations(items []string, fn func([]string)) {
	var place func(int)
	place = func(i int) {
		if i == len(items) {
			fn(items)
			return
		}
		for j := i; j < len(items); j++ {
			items[i], items[j] = items[j], items[i]
			place(i + 1)
			items[i], items[j] = items[j], items[i]
		}
	}
	place(0)
}

// Every order of up to six puts, in one flush or in one each, gives the same nodes, and so
// does every order of deletes after them.
func TestM4Permutations(t *testing.T) {
	keys := []string{"\x00", "a", "a\x00", "ab", "b", "\xff"}
	buf := tree.SmallBuffers(1 << 10)
	if testing.Short() {
		keys = keys[:5]
	}
	for _, q := range []uint32{2, 3} {
		f := tree.Format{K: tree.DefaultK, Q: q, Mode: tree.Store}
		for n := 1; n <= len(keys); n++ {
			t.Run(fmt.Sprintf("Q=%d/n=%d", q, n), func(t *testing.T) {
				permutations(slices.Clone(keys[:n]), func(order []string) {
					for each := 1; each <= n; each += max(1, n-1) {
						putAndDelete(t, f, buf, order, each)
					}
				})
			})
		}
	}
}

// putAndDelete puts keys in their order and deletes the first half again, each of so many
// writes being one flush.
func putAndDelete(t *testing.T, f tree.Format, buf *tree.Buffers, order []string, each int) {
	t.Helper()
	m, f := create(t, f)
	tr := tree.New(m, f, buf)
	c := content{}
	flush := func(i int) {
		if (i+1)%each != 0 && i+1 != len(order) {
			return
		}
		if err := tr.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := treetest.Diff(nodesOf(t, m, f), treetest.Build(f, c.leaves(f))); err != nil {
			t.Fatalf("order %q, %d writes a flush: %v", order, each, err)
		}
	}
	for i, k := range order {
		c[k] = "value of " + k
		if err := tr.Put([]byte(k), []byte(c[k])); err != nil {
			t.Fatal(err)
		}
		flush(i)
	}
	for i, k := range order[:(len(order)+1)/2] {
		delete(c, k)
		if err := tr.Delete([]byte(k)); err != nil {
			t.Fatal(err)
		}
		flush(i)
	}
	if err := tr.Flush(); err != nil {
		t.Fatal(err)
	}
	check(t, m, f, c.leaves(f))
}

func nodesOf(t *testing.T, s tree.Storage, f tree.Format) []tree.Node {
	t.Helper()
	nodes, err := treetest.Nodes(tree.New(s, f, nil))
	if err != nil {
		t.Fatal(err)
	}
	return nodes
}

// Deletes among the puts, the sequence that broke a port of the reference, and then deletes
// down to nothing from either end.
func TestM5DeletesAmongPuts(t *testing.T) {
	every := 1
	if testing.Short() {
		every = 10
	}
	m, f := create(t, tree.Format{Q: 4})
	c := content{}
	step := func(i int, fn func(*tree.Tree) error) {
		t.Helper()
		write(t, m, f, fn)
		if i%10 == 0 || len(c) < 3 {
			check(t, m, f, c.leaves(f))
		} else if every == 1 {
			if err := treetest.Diff(nodesOf(t, m, f), treetest.Build(f, c.leaves(f))); err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
		}
	}
	for i := range 1000 {
		step(i, func(tr *tree.Tree) error {
			c[string(u32(i))] = string(u32(i))
			if err := tr.Put(u32(i), u32(i)); err != nil || i <= 50 || i%2 != 0 {
				return err
			}
			delete(c, string(u32(i-50)))
			return tr.Delete(u32(i - 50))
		})
	}
	full, left := m.Clone(), c.leaves(f)
	for name, backward := range map[string]bool{"from the front": false, "from the back": true} {
		var keys []string
		for k := range left {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		if backward {
			slices.Reverse(keys)
		}
		m, c = full.Clone(), content{}
		for _, k := range keys {
			c[k] = k
		}
		for i, k := range keys {
			delete(c, k)
			step(i, func(tr *tree.Tree) error { return tr.Delete([]byte(k)) })
		}
		if want := (tree.Root{Hash: tree.EmptyHash(f.K)}); rootOf(t, m, f) != want {
			t.Errorf("%s: the root of nothing is %s, want %s", name, rootOf(t, m, f), want)
		}
	}
}

// The root depends on the entries that are left, not on deletes of absent keys or on several
// writes of one key in a batch.
func TestM6OnlyTheContentCounts(t *testing.T) {
	base := content{"b": "1", "d": "2", "f": "3", "h": "4"}
	put := func(k, v string) func(*tree.Tree) error {
		return func(tr *tree.Tree) error { return tr.Put([]byte(k), []byte(v)) }
	}
	del := func(k string) func(*tree.Tree) error {
		return func(tr *tree.Tree) error { return tr.Delete([]byte(k)) }
	}
	type writes = []func(*tree.Tree) error
	cases := map[string]struct {
		writes writes
		want   content
	}{
		"delete of absent neighbours": {
			writes{del("a"), del("c"), put("d", "x"), del("e"), del("z")},
			content{"b": "1", "d": "x", "f": "3", "h": "4"},
		},
		"delete alone of an absent key": {writes{del("c")}, base},
		"delete, then put of one key": {
			writes{del("d"), put("d", "x")}, content{"b": "1", "d": "x", "f": "3", "h": "4"},
		},
		"delete, then put of the same value": {writes{del("d"), put("d", "2")}, base},
		"put, then delete of a new key":      {writes{put("c", "x"), del("c")}, base},
		"put, then delete of a stored key": {
			writes{put("d", "x"), del("d")}, content{"b": "1", "f": "3", "h": "4"},
		},
		"puts of one key, the last one counts": {
			writes{put("d", "x"), put("d", "y"), put("d", "2")}, base,
		},
	}
	for name, c := range cases {
		for _, f := range formats() {
			m, f := base.build(t, f)
			write(t, m, f, func(tr *tree.Tree) error {
				for _, w := range c.writes {
					if err := w(tr); err != nil {
						return err
					}
				}
				return nil
			})
			if err := treetest.Check(tree.New(m, f, nil), c.want.leaves(f)); err != nil {
				t.Errorf("%s, %s: %v", f, name, err)
			}
		}
	}
}

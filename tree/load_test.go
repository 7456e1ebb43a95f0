package tree_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

var errSequence = errors.New("the sequence fails")

// entriesOf yields key and value pairs, in their order, and then err if it is not nil.
func entriesOf(pairs []string, err error) iter.Seq2[tree.Entry, error] {
	return func(yield func(tree.Entry, error) bool) {
		for pair := range slices.Chunk(pairs, 2) {
			key, value := []byte(pair[0]), []byte(pair[1])
			if !yield(tree.Entry{Key: key, Value: value}, nil) {
				return
			}
			clear(key) // Load has copied them
			clear(value)
		}
		if err != nil {
			yield(tree.Entry{}, err)
		}
	}
}

// A load of any number of entries, in any order, gives the tree of their content; a key that
// comes twice keeps its last value.
func TestLoad(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed(t), 4))
	orders := map[string]func(pairs []string) []string{
		"sorted": func(p []string) []string { return p },
		"reversed": func(p []string) []string {
			var out []string
			for pair := range slices.Chunk(p, 2) {
				out = append([]string{pair[0], pair[1]}, out...)
			}
			return out
		},
		"shuffled": func(p []string) []string {
			var out []string
			for _, i := range rng.Perm(len(p) / 2) {
				out = append(out, p[2*i], p[2*i+1])
			}
			return out
		},
		"with duplicates": func(p []string) []string {
			var out []string
			for _, i := range rng.Perm(len(p) / 2) {
				out = append(out, p[2*i], "another value")
			}
			for _, i := range rng.Perm(len(p) / 2) {
				out = append(out, p[2*i], "one more", p[2*i], p[2*i+1])
			}
			return out
		},
	}
	for _, n := range []int{0, 1, 2, 255, 256, 257, 1000} {
		for _, f := range []tree.Format{{Q: 2}, {Q: 32, Mode: tree.Index}} {
			c := content{}
			var pairs []string
			for i := range n {
				k, v := fmt.Sprintf("%x", u32(i)), fmt.Sprint(i)
				c[k] = v
				pairs = append(pairs, k, v)
			}
			for name, order := range orders {
				m, f := create(t, f)
				write(t, m, f, func(tr *tree.Tree) error {
					in := order(slices.Clone(pairs))
					got, err := tr.Load(entriesOf(in, nil))
					if err == nil && got != int64(len(in)/2) {
						t.Errorf("%d %s: it took %d entries of %d", n, name, got, len(in)/2)
					}
					return err
				})
				check(t, m, f, c.leaves(f))
			}
		}
	}
}

// A load is refused where there are entries, stored or waiting, and by a tree that only reads;
// it stops at the first error of the sequence or of an entry.
func TestLoadRefuses(t *testing.T) {
	base := content{"k": "v"}
	pairs := []string{"a", "1", "b", "2"}
	put := func(tr *tree.Tree) error { return tr.Put([]byte("x"), nil) }
	cases := map[string]struct {
		start  content
		before func(*tree.Tree) error
		seq    iter.Seq2[tree.Entry, error]
		n      int64
		err    error
	}{
		"stored entries":    {base, nil, entriesOf(pairs, nil), 0, tree.ErrNotEmpty},
		"waiting entries":   {nil, put, entriesOf(pairs, nil), 0, tree.ErrNotEmpty},
		"nothing to load":   {base, nil, entriesOf(nil, nil), 0, tree.ErrNotEmpty},
		"error of sequence": {nil, nil, entriesOf(pairs, errSequence), 2, errSequence},
		"error at once":     {nil, nil, entriesOf(nil, errSequence), 0, errSequence},
		"empty key":         {nil, nil, emptyKeyLast(pairs), 2, tree.ErrKeyEmpty},
		"emptied just before": {base, func(tr *tree.Tree) error { return tr.Delete([]byte("k")) },
			entriesOf(pairs, nil), 2, nil},
	}
	for name, c := range cases {
		m, f := c.start.build(t, tree.Format{Q: 4})
		tr := tree.New(m, f, &tree.Buffers{})
		if c.before != nil {
			if err := c.before(tr); err != nil {
				t.Fatal(err)
			}
		}
		n, err := tr.Load(c.seq)
		if n != c.n || !errors.Is(err, c.err) {
			t.Errorf("%s: Load gives %d %v, want %d %v", name, n, err, c.n, c.err)
		}
	}
	m, f := create(t, tree.Format{})
	if _, err := tree.New(m, f, nil).Load(entriesOf(pairs, nil)); !errors.Is(err, tree.ErrReadOnly) {
		t.Errorf("a read-only tree gives %v, want ErrReadOnly", err)
	}
}

func emptyKeyLast(pairs []string) iter.Seq2[tree.Entry, error] {
	return func(yield func(tree.Entry, error) bool) {
		for e, err := range entriesOf(pairs, nil) {
			if !yield(e, err) {
				return
			}
		}
		if yield(tree.Entry{}, nil) {
			panic("Load goes on after an error")
		}
	}
}

// Writes past the memory that may wait are applied in between: what a load, a huge batch into
// a full tree, and many writes of few keys leave is still the tree of the content.
func TestM17MoreThanMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes more than 52 MiB")
	}
	const n, size = 30000, 2 << 10
	rng := rand.New(rand.NewPCG(seed(t), 5))
	value := func(i int) []byte { return bytes.Repeat(u32(i), size/4) }
	m, f := create(t, tree.Format{Q: 16})
	for from := 0; from < n; from += 500 {
		write(t, m, f, func(tr *tree.Tree) error {
			for i := from; i < from+500; i++ {
				if err := tr.Put(u32(i), value(i)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	want := nodesOf(t, m, f)
	put := func(tr *tree.Tree, order []int) error {
		for _, i := range order {
			if err := tr.Put(u32(i), value(i)); err != nil {
				return err
			}
		}
		return nil
	}
	sorted := make([]int, n)
	for i := range sorted {
		sorted[i] = i
	}
	old := content{}
	for i := range n / 4 {
		old[string(u32(4*i))] = "old"
	}
	few := make([]int, n)
	for i := range few {
		few[i] = i % 100
	}
	cases := map[string]struct {
		start content
		run   func(*tree.Tree) error
	}{
		"sorted load": {nil, func(tr *tree.Tree) error {
			_, err := tr.Load(numbered(sorted, value))
			return err
		}},
		"shuffled load": {nil, func(tr *tree.Tree) error {
			_, err := tr.Load(numbered(rng.Perm(n), value))
			return err
		}},
		"into a full tree": {old, func(tr *tree.Tree) error { return put(tr, rng.Perm(n)) }},
		"few keys, many times": {nil, func(tr *tree.Tree) error {
			return errors.Join(put(tr, sorted), tr.Flush(), put(tr, few))
		}},
	}
	for name, c := range cases {
		m, f := c.start.build(t, f)
		write(t, m, f, c.run)
		if err := treetest.Diff(nodesOf(t, m, f), want); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func numbered(order []int, value func(int) []byte) iter.Seq2[tree.Entry, error] {
	return func(yield func(tree.Entry, error) bool) {
		for _, i := range order {
			if !yield(tree.Entry{Key: u32(i), Value: value(i)}, nil) {
				return
			}
		}
	}
}

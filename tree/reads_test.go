package tree_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"testing"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

// Reads of a writing tree see its writes at once, whichever read it is.
func TestM7ReadsSeeWrites(t *testing.T) {
	m, f := content{"a": "1", "b": "2", "c": "3"}.build(t, tree.Format{Q: 2})
	tr := tree.New(&treetest.Trashing{Storage: m}, f, &tree.Buffers{})
	want := func(step, key, value string, all ...string) {
		t.Helper()
		got, err := tr.Get([]byte(key))
		has, hasErr := tr.Has([]byte(key))
		if value == "absent" {
			if !errors.Is(err, tree.ErrNotFound) || has || hasErr != nil {
				t.Errorf("%s: Get gives %q %v, Has %t %v, want none", step, got, err, has, hasErr)
			}
		} else if err != nil || string(got) != value || !has || hasErr != nil {
			t.Errorf("%s: Get gives %q %v, Has %t %v, want %q", step, got, err, has, hasErr, value)
		}
		keys, err := entryKeys(tr.Range(tree.Bounds{}))
		if err != nil || fmt.Sprint(keys) != fmt.Sprint(all) {
			t.Errorf("%s: Range gives %q %v, want %q", step, keys, err, all)
		}
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(tr.Delete([]byte("b")))
	want("delete", "b", "absent", "a", "c")
	do(tr.Put([]byte("b"), []byte("x")))
	want("put", "b", "x", "a", "b", "c")
	do(tr.Put([]byte("b"), nil))
	want("put of an empty value", "b", "", "a", "b", "c")
	do(errors.Join(tr.Put([]byte("b"), []byte("y")), tr.Delete([]byte("b"))))
	want("put and delete", "b", "absent", "a", "c")
	do(tr.Delete([]byte("b")))
	want("delete of the absent", "b", "absent", "a", "c")
	do(errors.Join(tr.Delete([]byte("a")), tr.Put([]byte("a"), []byte("z"))))
	want("delete and put", "a", "z", "a", "c")
	do(tr.Flush())
	check(t, m, f, content{"a": "z", "c": "3"}.leaves(f))
}

// Get and Has of a key find the last of its writes among many that wait.
func TestM7ManyWaitingWrites(t *testing.T) {
	const n = 5000
	m, f := create(t, tree.Format{Q: 4})
	tr := tree.New(m, f, &tree.Buffers{})
	for round := range 3 {
		for i := range n {
			var err error
			if i%7 == round {
				err = tr.Delete(u32(i))
			} else {
				err = tr.Put(u32(i), fmt.Appendf(nil, "%d of round %d", i, round))
			}
			if err != nil {
				t.Fatal(err)
			}
			if i%5 == 0 {
				got, err := tr.Get(u32(i))
				want := fmt.Sprintf("%d of round %d", i, round)
				if i%7 == round && !errors.Is(err, tree.ErrNotFound) ||
					i%7 != round && (err != nil || string(got) != want) {
					t.Fatalf("Get of %d gives %q %v", i, got, err)
				}
			}
		}
	}
	if err := tr.Flush(); err != nil {
		t.Fatal(err)
	}
}

// sequences returns every iteration of a tree, as one over keys.
func sequences(tr *tree.Tree) map[string]iter.Seq2[[]byte, error] {
	entries := func(s iter.Seq2[tree.Entry, error]) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			s(func(e tree.Entry, err error) bool { return yield(e.Key, err) })
		}
	}
	nodes := func(s iter.Seq2[tree.Node, error]) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			s(func(n tree.Node, err error) bool { return yield(n.Key, err) })
		}
	}
	return map[string]iter.Seq2[[]byte, error]{
		"Range":         entries(tr.Range(tree.Bounds{})),
		"Backward":      entries(tr.Backward(tree.Bounds{})),
		"Nodes":         nodes(tr.Nodes(0, tree.Bounds{})),
		"NodesBackward": nodes(tr.NodesBackward(0, tree.Bounds{})),
		"Children":      nodes(tr.Children(1, nil)),
	}
}

// A write during an iteration ends it with ErrWritten; a write that is refused does not.
func TestL32WriteWhileRanging(t *testing.T) {
	c := content{}
	for i := range 100 {
		c[string(u32(i))] = "v"
	}
	m, f := c.build(t, tree.Format{Q: 1 << 30})
	writes := map[string]func(*tree.Tree) error{
		"Put":          func(tr *tree.Tree) error { return tr.Put(u32(1), nil) },
		"Put of a new": func(tr *tree.Tree) error { return tr.Put([]byte("new"), nil) },
		"Delete":       func(tr *tree.Tree) error { return tr.Delete(u32(50)) },
		"write, Flush": func(tr *tree.Tree) error { return errors.Join(tr.Delete(u32(50)), tr.Flush()) },
		"refused Put":  func(tr *tree.Tree) error { return tr.Put(nil, nil) },
		"refused Load": func(tr *tree.Tree) error {
			_, err := tr.Load(content{}.sequence())
			return err
		},
		"PutHash":  func(tr *tree.Tree) error { return tr.PutHash(u32(1), tree.EmptyHash(16)) },
		"long key": func(tr *tree.Tree) error { return tr.Delete(make([]byte, tree.MaxKey+1)) },
		"reads and all": func(tr *tree.Tree) error {
			_, err := tr.Root()
			return errors.Join(err, tr.Flush())
		},
	}
	for name, w := range writes {
		for seq := range sequences(tree.New(m, f, nil)) {
			tr := tree.New(&treetest.Trashing{Storage: m.Clone()}, f, tree.SmallBuffers(1<<10))
			var errs []error
			n, refused := 0, false
			for _, err := range sequences(tr)[seq] {
				if err != nil {
					errs = append(errs, err)
					continue
				}
				if n++; n == 3 {
					refused = w(tr) != nil || name == "reads and all"
				}
			}
			switch {
			case refused && (len(errs) > 0 || n < 100):
				t.Errorf("%s within %s: %d yielded, errors %v, want all of them", name, seq, n, errs)
			case !refused && (n != 3 || len(errs) != 1 || !errors.Is(errs[0], tree.ErrWritten)):
				t.Errorf("%s within %s: %d yielded, errors %v, want ErrWritten once", name, seq, n, errs)
			}
		}
	}
}

// Reads during an iteration do not disturb it, in a tree that is filled in this transaction
// too: what they complete on the way is no write of the caller's.
func TestReadsWhileRanging(t *testing.T) {
	reads := map[string]func(*tree.Tree) error{
		"Root":  func(tr *tree.Tree) error { _, err := tr.Root(); return err },
		"Len":   func(tr *tree.Tree) error { _, err := tr.Len(); return err },
		"Node":  func(tr *tree.Tree) error { _, err := tr.Node(1, nil); return err },
		"Get":   func(tr *tree.Tree) error { _, err := tr.Get(u32(7)); return err },
		"Range": func(tr *tree.Tree) error { _, err := entryKeys(tr.Range(tree.Bounds{})); return err },
	}
	for name, read := range reads {
		for _, n := range []int{100, 2000} { // 2,000 are a bulk load
			m, f := create(t, tree.Format{Q: 4})
			tr := tree.New(&treetest.Trashing{Storage: m}, f, &tree.Buffers{})
			for i := range n {
				if err := tr.Put(u32(i), u32(i)); err != nil {
					t.Fatal(err)
				}
			}
			i := 0
			for e, err := range tr.Range(tree.Bounds{}) {
				if err != nil || !bytes.Equal(e.Key, u32(i)) || !bytes.Equal(e.Value, u32(i)) {
					t.Errorf("%s among %d entries: entry %d is %x=%x (%v)", name, n, i, e.Key, e.Value, err)
					break
				}
				if i++; i%100 != 1 {
					continue
				}
				if err := read(tr); err != nil {
					t.Fatalf("%s among %d entries: %v", name, n, err)
				}
				if !bytes.Equal(e.Key, u32(i-1)) {
					t.Errorf("%s among %d entries spoils what was yielded", name, n)
				}
			}
		}
	}
}

// What a Get has lent stays as it is while a tree that writes only looks up more keys, and
// until the end in a tree that reads.
func TestLentValue(t *testing.T) {
	c := content{}
	for i := range 100 {
		c[string(u32(i))] = "value"
	}
	lookUp := map[string]func(*tree.Tree) error{
		"Get":            func(tr *tree.Tree) error { _, err := tr.Get(u32(7)); return err },
		"Get of another": func(tr *tree.Tree) error { _, err := tr.Get([]byte("new")); return err },
		"Has":            func(tr *tree.Tree) error { _, err := tr.Has(u32(3)); return err },
	}
	reads := map[string]func(*tree.Tree) error{
		"Root":  func(tr *tree.Tree) error { _, err := tr.Root(); return err },
		"Range": func(tr *tree.Tree) error { _, err := entryKeys(tr.Range(tree.Bounds{})); return err },
		"Len":   func(tr *tree.Tree) error { _, err := tr.Len(); return err },
		"Flush": func(tr *tree.Tree) error { return tr.Flush() },
	}
	maps.Copy(reads, lookUp)
	m, f := c.build(t, tree.Format{Q: 4})
	lend := func(tr *tree.Tree, reads map[string]func(*tree.Tree) error) {
		t.Helper()
		value, err := tr.Get(u32(50))
		if err != nil {
			t.Fatal(err)
		}
		for name, read := range reads {
			if err := read(tr); err != nil && !errors.Is(err, tree.ErrNotFound) {
				t.Fatal(err)
			}
			if string(value) != "value" {
				t.Errorf("after %s the value that Get lent is %x", name, value)
			}
		}
	}
	lend(tree.New(&treetest.Trashing{Storage: m}, f, nil), reads)
	tr := tree.New(&treetest.Trashing{Storage: m}, f, &tree.Buffers{})
	if err := errors.Join(tr.Delete(u32(1)), tr.Put([]byte("new"), nil)); err != nil {
		t.Fatal(err)
	}
	lend(tr, lookUp)
}

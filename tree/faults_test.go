package tree_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

// A fault is a transaction that is failed at each of its storage calls.
type fault struct {
	name  string
	q     uint32
	start content // what is stored before
	want  content // and after
	run   func(*tree.Tree) error
	reads int // of its calls, those at first that are no part of a flush
}

func faults() []fault {
	numbers := func(from, to int, v string) content {
		c := content{}
		for i := from; i < to; i++ {
			c[fmt.Sprintf("%05d", i)] = v
		}
		return c
	}
	put := func(tr *tree.Tree, c content) error {
		for k, v := range c {
			if err := tr.Put([]byte(k), []byte(v)); err != nil {
				return err
			}
		}
		return nil
	}
	del := func(tr *tree.Tree, c content) error {
		for k := range c {
			if err := tr.Delete([]byte(k)); err != nil {
				return err
			}
		}
		return nil
	}
	load := func(c content) func(tr *tree.Tree) error {
		return func(tr *tree.Tree) error {
			_, err := tr.Load(c.sequence())
			return err
		}
	}
	return []fault{
		{"first entry", 4, nil, content{"a": "1"}, func(tr *tree.Tree) error {
			return put(tr, content{"a": "1"})
		}, 0},
		{"overwrites", 2, numbers(0, 200, "old"), numbers(0, 200, "new"), func(tr *tree.Tree) error {
			return put(tr, numbers(0, 200, "new"))
		}, 0},
		{"puts and deletes", 3, numbers(0, 300, "v"), numbers(100, 400, "v"),
			func(tr *tree.Tree) error {
				return errors.Join(del(tr, numbers(0, 100, "")), put(tr, numbers(300, 400, "v")))
			}, 0},
		{"everything deleted", 2, numbers(0, 300, "v"), nil, func(tr *tree.Tree) error {
			return del(tr, numbers(0, 300, ""))
		}, 0},
		{"several flushes", 4, numbers(0, 50, "v"), numbers(10, 70, "w"), func(tr *tree.Tree) error {
			return errors.Join(put(tr, numbers(10, 50, "w")), tr.Flush(),
				put(tr, numbers(50, 70, "w")), tr.Flush(), del(tr, numbers(0, 10, "")))
		}, 0},
		{"bulk puts", 4, nil, numbers(0, 400, "v"), func(tr *tree.Tree) error {
			return put(tr, numbers(0, 400, "v"))
		}, 0},
		{"bulk puts in runs", 2, nil, numbers(50, 700, "v"), func(tr *tree.Tree) error {
			return errors.Join(put(tr, numbers(0, 300, "v")), tr.Settle(),
				put(tr, numbers(300, 650, "v")), tr.Settle(),
				del(tr, numbers(0, 50, "")), put(tr, numbers(650, 700, "v")))
		}, 0},
		{"load", 3, nil, numbers(0, 500, "v"), load(numbers(0, 500, "v")), 1},
		{"load of few", 3, nil, numbers(0, 20, "v"), load(numbers(0, 20, "v")), 1},
	}
}

// sequence yields c in key order.
func (c content) sequence() iter.Seq2[tree.Entry, error] {
	return func(yield func(tree.Entry, error) bool) {
		keys := make([]string, 0, len(c))
		for k := range c {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			if !yield(tree.Entry{Key: []byte(k), Value: []byte(c[k])}, nil) {
				return
			}
		}
	}
}

// Whichever call of storage fails, and whether or not it was done, the error comes back, the
// tree is dead from then on, and the store without that transaction is what it was.
func TestEveryStorageCallFails(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 9
	}
	for _, c := range faults() {
		for _, done := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/done %t", c.name, done), func(t *testing.T) {
				start, f := c.start.build(t, tree.Format{Q: c.q})
				saved := deepClone(start)
				buf := tree.SmallBuffers(8 * f.K) // so that some nodes need several calls
				cache := tree.NewCache(1 << 20)   // of all transactions, failed ones too
				for n := 1; ; n += step {
					s := &treetest.Failing{Storage: start.Clone(), At: n, Done: done}
					tr := tree.New(s, f, buf)
					tr.Remember(cache)
					err := errors.Join(c.run(tr), tr.Flush())
					if !s.Failed() {
						if err != nil {
							t.Fatalf("without a failure: %v", err)
						}
						break
					}
					if !errors.Is(err, treetest.ErrInjected) {
						t.Fatalf("call %d fails and the error is %v", n, err)
					}
					if n > c.reads {
						wantDead(t, tr, n)
					}
				}
				if !slices.EqualFunc(saved, start.Records(), sameRecord) {
					t.Fatal("the records before the transaction have changed")
				}
				tr := tree.New(start, f, buf) // memory that failed transactions have used
				tr.Remember(cache)
				if err := errors.Join(c.run(tr), tr.Flush()); err != nil {
					t.Fatal(err)
				}
				check(t, start, f, c.want.leaves(f))
			})
		}
	}
}

func deepClone(m *treetest.Memory) (all []tree.Record) {
	for _, r := range m.Records() {
		all = append(all, tree.Record{Key: bytes.Clone(r.Key), Value: bytes.Clone(r.Value)})
	}
	return all
}

func sameRecord(a, b tree.Record) bool {
	return bytes.Equal(a.Key, b.Key) && bytes.Equal(a.Value, b.Value)
}

// wantDead demands ErrFailed, with the first error in its chain, of every method.
func wantDead(t *testing.T, tr *tree.Tree, n int) {
	t.Helper()
	for name, err := range everyCall(tr) {
		if !errors.Is(err, tree.ErrFailed) || !errors.Is(err, treetest.ErrInjected) {
			t.Errorf("after call %d failed, %s gives %v, want ErrFailed", n, name, err)
		}
	}
}

// everyCall makes every call that a tree in store mode has, with arguments that are fine, and
// returns their errors.
func everyCall(tr *tree.Tree) map[string]error {
	key := []byte("00001")
	_, get := tr.Get(key)
	_, has := tr.Has(key)
	_, root := tr.Root()
	_, node := tr.Node(0, nil)
	_, length := tr.Len()
	_, load := tr.Load(content{"a": "1"}.sequence())
	_, forward := entryKeys(tr.Range(tree.Bounds{}))
	_, backward := entryKeys(tr.Backward(tree.Bounds{}))
	_, nodes := collect(tr.Nodes)(0, tree.Bounds{})
	_, nodesBackward := collect(tr.NodesBackward)(0, tree.Bounds{})
	var children error
	for _, err := range tr.Children(1, nil) {
		children = err
	}
	return map[string]error{
		"Get": get, "Has": has, "Root": root, "Node": node, "Len": length, "Load": load,
		"Range": forward, "Backward": backward, "Nodes": nodes, "NodesBackward": nodesBackward,
		"Children": children, "Put": tr.Put(key, nil), "Delete": tr.Delete(key), "Flush": tr.Flush(),
	}
}

// A read that fails gives its error and does no harm to the transaction.
func TestReadsFail(t *testing.T) {
	c := content{}
	for i := range 100 {
		c[string(u32(i))] = "v"
	}
	m, f := c.build(t, tree.Format{Q: 4})
	reads := map[string]func(*tree.Tree) error{
		"Get":  func(tr *tree.Tree) error { _, err := tr.Get(u32(1)); return err },
		"Has":  func(tr *tree.Tree) error { _, err := tr.Has(u32(1)); return err },
		"Root": func(tr *tree.Tree) error { _, err := tr.Root(); return err },
		"Node": func(tr *tree.Tree) error { _, err := tr.Node(1, nil); return err },
		"Len":  func(tr *tree.Tree) error { _, err := tr.Len(); return err },
		"Range": func(tr *tree.Tree) error {
			_, err := entryKeys(tr.Range(tree.Bounds{}))
			return err
		},
		"Backward": func(tr *tree.Tree) error {
			_, err := entryKeys(tr.Backward(tree.Bounds{}))
			return err
		},
		"Nodes": func(tr *tree.Tree) error {
			_, err := collect(tr.Nodes)(0, tree.Bounds{})
			return err
		},
		"Children": func(tr *tree.Tree) (err error) {
			for _, e := range tr.Children(1, nil) {
				err = e
			}
			return err
		},
	}
	for name, read := range reads {
		for n := 1; ; n++ {
			s := &treetest.Failing{Storage: m.Clone(), At: n}
			tr := tree.New(s, f, tree.SmallBuffers(1<<10))
			err := read(tr)
			if !s.Failed() {
				if err != nil {
					t.Errorf("%s without a failure: %v", name, err)
				}
				break
			}
			if !errors.Is(err, treetest.ErrInjected) {
				t.Errorf("call %d of %s fails and the error is %v", n, name, err)
			}
			if err := read(tr); err != nil {
				t.Errorf("%s after its failure: %v", name, err)
			}
			if err := errors.Join(tr.Put([]byte("k"), nil), tr.Flush()); err != nil {
				t.Errorf("a write after a failed %s: %v", name, err)
			}
		}
	}
}

package tree_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

// What a rebuild says of the entries: how many did not fit, and whether anything stored vouches
// for them all the same.
func TestM13RebuildTrust(t *testing.T) {
	cases := []struct {
		name           string
		do             func(*treetest.Memory)
		wrong, dropped int64
		level1         bool // it is that of the leaves
		vouched        bool // by the root's anchor
		trusted        bool
	}{
		{"nothing", func(*treetest.Memory) {}, 0, 0, true, true, true},
		{"value altered", alter(0, "apple", flipLast), 1, 0, true, false, false},
		// With the right hash the old root is that of the entries: the value was not damaged.
		{"hash altered", alter(0, "apple", flipAt(15)), 1, 0, false, true, true},
		{"leaf cut", alter(0, "apple", cutTo(3)), 0, 1, false, false, false},
		{"a cut record added", set(0, "kiwi", "abc"), 0, 1, true, true, true},
		{"leaf deleted", remove(0, "banana"), 0, 0, false, false, false},
		{"leaf added", leaf("fig", "0"), 0, 0, false, false, false},
		{"anchor deleted", remove(0, ""), 0, 0, false, true, true},
		{"anchor longer", alter(0, "", longer), 0, 0, true, true, true},
		{"node altered", alter(1, "cherry", flipLast), 0, 0, false, true, true},
		{"root altered", alter(2, "", flipLast), 0, 0, true, false, true},
		{"root deleted", remove(2, ""), 0, 0, true, false, true},
		{"level above", set(9, "", ""), 0, 0, true, false, true},
		{"header deleted", remove(0xff, ""), 0, 0, true, true, true},
		{"level above, and a node altered", func(m *treetest.Memory) {
			alter(1, "cherry", flipLast)(m)
			set(9, "", "")(m)
		}, 0, 0, false, false, false},
		{"node and root altered", func(m *treetest.Memory) {
			alter(1, "cherry", flipLast)(m)
			alter(2, "", flipLast)(m)
		}, 0, 0, false, false, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m, f := six.build(t, tree.Format{K: 16, Q: 4})
			c.do(m)
			leaves := leavesIn(m, f)
			want := problemsOf(t, m, f)
			before := m.Clone()
			survey, err := tree.New(m, f, nil).Survey(nil, nil)
			if err != nil || !slices.EqualFunc(before.Records(), m.Records(), sameRecord) {
				t.Fatalf("Survey gives %v", err)
			}
			found := []string{}
			var r tree.Rebuilt
			write(t, &treetest.Trashing{Storage: m}, f, func(tr *tree.Tree) (err error) {
				r, err = tr.Rebuild(func(p tree.Problem) error {
					found = append(found, short(p))
					return nil
				}, nil)
				return err
			})
			if survey != r || !slices.Equal(found, want) {
				t.Errorf("found %q, want %q; %+v, surveyed %+v", found, want, r, survey)
			}
			if r.Wrong != c.wrong || r.Dropped != c.dropped || r.Entries != int64(len(leaves)) ||
				r.Level1 != c.level1 || r.Vouched != c.vouched || r.Trusted() != c.trusted ||
				r.After != rootOf(t, m, f) {
				t.Errorf("%+v, trusted %t", r, r.Trusted())
			}
			check(t, m, f, leaves)
		})
	}
}

// When the last leaf of a tree is lost together with the root, an anchor below is the root of the
// entries that are left, and was stored. It does not vouch for them: it was not the root.
func TestM13RebuildTrustsNoLowerAnchor(t *testing.T) {
	f := tree.Format{K: 16, Q: 4, Mode: tree.Store}
	c := maps.Clone(six)
	for i := 0; ; i++ { // a last leaf that is a boundary on levels 0 and 1
		key := fmt.Sprint("z", i)
		h := tree.LeafHash(f.K, []byte(key), nil)
		above := tree.NodeHash(f.K, h.Bytes())
		if f.Rule().Boundary(h.Bytes()) && f.Rule().Boundary(above.Bytes()) {
			c[key] = ""
			m, f := c.build(t, f)
			root := rootOf(t, m, f)
			m.Remove(append([]byte{0}, key...))
			m.Remove([]byte{byte(root.Level)})
			leaves := leavesIn(m, f)
			r := rebuild(t, m, f)
			if r.Before != r.After || r.Vouched || r.Trusted() || root.Level < 3 {
				t.Errorf("the root was %s; %+v", root, r)
			}
			check(t, m, f, leaves)
			return
		}
	}
}

// A rebuild in a transaction with other writes holds them, and goes on as any other.
func TestM13RebuildAmongWrites(t *testing.T) {
	m, f := six.build(t, tree.Format{K: 16, Q: 4})
	alter(0, "apple", flipLast)(m)
	write(t, m, f, func(tr *tree.Tree) error {
		if err := tr.Put([]byte("kiwi"), []byte("brown")); err != nil {
			return err
		}
		if _, err := tr.Rebuild(nil, nil); err != nil {
			return err
		}
		return tr.Delete([]byte("apple"))
	})
	c := content{"kiwi": "brown"}
	for k, v := range six {
		if k != "apple" {
			c[k] = v
		}
	}
	check(t, m, f, c.leaves(f))
	if _, err := tree.New(m, f, nil).Rebuild(nil, nil); !errors.Is(err, tree.ErrReadOnly) {
		t.Errorf("a tree that reads gives %v", err)
	}
	errFound := errors.New("not that one")
	alter(0, "banana", flipLast)(m)
	before := m.Clone()
	tr := tree.New(m, f, &tree.Buffers{})
	_, err := tr.Rebuild(func(tree.Problem) error { return errFound }, nil)
	if !errors.Is(err, errFound) || !slices.EqualFunc(before.Records(), m.Records(), sameRecord) {
		t.Errorf("stopped before it writes, it gives %v", err)
	}
	if err := tr.Delete([]byte("banana")); err != nil {
		t.Error(err)
	}
}

// Each call of the storage may fail: before the first that writes nothing has happened, and
// after it the transaction has failed.
func TestM13RebuildFaults(t *testing.T) {
	for _, done := range []bool{false, true} {
		for at := 1; ; at++ {
			m, f := six.build(t, tree.Format{K: 16, Q: 4})
			alter(0, "apple", flipLast)(m)
			alter(1, "cherry", flipLast)(m)
			set(0xff, "x", "")(m)
			before := m.Clone()
			s := &treetest.Failing{Storage: m, At: at, Done: done}
			tr := tree.New(s, f, &tree.Buffers{})
			_, err := tr.Rebuild(nil, nil)
			if !s.Failed() {
				break
			}
			if !errors.Is(err, treetest.ErrInjected) {
				t.Errorf("call %d failed: %v", at, err)
			}
			same := slices.EqualFunc(before.Records(), m.Records(), sameRecord)
			if err := tr.Flush(); !same && err == nil {
				// The last call only reads the new root.
				check(t, m, f, leavesIn(m, f))
			} else if !same && !errors.Is(err, tree.ErrFailed) {
				t.Errorf("call %d failed: afterwards %v", at, err)
			}
		}
	}
}

// Many damaged leaves, with values of all lengths, of more than one batch.
func TestM13RebuildMany(t *testing.T) {
	for _, f := range []tree.Format{{K: 16, Q: 4}, {K: 16, Q: 32, Mode: tree.Index}} {
		m, f := create(t, f)
		const n = 3000
		write(t, m, f, func(tr *tree.Tree) error {
			for i := range n {
				value := fmt.Appendf(nil, "%0*d", 1+i%7*i%300, i)
				if err := tr.Put(u32(i), value); err != nil {
					return err
				}
			}
			return nil
		})
		var wrong, dropped int64
		for i := range n {
			switch {
			case i%3 == 0:
				alter(0, string(u32(i)), longer)(m)
				wrong++
			case i%100 == 1:
				alter(0, string(u32(i)), cutTo(3))(m)
				dropped++
			}
		}
		leaves := leavesIn(m, f)
		r := rebuild(t, m, f)
		if r.Wrong != wrong || r.Dropped != dropped || r.Entries != n-dropped || r.Trusted() {
			t.Errorf("%s: %+v", f, r)
		}
		check(t, m, f, leaves)
	}
}

// Salvage yields the entries that a rebuild would keep.
func TestM13Salvage(t *testing.T) {
	for _, mode := range []tree.Mode{tree.Store, tree.Index} {
		m, f := six.build(t, tree.Format{K: 16, Q: 4, Mode: mode})
		alter(0, "apple", longer)(m)
		alter(0, "banana", cutTo(15))(m)
		remove(1, "")(m)
		remove(2, "")(m)
		want := leavesIn(m, f)
		tr := tree.New(m, f, &tree.Buffers{})
		n := 0
		for e, err := range tr.Salvage() {
			if err != nil {
				t.Fatal(err)
			}
			leaf := want[string(e.Key)]
			if string(e.Value) != string(leaf.Value) || (e.Value == nil) != (leaf.Value == nil) {
				t.Errorf("%s: %s is %q, want %q", mode, e.Key, e.Value, leaf.Value)
			}
			if same := e.Hash() == leaf.Hash; same != (mode == tree.Index || string(e.Key) != "apple") {
				t.Errorf("%s: %s has the hash %s", mode, e.Key, e.Hash())
			}
			n++
		}
		if n != len(want) {
			t.Errorf("%s: %d entries, want %d", mode, n, len(want))
		}
		for range tr.Salvage() {
			break
		}
		var last error
		for _, err := range tr.Salvage() {
			if last = err; err == nil {
				last = errors.Join(tr.Delete([]byte("absent")), last)
			}
		}
		if !errors.Is(last, tree.ErrWritten) {
			t.Errorf("%s: written to, it ends with %v", mode, last)
		}
	}
}

package tree_test

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

func shapeOf(t *testing.T, m *treetest.Memory, f tree.Format) tree.Shape {
	t.Helper()
	s, err := tree.New(m, f, nil).Shape()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The shape of known trees: nodes with the anchor, mean, 99 of 100 and widest.
func TestM19C9ShapeOfKnownTrees(t *testing.T) {
	cases := []struct {
		c    content
		want []tree.LevelShape
	}{
		{nil, []tree.LevelShape{{Nodes: 1}}},
		{content{"apple": "red"}, []tree.LevelShape{
			{Nodes: 2}, {Level: 1, Nodes: 1, Mean: 2, P99: 2, Max: 2},
		}},
		{content{"a": "foo"}, []tree.LevelShape{
			{Nodes: 2},
			{Level: 1, Nodes: 2, Mean: 1, P99: 1, Max: 1},
			{Level: 2, Nodes: 2, Mean: 1, P99: 1, Max: 1},
			{Level: 3, Nodes: 1, Mean: 2, P99: 2, Max: 2},
		}},
		{six, []tree.LevelShape{
			{Nodes: 7},
			{Level: 1, Nodes: 3, Mean: 7 / 3., P99: 3, Max: 3},
			{Level: 2, Nodes: 1, Mean: 3, P99: 3, Max: 3},
		}},
	}
	for _, c := range cases {
		m, f := c.c.build(t, tree.Format{K: 16, Q: 4})
		got := shapeOf(t, m, f)
		for i := range got.Levels {
			l := &got.Levels[i]
			if l.Widest != nil || l.TooWide() || (l.Chance > 0) != (i > 0) {
				t.Errorf("%d entries, level %d: %+v", len(c.c), i, *l)
			}
			l.Chance = 0
		}
		equal := func(a, b tree.LevelShape) bool {
			return a.Level == b.Level && a.Nodes == b.Nodes && a.Mean == b.Mean && a.P99 == b.P99 &&
				a.Max == b.Max
		}
		if !slices.EqualFunc(got.Levels, c.want, equal) {
			t.Errorf("%d entries: %+v, want %+v", len(c.c), got.Levels, c.want)
		}
	}
}

// P99 is the least width that 99 of 100 nodes do not exceed. Beside the nodes made here there is
// the anchor, which has one child.
func TestM19ShapeP99(t *testing.T) {
	for _, c := range []struct {
		widths   map[int]int // nodes by number of children
		p99, max int64
	}{
		{map[int]int{1: 99, 101: 1}, 1, 101},
		{map[int]int{1: 98, 51: 2}, 51, 51},
		{map[int]int{1: 1, 3: 1}, 3, 3},
		{map[int]int{5: 1}, 5, 5},
	} {
		m, f := create(t, tree.Format{K: 16, Q: 1 << 20, Mode: tree.Index})
		key := 0
		write(t, m, f, func(tr *tree.Tree) error {
			for width, n := range c.widths {
				for range n {
					for child := range width {
						h := plainHash(t, f.K, key)
						if child == 0 {
							h = madeHash(t, f.K, 0, key)
						}
						if err := tr.PutHash(u32(key), h); err != nil {
							return err
						}
						key++
					}
				}
			}
			return nil
		})
		l := shapeOf(t, m, f).Levels[1]
		if l.P99 != c.p99 || l.Max != c.max {
			t.Errorf("%v: %+v", c.widths, l)
		}
		if l.Max > 1 && (l.Widest == nil || c.widths[int(l.Max)] == 1 && !firstOf(m, l)) {
			t.Errorf("%v: the widest is %x", c.widths, l.Widest)
		}
	}
}

// firstOf reports whether the node that l calls the widest has as many children as it says.
func firstOf(m *treetest.Memory, l tree.LevelShape) bool {
	n := int64(0)
	f := tree.Format{K: 16, Q: 1 << 20, Mode: tree.Index}
	for range tree.New(m, f, nil).Children(1, l.Widest) {
		n++
	}
	return n == l.Max
}

// The widths of random entries are never called too wide; a node of chosen ones is.
func TestM1M19ShapeWarnsOfChosenEntries(t *testing.T) {
	salt := binary.BigEndian.AppendUint64(nil, seed(t))
	for _, f := range []tree.Format{{Q: 2}, {Q: 4}, {Q: 32}, {Q: 1000}} {
		m, f := create(t, f)
		write(t, m, f, func(tr *tree.Tree) error {
			for i := range 20000 {
				if err := tr.Put(u32(i), salt); err != nil {
					return err
				}
			}
			return nil
		})
		s := shapeOf(t, m, f)
		if w := s.Warnings(); len(w) > 0 {
			t.Errorf("random entries: %q", w)
		}
		// The nodes are as many as boundaries among the entries, by chance n, give or take √n.
		n := 20000 / float64(f.Q)
		if l := s.Levels[1]; math.Abs(float64(l.Nodes)-n) > 6*math.Sqrt(n) || l.Max > l.Chance {
			t.Errorf("Q %d: %+v", f.Q, l)
		}
	}
	m, f := create(t, tree.Format{Q: 32, K: 16, Mode: tree.Index})
	write(t, m, f, func(tr *tree.Tree) error {
		for i := range 2000 {
			if err := tr.Put(u32(i), nil); err != nil {
				return err
			}
		}
		for i := range 1000 {
			key := append(u32(1000), byte(i>>8), byte(i))
			if err := tr.PutHash(key, plainHash(t, f.K, i)); err != nil {
				return err
			}
		}
		return nil
	})
	w := shapeOf(t, m, f).Warnings()
	if len(w) != 1 || !strings.HasPrefix(w[0], "level 1: the node at key 000003") ||
		!strings.HasSuffix(w[0], "it was grown by chosen entries") {
		t.Errorf("chosen entries: %q", w)
	}
	wide, f := create(t, tree.Format{Q: 2, K: 16, Mode: tree.Index})
	write(t, wide, f, func(tr *tree.Tree) error {
		for i := range 30 {
			if err := tr.PutHash(u32(i), plainHash(t, f.K, i)); err != nil {
				return err
			}
		}
		return nil
	})
	w = shapeOf(t, wide, f).Warnings()
	want := "level 1: the node at the anchor has 31 children, and by chance none would have more" +
		" than 20: it was grown by chosen entries"
	if !slices.Equal(w, []string{want}) {
		t.Errorf("a tree of one node: %q", w)
	}
}

// WidthByChance is the least width that satisfies its formula.
func TestM19WidthByChance(t *testing.T) {
	for _, q := range []uint32{2, 3, 4, 32, 257, 1 << 20, math.MaxUint32} {
		for _, nodes := range []int64{1, 2, 1000, 1e6, 1e12} {
			w := tree.WidthByChance(q, nodes)
			wider := func(w int64) float64 {
				p := float64(tree.Format{Q: q}.Rule().Limit) / (1 << 32)
				return float64(nodes) * math.Exp(float64(w)*math.Log1p(-p))
			}
			if wider(w) > 1e-6*(1+1e-9) || wider(w-1) < 1e-6 {
				t.Errorf("Q %d, %d nodes: %d, for %g wider nodes", q, nodes, w, wider(w))
			}
		}
	}
	if w := tree.WidthByChance(32, 0); w != 0 {
		t.Errorf("no nodes: %d", w)
	}
	if w := tree.WidthByChance(32, 1e6); w != 871 {
		t.Errorf("Q 32, a million nodes: %d", w)
	}
}

// A record without a hash has no place in a shape.
func TestM19ShapeOfDamage(t *testing.T) {
	m, f := six.build(t, tree.Format{K: 16, Q: 4})
	alter(0, "apple", cutTo(3))(m)
	if _, err := tree.New(m, f, nil).Shape(); err == nil {
		t.Error("there is no error")
	}
}

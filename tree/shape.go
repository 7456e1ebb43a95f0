package tree

import (
	"bytes"
	"fmt"
	"math"
	"slices"
)

// A Shape is the number of nodes of a tree and of their children, level by level.
type Shape struct {
	Levels []LevelShape // from level 0 up to that of the root
}

// A LevelShape describes one level. Of level 0, whose nodes have no children, it gives Nodes only.
type LevelShape struct {
	Level int
	Nodes int64 // with the anchor

	Mean float64 // children of a node
	P99  int64   // 99 of 100 nodes have at most so many
	Max  int64   // children of the widest node

	// Widest is the key of the first node with Max children, nil if that is the anchor.
	Widest []byte

	// Chance is the number of children that no node of the level would exceed by chance: see
	// [WidthByChance].
	Chance int64
}

// TooWide reports whether the widest node has more children than chance allows: then the node was
// grown by entries chosen for it, or in index mode by hashes that are not random.
func (l LevelShape) TooWide() bool { return l.Level > 0 && l.Max > l.Chance }

// Warnings returns a sentence for each level with a node that is too wide.
func (s Shape) Warnings() []string {
	var all []string
	for _, l := range s.Levels {
		if !l.TooWide() {
			continue
		}
		where := "the anchor"
		if l.Widest != nil {
			where = fmt.Sprintf("key %x", l.Widest)
		}
		all = append(all, fmt.Sprintf("level %d: the node at %s has %d children, and by chance none"+
			" would have more than %d: it was grown by chosen entries", l.Level, where, l.Max, l.Chance))
	}
	return all
}

// rare is the expected number of nodes in a level, by chance, from which on a node is taken for
// grown by chosen entries.
const rare = 1e-6

// WidthByChance returns the least number w of children for which chance makes less than 1e-6
// nodes wider, in a level of so many nodes: nodes · P(children > w) < 1e-6. A child is followed
// by another of the same node unless that is a boundary, one in q, so the number of children is
// distributed geometrically with mean q, and P(children > w) = (1 - 1/q)^w, where 1/q is rounded
// as the rule for boundaries rounds it. It requires q >= 2.
func WidthByChance(q uint32, nodes int64) int64 {
	if nodes < 1 {
		return 0
	}
	boundary := float64(Format{Q: q}.Rule().Limit) / (1 << 32)
	return int64(math.Ceil(math.Log(float64(nodes)/rare) / -math.Log1p(-boundary)))
}

// Shape returns the shape of the tree. It reads all records below the root's level once, and
// keeps a number for each number of children that occurs, of which there are about √(2n) at most
// in a level of n. It trusts what is stored; [Tree.Verify] checks it.
func (t *Tree) Shape() (Shape, error) { return t.ShapeWatched(nil) }

// ShapeWatched is [Tree.Shape] with a sign of life and a way to stop: see [Watch].
func (t *Tree) ShapeWatched(w Watch) (Shape, error) {
	root, err := t.Root()
	if err != nil {
		return Shape{}, err
	}
	s := Shape{Levels: make([]LevelShape, root.Level+1)}
	for level := range s.Levels {
		s.Levels[level].Level = level
	}
	if root.Level == 0 {
		s.Levels[0].Nodes = 1
	}
	for level := range root.Level {
		children, above, err := t.widths(byte(level), w)
		if err != nil {
			return Shape{}, err
		}
		above.Level = level + 1
		above.Chance = WidthByChance(t.format.Q, above.Nodes)
		s.Levels[level].Nodes, s.Levels[level+1] = children, above
	}
	return s, nil
}

// widths counts the records of a level, and describes the level above, which follows from it.
func (t *Tree) widths(level byte, w Watch) (children int64, above LevelShape, err error) {
	v := verifier{t: t, watch: w}
	below := v.records([]byte{level}, []byte{level + 1})
	defer below.close()
	nodesWith := map[int64]int64{} // by number of children
	var key []byte                 // of the node under way
	var width int64
	end := func() {
		nodesWith[width]++
		if width > above.Max {
			above.Max, above.Widest = width, bytes.Clone(key)
		}
	}
	for {
		rec, err := below.next()
		if err != nil {
			return 0, above, err
		}
		if rec == nil {
			break
		}
		if len(rec.Value) < t.rule.Len {
			return 0, above, corruptRecord(rec.Key)
		}
		if children > 0 && t.rule.Boundary(rec.Value) {
			end()
			key, width = append(key[:0], rec.Key[1:]...), 0
		}
		children++
		width++
	}
	end()
	above.spread(nodesWith)
	return children, above, nil
}

// spread sets what nodesWith says, the number of nodes for each number of children.
func (l *LevelShape) spread(nodesWith map[int64]int64) {
	var widths []int64
	var children int64
	for width, n := range nodesWith {
		widths = append(widths, width)
		l.Nodes += n
		children += width * n
	}
	l.Mean = float64(children) / float64(l.Nodes)
	slices.Sort(widths)
	var upTo int64
	for _, width := range widths {
		if upTo += nodesWith[width]; upTo*100 >= l.Nodes*99 {
			l.P99 = width
			return
		}
	}
}

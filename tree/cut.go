package tree

import (
	"bytes"
	"fmt"
)

// RootThrough returns the root that a tree of the entries up to key, itself included, would
// have. It reads about Q nodes on each level. So a replica that has only been appended to since
// the other left off is known from the other's last key and root.
//
// A level of the tree that is cut is that of t except at its right edge, where a node loses
// children, and with a hash of its own may begin a node above where it did not, or the reverse.
func (t *Tree) RootThrough(key []byte) (Root, error) {
	edge, err := t.lastLeaf(key)
	if err != nil {
		return Root{}, err
	}
	for level := 0; ; level++ {
		if len(edge) == 1 && len(edge[0].Key) == 0 {
			return Root{Level: level, Hash: edge[0].Hash}, nil
		}
		if level == MaxLevel {
			return Root{}, fmt.Errorf("cut at key: %w", ErrTooTall)
		}
		if edge, err = t.edgeAbove(level, edge); err != nil {
			return Root{}, err
		}
	}
}

// lastLeaf returns the last node of level 0 up to key.
func (t *Tree) lastLeaf(key []byte) ([]Node, error) {
	if len(key) == 0 {
		return []Node{{Hash: EmptyHash(t.format.K)}}, nil
	}
	for n, err := range t.NodesBackward(0, Bounds{LE: key}) {
		n.Key = bytes.Clone(n.Key)
		return []Node{n}, err
	}
	return nil, fmt.Errorf("%w: level 0 has no anchor", ErrCorrupt)
}

// edgeAbove returns the nodes of the level above that have children in edge, which are the nodes
// of a level from a key on that differ from those of t, or may.
func (t *Tree) edgeAbove(level int, edge []Node) ([]Node, error) {
	rule := t.format.Rule()
	begins := func(n Node) bool { return len(n.Key) == 0 || rule.Boundary(n.Hash.b[:n.Hash.n]) }

	first := edge[0].Key
	start, err := t.startOf(level+1, first, begins(edge[0]))
	if err != nil {
		return nil, err
	}
	var above []Node
	var children []byte
	add := func(n Node) {
		if begins(n) || len(above) == 0 {
			if len(above) > 0 {
				above[len(above)-1].Hash = NodeHash(t.format.K, children)
			}
			above = append(above, Node{Level: level + 1, Key: bytes.Clone(n.Key)})
			children = children[:0]
		}
		children = append(children, n.Hash.b[:n.Hash.n]...)
	}
	if len(first) > 0 {
		for n, err := range t.Nodes(level, Bounds{GE: start, LT: first}) {
			if err != nil {
				return nil, err
			}
			add(n)
		}
	}
	for _, n := range edge {
		add(n)
	}
	above[len(above)-1].Hash = NodeHash(t.format.K, children)
	return above, nil
}

// startOf returns the key of the first node of a level that may have another hash when the
// nodes below change from key on: the node at key if that begins one both in t and, as begins
// says, when it is cut; else the one before. Nil is the anchor.
func (t *Tree) startOf(level int, key []byte, begins bool) ([]byte, error) {
	bounds := Bounds{LT: key}
	if begins {
		bounds = Bounds{LE: key}
	}
	if len(key) == 0 {
		return nil, nil
	}
	for n, err := range t.NodesBackward(level, bounds) {
		return bytes.Clone(n.Key), err
	}
	return nil, nil // t has no such level
}

package okra_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/okradb/okra-go/okra"
	"github.com/okradb/okra-go/tree"
)

// Root, Node, Nodes, Children and Len agree with each other, in a View and amid an Update:
// every node is found by its key, its children hash to it, and they are the level below.
func TestNodesAgree(t *testing.T) {
	for _, f := range []okra.Options{{Q: 2}, {Q: 32}, {Q: 4, K: 32, Mode: okra.Index}} {
		for _, n := range []int{0, 1, 2, 50, 2000} {
			t.Run(fmt.Sprintf("Q=%d/%d entries", f.Q, n), func(t *testing.T) {
				db := newStore(t, f)
				updateOK(t, db, func(tx *okra.Tx) error {
					for i := range n {
						if err := put(fmt.Sprintf("%05d", i), fmt.Sprint(i))(tx); err != nil {
							return err
						}
					}
					return nodesAgree(tx, n)
				})
				viewOK(t, db, func(tx *okra.Tx) error { return nodesAgree(tx, n) })
			})
		}
	}
}

func nodesAgree(tx *okra.Tx, n int) error {
	k := tx.Format().K
	root, err := tx.Root()
	if err != nil {
		return err
	}
	if got, err := tx.Len(); err != nil || got != int64(n) {
		return fmt.Errorf("the length is %d (%v), want %d", got, err, n)
	}
	top, err := tx.Node(root.Level, nil)
	if err != nil || top.Hash != root.Hash || top.Level != root.Level || top.Key != nil {
		return fmt.Errorf("the top node is %+v (%v), the root %s", top, err, root)
	}
	if _, err := tx.Node(root.Level+1, nil); !errors.Is(err, okra.ErrNotFound) {
		return fmt.Errorf("above the root, Node gives %w", err)
	}
	if n, err := firstError(tx.Nodes(root.Level+1, okra.Bounds{})); n > 0 || err != nil {
		return fmt.Errorf("above the root, Nodes gives %d (%w)", n, err)
	}
	if _, err := firstError(tx.Children(root.Level+1, nil)); !errors.Is(err, okra.ErrNotFound) {
		return fmt.Errorf("above the root, Children gives %w", err)
	}
	if _, err := firstError(tx.Children(0, nil)); !errors.Is(err, okra.ErrLevel) {
		return fmt.Errorf("the children of a leaf give %w", err)
	}
	for level := root.Level; level > 0; level-- {
		var below [][]byte // keys, by way of the children of each node
		for node, err := range tx.Nodes(level, okra.Bounds{}) {
			if err != nil {
				return err
			}
			again, err := tx.Node(level, node.Key)
			if err != nil || again.Hash != node.Hash || !bytes.Equal(again.Key, node.Key) {
				return fmt.Errorf("node %d %x is %s, found as %s (%v)",
					level, node.Key, node.Hash, again.Hash, err)
			}
			var joined []byte
			for child, err := range tx.Children(level, node.Key) {
				if err != nil || child.Level != level-1 {
					return fmt.Errorf("a child of level %d: %w", child.Level, err)
				}
				joined = append(joined, child.Hash.Bytes()...)
				below = append(below, bytes.Clone(child.Key))
			}
			if tree.NodeHash(k, joined) != node.Hash {
				return fmt.Errorf("the children of node %d %x do not hash to it", level, node.Key)
			}
		}
		i := 0
		for node, err := range tx.Nodes(level-1, okra.Bounds{}) {
			if err != nil || i == len(below) || !bytes.Equal(node.Key, below[i]) {
				return fmt.Errorf("node %d of level %d is nobody's child (%v)", i, level-1, err)
			}
			i++
		}
		if i != len(below) {
			return fmt.Errorf("level %d has %d nodes and there are %d children", level-1, i, len(below))
		}
	}
	return nil
}

// A Node or child that is not there is an error, and levels that cannot be are another.
func TestNodesAbsent(t *testing.T) {
	db := newStore(t, okra.Options{})
	updateOK(t, db, put("a", "1", "b", "2"))
	viewOK(t, db, func(tx *okra.Tx) error {
		_, err := tx.Node(0, []byte("absent"))
		wantIs(t, "Node of an absent key", err, okra.ErrNotFound)
		_, err = tx.Node(100, nil)
		wantIs(t, "Node of an absent level", err, okra.ErrNotFound)
		_, err = firstError(tx.Children(1, []byte("absent")))
		wantIs(t, "Children of an absent key", err, okra.ErrNotFound)
		for _, level := range []int{-1, 255, 256, 1 << 40} {
			_, err = tx.Node(level, nil)
			wantIs(t, "Node of no level", err, okra.ErrLevel)
			_, err = firstError(tx.Nodes(level, okra.Bounds{}))
			wantIs(t, "Nodes of no level", err, okra.ErrLevel)
			_, err = firstError(tx.NodesBackward(level, okra.Bounds{}))
			wantIs(t, "NodesBackward of no level", err, okra.ErrLevel)
			_, err = firstError(tx.Children(level, nil))
			wantIs(t, "Children of no level", err, okra.ErrLevel)
		}
		return nil
	})
}

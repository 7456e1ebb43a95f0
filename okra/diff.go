package okra

import (
	"iter"

	"github.com/okradb/okra-go/tree"
)

// What a comparison of trees deals in; package tree says what they promise.
type (
	Source = tree.Source // a tree that Diff reads; a *Tx is one
	Change = tree.Change // how an entry differs between two trees
	Delta  = tree.Delta  // one key under which two trees differ
)

// The changes that would make ours like theirs.
const (
	Added   = tree.Added   // only theirs has the key
	Removed = tree.Removed // only ours has it
	Changed = tree.Changed // both have it, with other values
)

// Diff yields the entries within b in which two trees differ, in ascending order of their keys,
// and reads only the nodes that differ and their neighbours. The trees may be of two stores, two
// tables or two snapshots; their Q and K must be the same, or it yields [ErrFormat]. Errors come
// as in [Tx.All], and neither tree may be written to while it runs.
func Diff(ours, theirs Source, b Bounds) iter.Seq2[Delta, error] { return tree.Diff(ours, theirs, b) }

package okra

import (
	"fmt"
	"iter"

	"github.com/okradb/okra-go/lmdbenv"
	"github.com/okradb/okra-go/tree"
)

// The values that a Tx deals in; package tree says what they promise.
type (
	Hash   = tree.Hash   // the first K bytes of a BLAKE3 digest; compares with ==
	Root   = tree.Root   // the level and hash that name all entries of a tree; compares with ==
	Entry  = tree.Entry  // a key with its value, borrowed
	Node   = tree.Node   // one node of the tree; a nil Key is the anchor of its level
	Bounds = tree.Bounds // a range of keys
)

// Limits of the format.
const (
	MaxKey   = tree.MaxKey   // bytes of a key
	MaxLevel = tree.MaxLevel // of a node
)

// LeafHash returns the leaf hash of an entry in a tree whose hashes have k bytes.
func LeafHash(k int, key, value []byte) Hash { return tree.LeafHash(k, key, value) }

// HashFrom copies b, of 4 to 32 bytes, or returns [ErrHashSize].
func HashFrom(b []byte) (Hash, error) { return tree.HashFrom(b) }

// ParseHash reads what [Hash.String] writes.
func ParseHash(s string) (Hash, error) { return tree.ParseHash(s) }

// PrefixBounds returns the bounds of the keys that begin with p; an empty p means all keys.
func PrefixBounds(p []byte) Bounds { return tree.PrefixBounds(p) }

// A Tx is one tree in one transaction. It belongs to the goroutine that received it and is
// over when the function it was given to returns: later calls give [ErrTxDone]. In Update,
// reads see the writes made before them.
type Tx struct {
	db    *DB
	txn   *lmdbenv.Txn
	table *Table
	tree  *tree.Tree

	writes bool          // it may write
	buf    *tree.Buffers // of tree; nil if it may not
	lend   lender        // of tree's bytes
	nodes  *tree.Cache   // in first: what trees that are written remember, or nil

	first *Tx   // the Tx of the DB's own tree in this transaction
	more  []*Tx // in first: those of other tables
	done  bool  // in first: the transaction is over
}

// Table returns the tree of another table in the same transaction: what is written through
// both commits or fails together. If t is of another DB, every call on the Tx it returns gives
// [ErrOptions].
func (tx *Tx) Table(t *Table) *Tx {
	first := tx.first
	same := func(o *Tx) bool { return o.table.db == t.db && o.table.Name() == t.Name() }
	if same(first) {
		return first
	}
	for _, o := range first.more {
		if same(o) {
			return o
		}
	}
	o := &Tx{db: tx.db, txn: tx.txn, table: t, writes: tx.writes, first: first}
	o.open()
	first.more = append(first.more, o)
	return o
}

// open sets tx.tree, to one that answers every call with an error if it cannot be opened.
func (tx *Tx) open() {
	s, err := tree.Storage(nil), ErrTxDone
	switch {
	case tx.first.done:
	case tx.table.db != tx.db:
		err = fmt.Errorf("%w: table %q is of another DB", ErrOptions, tx.table.Name())
	default:
		s, err = tx.txn.Storage(tx.table.handle)
	}
	if tx.writes && err == nil {
		tx.buf = takeBuffers()
	}
	tx.tree = tree.New(tx.lend.storage(tx, s), tx.table.format, tx.buf)
	if tx != tx.first {
		tx.tree.Beside(tx.first.tree)
	} else if tx.writes {
		tx.nodes = tx.db.cache.take()
	}
	tx.tree.Remember(tx.first.nodes)
	if err != nil {
		tx.tree.Close(err)
	}
}

// flush completes the index of every tree in the transaction.
func (tx *Tx) flush() error {
	err := tx.tree.Flush()
	for _, o := range tx.more {
		if err == nil && o.buf != nil {
			err = o.tree.Flush()
		}
	}
	if err != nil {
		return fmt.Errorf("update %s: %w", tx.db.Path(), err)
	}
	return nil
}

// lost returns the error of an iteration that fn may have overlooked.
func (tx *Tx) lost() error {
	err := tx.tree.Lost()
	for _, o := range tx.more {
		if err == nil {
			err = o.tree.Lost()
		}
	}
	return err
}

// close ends the use of every tree in the transaction.
func (tx *Tx) close() {
	tx.done = true
	tx.db.cache.giveBack(tx.nodes)
	tx.nodes = nil
	for _, o := range append(tx.more, tx) {
		o.tree.Close(ErrTxDone)
		o.lend.end()
		if o.buf != nil {
			keepBuffers(o.buf)
		}
	}
}

// Format returns the format of the tree; no field is zero.
func (tx *Tx) Format() Format { return tx.table.format }

// Get returns the value stored under key, or [ErrNotFound] if there is none; an empty value is
// not missing and not nil. It returns [ErrNoValues] in index mode. The slice is valid until the
// end of a View; in an Update only until the next call on tx other than Get and Has, since
// that may apply writes which wait. bytes.Clone keeps it.
func (tx *Tx) Get(key []byte) ([]byte, error) { return tx.lend.value(tx.tree.Get(key)) }

// Has reports whether there is an entry under key.
func (tx *Tx) Has(key []byte) (bool, error) { return tx.tree.Has(key) }

// Put stores value under key, in place of what was there; in index mode it stores the leaf hash
// alone. Nil and empty values are the same. It copies both slices. The errors are
// [ErrKeyEmpty], [ErrKeyTooLong], [ErrValueTooLong] and [ErrReadOnly]; any other means that
// the transaction has failed.
func (tx *Tx) Put(key, value []byte) error { return tx.tree.Put(key, value) }

// PutHash stores a hash of the caller's under key, in index mode; otherwise it returns
// [ErrMode]. A hash of other than K bytes gives [ErrHashSize].
func (tx *Tx) PutHash(key []byte, h Hash) error { return tx.tree.PutHash(key, h) }

// Delete removes key. It returns nil if there is no such key.
func (tx *Tx) Delete(key []byte) error { return tx.tree.Delete(key) }

// Load puts all entries, in any order, into an empty tree, which it builds from the bottom up;
// in ascending order it is fastest. It returns how many entries it took from the sequence, and
// its error if it yields one: then the transaction has failed. A tree with entries gives
// [ErrNotEmpty]. From a tree in index mode it takes the hashes, for a tree in index mode, and
// otherwise gives [ErrNoValues].
func (tx *Tx) Load(entries iter.Seq2[Entry, error]) (int64, error) { return tx.tree.Load(entries) }

// All yields every entry in ascending order. If something fails, it yields a zero Entry with
// the error, once, and stops; should the loop overlook it, View and Update return it all the
// same, and nothing is committed. Writing to the same tree while the loop runs gives
// [ErrWritten]; writing to other tables is fine.
func (tx *Tx) All() iter.Seq2[Entry, error] { return tx.tree.Range(Bounds{}) }

// Range is [Tx.All] for the entries within b.
func (tx *Tx) Range(b Bounds) iter.Seq2[Entry, error] { return tx.tree.Range(b) }

// Backward is [Tx.Range] in descending order.
func (tx *Tx) Backward(b Bounds) iter.Seq2[Entry, error] { return tx.tree.Backward(b) }

// Prefix is [Tx.Range] for the entries whose keys begin with p; an empty p means all.
func (tx *Tx) Prefix(p []byte) iter.Seq2[Entry, error] { return tx.tree.Range(PrefixBounds(p)) }

// Len returns the number of entries. It reads the nodes above the leaves, one in Q of these.
func (tx *Tx) Len() (int64, error) { return tx.tree.Len() }

// Root returns the root of the tree: with equal Formats, two trees hold the same entries if
// their Roots are ==.
func (tx *Tx) Root() (Root, error) { return tx.tree.Root() }

// RootThrough returns the root that a tree of the entries up to key, itself included, would
// have. It reads about Q nodes on each level.
func (tx *Tx) RootThrough(key []byte) (Root, error) { return tx.tree.RootThrough(key) }

// Node returns the node of a level under key, nil for the anchor, or [ErrNotFound].
func (tx *Tx) Node(level int, key []byte) (Node, error) { return tx.tree.Node(level, key) }

// Nodes yields the nodes of a level within b in ascending order; the anchor, whose Key is nil,
// counts as the empty key. Above the root there are none. Errors come as in [Tx.All].
func (tx *Tx) Nodes(level int, b Bounds) iter.Seq2[Node, error] { return tx.tree.Nodes(level, b) }

// NodesBackward is [Tx.Nodes] in descending order.
func (tx *Tx) NodesBackward(level int, b Bounds) iter.Seq2[Node, error] {
	return tx.tree.NodesBackward(level, b)
}

// Children yields the children, on the level below, of the node of a level, 1 or above, under
// key. A node may have any number of them. Without such a node it yields [ErrNotFound].
func (tx *Tx) Children(level int, key []byte) iter.Seq2[Node, error] {
	return tx.tree.Children(level, key)
}

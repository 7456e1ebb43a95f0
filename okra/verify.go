package okra

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/okradb/okra-go/lmdbenv"
	"github.com/okradb/okra-go/tree"
)

// What checks of a tree deal in; package tree says what they promise.
type (
	Problem    = tree.Problem    // one record that is wrong, missing or should not be there
	Kind       = tree.Kind       // of a Problem
	Rebuilt    = tree.Rebuilt    // what Survey found and Rebuild made
	Shape      = tree.Shape      // the nodes of a tree and their children, level by level
	LevelShape = tree.LevelShape // one level of a Shape
	Watch      = tree.Watch      // a sign of life of long work, and a way to stop it
)

// The kinds of a Problem.
const (
	WrongHash   = tree.WrongHash   // the hash is not that of what it stands for
	Missing     = tree.Missing     // there is no record where there should be one
	Stray       = tree.Stray       // there is a record where there should be none
	TooShort    = tree.TooShort    // the record is shorter than a hash
	TooLong     = tree.TooLong     // the record goes on after its hash
	Hidden      = tree.Hidden      // a scan finds the record, a look-up by its key does not
	WrongHeader = tree.WrongHeader // the header is not that of the tree's format
)

// HeaderLevel is the level of a [Problem] of the header.
const HeaderLevel = tree.HeaderLevel

// Verify hashes every leaf again, makes every level from the one below it as that is stored, and
// yields what is wrong, each thing once; a sound tree yields nothing. It reads all of the tree in
// bounded memory. If something fails it yields a zero Problem with the error, once, and stops.
// [tree.Tree.Verify] says in which order problems come, and which problem shows where.
//
// A changed value is found by its leaf's hash, whatever changed it: a program, a disk or a bug.
// But LMDB trusts its file, so a file with damaged pages may crash the process before anything is
// yielded: where that matters, verify in a process of its own and take a crash for a problem. And
// what was written together with its hashes is sound: an older state of the store is, so compare
// the root with one kept elsewhere.
func (tx *Tx) Verify() iter.Seq2[Problem, error] { return tx.tree.Verify() }

// VerifyWatched is [Tx.Verify] that calls w now and then, which can end it.
func (tx *Tx) VerifyWatched(w Watch) iter.Seq2[Problem, error] { return tx.tree.VerifyWatched(w) }

// Survey says what [Tx.Rebuild] would find, without writing, and calls found, if that is not nil,
// with each problem that Verify yields.
func (tx *Tx) Survey(found func(Problem) error, w Watch) (Rebuilt, error) {
	return tx.tree.Survey(found, w)
}

// Rebuild makes every level, the header and, in store mode, the leaves' hashes again from keys
// and values, and takes away what else is in the table; leaves too short for a hash are dropped.
// Before it writes it calls found, if that is not nil, with each problem that Verify yields.
//
// A leaf that does not fit its hash does not tell which of the two was damaged, and one that is
// missing tells nothing: [Rebuilt.Trusted] says whether the old root, or the old level 1, vouches
// for the entries all the same. If no leaf did fit, the header is likely to be wrong: return an
// error from Update rather than commit.
//
// Rebuild before other writes of the transaction. It mends a tree and not LMDB's file: a table
// that does not find its own records gives [ErrCorrupt]. Where the file itself is in doubt,
// write what [Tx.Salvage] yields to a new store.
func (tx *Tx) Rebuild(found func(Problem) error, w Watch) (Rebuilt, error) {
	return tx.tree.Rebuild(found, w)
}

// Salvage yields the entries of a tree that may be damaged, in ascending order: it looks at the
// leaves alone and leaves out those that are too short. The hash of an entry is the stored one,
// right or wrong. Errors come as in [Tx.All].
func (tx *Tx) Salvage() iter.Seq2[Entry, error] { return tx.tree.Salvage() }

// Shape returns how many nodes each level has, and how many children those have. It reads all of
// the tree. [Shape.Warnings] tells of nodes that were grown by chosen entries.
func (tx *Tx) Shape() (Shape, error) { return tx.tree.Shape() }

// ShapeWatched is [Tx.Shape] that calls w now and then, which can end it.
func (tx *Tx) ShapeWatched(w Watch) (Shape, error) { return tx.tree.ShapeWatched(w) }

// OpenDamaged opens the store at path as [Open] does with ReadOnly, but takes the format from
// opts where they say it, whatever the header says: so a tree whose header is lost or damaged
// can be read by who knows K, Q and the mode. If the header cannot be read and opts leave one of
// them open, the error is that of Open. [Tx.Verify] then reports the header, and everything that
// does not fit the format.
func OpenDamaged(path string, opts *Options) (*DB, error) {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	o.ReadOnly = true
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	env, err := lmdbenv.Open(path, o.env())
	if err != nil {
		return nil, err
	}
	t := &Table{}
	t.handle, err = env.OpenTable(o.Table, func(_ *lmdbenv.Txn, s tree.Storage) (err error) {
		t.format, err = tree.OpenDamaged(s, o.format())
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), env.Close(context.Background()))
	}
	db := &DB{env: env, main: t}
	t.db = db
	return db, nil
}

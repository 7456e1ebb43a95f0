package okra

import (
	"errors"
	"fmt"

	"github.com/okradb/okra-go/lmdbenv"
	"github.com/okradb/okra-go/tree"
)

// A Table is one of several trees in a store, in a named LMDB table. [Tx.Table] reads and
// writes it in the same transaction as the others. It is valid until the DB is closed.
type Table struct {
	db     *DB
	handle lmdbenv.Handle
	format Format
}

// Name returns the name of the LMDB table.
func (t *Table) Name() string { return t.handle.Name() }

// Format returns the format of the tree; no field is zero.
func (t *Table) Format() Format { return t.format }

// Table opens the tree in the named table, and makes it if it is missing and the store takes
// writes. The fields of f that are not zero must agree with a tree that is there. It gives
// [ErrOptions] for a name that LMDB cannot hold, [ErrNested] inside Update, and else the errors of [Open].
func (db *DB) Table(name string, f Format) (*Table, error) {
	doing := fmt.Sprintf("open table %q of %s", name, db.Path())
	if name == "" {
		return nil, fmt.Errorf("%s: %w: the name is empty", doing, ErrOptions)
	}
	if err := f.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", doing, ErrOptions, err)
	}
	t, err := db.open(name, f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	return t, nil
}

// open opens or makes the tree in a table, the unnamed one if name is "".
func (db *DB) open(name string, f Format) (*Table, error) {
	t := &Table{db: db}
	prepare := func(txn *lmdbenv.Txn, s tree.Storage) (err error) {
		if name != "" {
			if err := txn.Unnamed(noTree); err != nil {
				return err
			}
		}
		if db.env.ReadOnly() {
			t.format, err = tree.Open(s, f)
		} else {
			t.format, err = tree.Create(s, f)
		}
		return err
	}
	var err error
	t.handle, err = db.env.OpenTable(name, prepare)
	if errors.Is(err, lmdbenv.ErrTableName) {
		err = fmt.Errorf("%w: %w", ErrOptions, err)
	}
	return t, err
}

// noTree refuses named tables beside a tree in the unnamed table, among whose records their
// names would sit.
func noTree(s tree.Storage) error {
	if _, err := tree.Open(s, Format{}); err == nil {
		return fmt.Errorf("%w: the unnamed table holds a tree, so there can be no named ones",
			ErrNotOkra)
	}
	return nil
}

package lmdbenv

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"github.com/okradb/okra-go/tree"
)

// A Handle names a table in every transaction of its Env. It stays valid until the Env is
// closed.
type Handle struct {
	dbi  lmdb.DBI
	name string
}

// Name returns the table's name, "" for LMDB's unnamed table.
func (h Handle) Name() string { return h.name }

// maxTableName is the longest key of LMDB, which a table's name is.
const maxTableName = 511

// OpenTable returns the handle of the table name, "" for the unnamed one, and runs prepare on
// its records in the same transaction, which commits: a handle from a transaction that does not
// would not be valid. If the environment takes writes, a missing table is made; otherwise it
// gives [ErrNoTable]. A table of another kind than okra's, with duplicates or another order of
// keys, gives [tree.ErrNotOkra], a name that LMDB cannot hold [ErrTableName], and a call within
// Update [ErrNested].
func (e *Env) OpenTable(name string, prepare func(*Txn, tree.Storage) error) (Handle, error) {
	var h Handle
	within := func(t *Txn, flags uint) (err error) {
		if h, err = openTable(t.txn, name, flags); err != nil {
			t.full = errors.Is(err, ErrMapFull)
			return err
		}
		s, err := t.Storage(h)
		if b, ok := s.(*bulk); ok && err == nil {
			err = b.orderByWords()
		}
		if err != nil {
			return err
		}
		return prepare(t, s)
	}
	if len(name) > maxTableName || strings.Contains(name, "\x00") {
		return h, fmt.Errorf("%w: %q", ErrTableName, name)
	}
	if e.InUpdate() {
		return h, ErrNested
	}
	e.opening.Lock() // LMDB wants handles opened by one transaction at a time
	defer e.opening.Unlock()
	if !e.readOnly {
		return h, e.Update(context.Background(), func(t *Txn) error { return within(t, lmdb.Create) })
	}
	var inner error
	err := e.resizing(func() error {
		return e.env.View(func(txn *lmdb.Txn) error {
			t := newTxn(txn)
			defer t.closeCursors()
			inner = within(t, 0)
			return inner
		})
	})
	if inner != nil {
		return h, inner
	}
	return h, classify("read "+e.path, err)
}

func openTable(txn *lmdb.Txn, name string, flags uint) (Handle, error) {
	h := Handle{name: name}
	var err error
	if name == "" {
		h.dbi, err = txn.OpenRoot(0)
	} else {
		h.dbi, err = txn.OpenDBI(name, flags)
	}
	doing := fmt.Sprintf("open table %q", name)
	if lmdb.IsErrno(err, lmdb.Incompatible) {
		return h, fmt.Errorf("%s: %w: the name belongs to a record or another kind of table",
			doing, tree.ErrNotOkra)
	}
	if err != nil {
		return h, classify(doing, err)
	}
	kind, err := txn.Flags(h.dbi)
	if err != nil {
		return h, classify(doing, err)
	}
	if kind&(lmdb.DupSort|lmdb.ReverseKey|lmdb.IntegerKey) != 0 {
		return h, fmt.Errorf("%s: %w: it has duplicates or another order of keys", doing,
			tree.ErrNotOkra)
	}
	return h, nil
}

// Unnamed runs fn on the records of LMDB's unnamed table in t, where named tables are kept too.
func (t *Txn) Unnamed(fn func(tree.Storage) error) error {
	dbi, err := t.txn.OpenRoot(0)
	if err != nil {
		return classify("open unnamed table", err)
	}
	s, err := t.Storage(Handle{dbi: dbi})
	if err != nil {
		return err
	}
	return fn(s)
}

// table is the storage of one table in one transaction.
type table struct {
	portable
	fast *bulk // nil: by lmdb-go's calls alone
}

// newTable returns the storage of dbi in t.
func newTable(t *Txn, dbi lmdb.DBI) (*table, error) {
	cur, err := t.txn.OpenCursor(dbi)
	if err != nil {
		return nil, classify("open cursor", err)
	}
	tab := &table{portable: portable{txn: t.txn, dbi: dbi, cur: cur, full: &t.full}}
	tab.fast = newBulk(&tab.portable, t.memory, findHandle)
	return tab, nil
}

// storage returns what package tree works on.
func (t *table) storage() tree.Storage {
	if t.fast != nil {
		return t.fast
	}
	return &t.portable
}

package lifecycle

import (
	"errors"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"github.com/okradb/okra-go/bench"
)

// lmdbStore is a store of plain LMDB.
type lmdbStore struct {
	plain  *bench.Plain
	tables []lmdb.DBI
}

func openLMDB(dir string, o options) (store, error) {
	plain, err := bench.OpenPlain(dir, bench.StoreOptions{
		MapSize: mapSize, NoSync: o.noSync, ReadOnly: o.readOnly, Tables: len(o.tables),
	})
	if err != nil {
		return nil, err
	}
	s := lmdbStore{plain: plain, tables: []lmdb.DBI{plain.DBI}}
	if len(o.tables) > 0 {
		if s.tables, err = openTables(plain.Env, o); err != nil {
			return nil, errors.Join(err, plain.Close())
		}
	}
	return s, nil
}

func openTables(env *lmdb.Env, o options) ([]lmdb.DBI, error) {
	begin, flags := env.Update, uint(lmdb.Create)
	if o.readOnly {
		begin, flags = env.View, 0
	}
	var tables []lmdb.DBI
	err := begin(func(tx *lmdb.Txn) error {
		for _, name := range o.tables {
			table, err := tx.OpenDBI(name, flags)
			if err != nil {
				return err
			}
			tables = append(tables, table)
		}
		return nil
	})
	return tables, err
}

func (s lmdbStore) update(fn func(txn) error) error { return s.run(s.plain.Env.Update, fn) }

func (s lmdbStore) view(fn func(txn) error) error { return s.run(s.plain.Env.View, fn) }

func (s lmdbStore) run(begin func(lmdb.TxnOp) error, fn func(txn) error) error {
	return begin(func(tx *lmdb.Txn) error {
		tx.RawRead = true
		t := &lmdbTxn{store: s, tx: tx}
		defer t.end()
		return fn(t)
	})
}

func (s lmdbStore) sync() error   { return s.plain.Env.Sync(true) }
func (s lmdbStore) verify() error { return nil }
func (s lmdbStore) close() error  { return s.plain.Close() }

// lmdbTxn is a transaction, with a cursor for each table that it has scanned: seeks share it, as
// LMDB advises.
type lmdbTxn struct {
	store   lmdbStore
	tx      *lmdb.Txn
	cursors [maxTables]*lmdb.Cursor
}

func (t *lmdbTxn) end() {
	for _, cursor := range t.cursors {
		if cursor != nil {
			cursor.Close()
		}
	}
}

func (t *lmdbTxn) put(table int, key, value []byte) error {
	return t.tx.Put(t.store.tables[table], key, value, 0)
}

func (t *lmdbTxn) get(table int, key []byte) ([]byte, error) {
	return t.tx.Get(t.store.tables[table], key)
}

func (t *lmdbTxn) scan(table int, from []byte, fn func(key, value []byte) bool) error {
	if t.cursors[table] == nil {
		cursor, err := t.tx.OpenCursor(t.store.tables[table])
		if err != nil {
			return err
		}
		t.cursors[table] = cursor
	}
	cursor := t.cursors[table]
	op := uint(lmdb.SetRange)
	if from == nil {
		op = lmdb.First
	}
	key, value, err := cursor.Get(from, nil, op)
	for err == nil && fn(key, value) {
		key, value, err = cursor.Get(nil, nil, lmdb.Next)
	}
	if lmdb.IsNotFound(err) {
		return nil
	}
	return err
}

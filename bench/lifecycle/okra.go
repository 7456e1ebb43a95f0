package lifecycle

import (
	"errors"
	"fmt"

	"github.com/okradb/okra-go/okra"
)

// okraStore is a store of okra.
type okraStore struct {
	db   *okra.DB
	more []*okra.Table // after the first
}

func openOkra(dir string, o options) (store, error) {
	settings := &okra.Options{MapSize: mapSize, ReadOnly: o.readOnly, NoSync: o.noSync}
	if len(o.tables) > 0 {
		settings.Table = o.tables[0]
	}
	db, err := okra.Open(dir, settings)
	if err != nil {
		return nil, err
	}
	s := okraStore{db: db}
	for i := 1; i < len(o.tables); i++ {
		table, err := db.Table(o.tables[i], okra.Format{})
		if err != nil {
			return nil, errors.Join(err, db.Close())
		}
		s.more = append(s.more, table)
	}
	return s, nil
}

func (s okraStore) update(fn func(txn) error) error {
	return s.db.Update(func(tx *okra.Tx) error { return fn(s.txn(tx)) })
}

func (s okraStore) view(fn func(txn) error) error {
	return s.db.View(func(tx *okra.Tx) error { return fn(s.txn(tx)) })
}

func (s okraStore) txn(tx *okra.Tx) txn {
	t := &okraTxn{store: s}
	t.tables[0] = tx
	return t
}

func (s okraStore) sync() error  { return s.db.Sync() }
func (s okraStore) close() error { return s.db.Close() }

func (s okraStore) verify() error {
	return s.view(func(tx txn) error {
		t := tx.(*okraTxn)
		for i := range len(s.more) + 1 {
			for problem, err := range t.table(i).Verify() {
				if err != nil {
					return err
				}
				return fmt.Errorf("the index of table %d is wrong: %v", i, problem)
			}
		}
		return nil
	})
}

// maxTables is the most tables of a store.
const maxTables = 2

// okraTxn is a transaction, with the tables that it has used.
type okraTxn struct {
	store  okraStore
	tables [maxTables]*okra.Tx
}

func (t *okraTxn) table(i int) *okra.Tx {
	if t.tables[i] == nil {
		t.tables[i] = t.tables[0].Table(t.store.more[i-1])
	}
	return t.tables[i]
}

func (t *okraTxn) put(table int, key, value []byte) error { return t.table(table).Put(key, value) }

func (t *okraTxn) get(table int, key []byte) ([]byte, error) { return t.table(table).Get(key) }

func (t *okraTxn) scan(table int, from []byte, fn func(key, value []byte) bool) error {
	for e, err := range t.table(table).Range(okra.Bounds{GE: from}) {
		if err != nil {
			return err
		}
		if !fn(e.Key, e.Value) {
			return nil
		}
	}
	return nil
}

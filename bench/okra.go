package bench

import (
	"bytes"
	"fmt"

	"github.com/okradb/okra-go/okra"
)

// okraStore is the okra side.
type okraStore struct{ db *okra.DB }

func openOkra(path string, o StoreOptions) (store, error) {
	db, err := okra.Open(path, &okra.Options{MapSize: o.MapSize, NoSync: o.NoSync, ReadOnly: o.ReadOnly})
	if err != nil {
		return nil, fmt.Errorf("open okra store: %w", err)
	}
	return okraStore{db}, nil
}

// updateStore is the okra side that does the Update of a row.
type updateStore struct{ okraStore }

func openUpdate(path string, o StoreOptions) (store, error) {
	s, err := openOkra(path, o)
	if err != nil {
		return nil, err
	}
	return updateStore{s.(okraStore)}, nil
}

func (s updateStore) run(row Row, b *Batch) (Tally, error) { return row.Update(s.db, b) }

func (s okraStore) run(row Row, b *Batch) (Tally, error) { return row.Okra(s.db, b) }

func (s okraStore) put(b *Batch) (Tally, error) { return PutOkra(s.db, b) }

func (s okraStore) check(row Row) error {
	if row.Check == nil {
		return nil
	}
	return row.Check(s.db)
}

func (s okraStore) get(key []byte) ([]byte, error) {
	var value []byte
	err := s.db.View(func(tx *okra.Tx) error {
		v, err := tx.Get(key)
		value = bytes.Clone(v)
		return err
	})
	return value, err
}

func (s okraStore) each(fn func(key, value []byte)) error {
	return s.db.View(func(tx *okra.Tx) error {
		for e, err := range tx.All() {
			if err != nil {
				return err
			}
			fn(e.Key, e.Value)
		}
		return nil
	})
}

func (s okraStore) close() error { return s.db.Close() }

// getOkra reads the keys of b in one View.
func getOkra(db *okra.DB, b *Batch) (Tally, error) {
	var t Tally
	err := db.View(func(tx *okra.Tx) error {
		for j := range b.Len() {
			key := b.Key(j)
			value, err := tx.Get(key)
			if err != nil {
				return fmt.Errorf("get key %x: %w", key, err)
			}
			t.add(key, value)
		}
		return nil
	})
	return t, err
}

// iterateOkra reads all entries in one View.
func iterateOkra(db *okra.DB, _ *Batch) (Tally, error) {
	var t Tally
	err := db.View(func(tx *okra.Tx) error {
		for e, err := range tx.All() {
			if err != nil {
				return fmt.Errorf("iterate after %d entries: %w", t.Entries, err)
			}
			t.add(e.Key, e.Value)
		}
		return nil
	})
	return t, err
}

// PutOkra stores the entries of b in one Update.
func PutOkra(db *okra.DB, b *Batch) (Tally, error) {
	var t Tally
	err := db.Update(func(tx *okra.Tx) error {
		for j := range b.Len() {
			if err := tx.Put(b.Key(j), b.Value(j)); err != nil {
				return fmt.Errorf("put key %x: %w", b.Key(j), err)
			}
			t.Entries++
		}
		return nil
	})
	return t, err
}

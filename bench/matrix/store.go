package matrix

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"github.com/okradb/okra-go/bench"
	"github.com/okradb/okra-go/bench/suite"
	"github.com/okradb/okra-go/okra"
)

// store is an open store. Each call but close is one transaction, which by Batch writes of other
// goroutines may share. It may be used by many goroutines.
type store interface {
	// get reads the value of key into t, and reports whether there is one.
	get(t *tally, key []byte) (bool, error)

	// scan reads at most scanSize entries from key on into t.
	scan(t *tally, key []byte) error

	put(key, value []byte) error
	remove(key []byte) error
	close() error
}

// backend is a kind of store.
type backend struct {
	name  string
	open  func(dir string, w work) (store, error)
	fill  func(dir string, w work) error // makes the store of entries 0 to w.entries-1
	check func(dir string) (bench.Contents, error)
}

var (
	backendOkra   = backend{sideOkra, openOkra, fillOkra, bench.CheckOkra}
	backendUpdate = backend{sideUpdate, openOkraUpdate, fillOkra, bench.CheckOkra}
	backendPlain  = backend{"lmdb", openPlain, fillPlain, bench.CheckPlain}
)

// The names of okra's sides: okra writes by Batch if it is shared, and by Update else.
const (
	sideOkra   = "okra"
	sideUpdate = "okra Update"
)

// shared reports whether several goroutines write.
func (w work) shared() bool { return w.operation.writes && w.goroutines > 1 }

// backends returns the stores that do w. Where several goroutines write, okra does it in both of
// its ways: as one of LMDB's transactions a write, and by what it has for that case.
func (w work) backends() []backend {
	if w.shared() {
		return []backend{backendOkra, backendUpdate, backendPlain}
	}
	return []backend{backendOkra, backendPlain}
}

// side returns the side that does w in a store of b.
func (b backend) side(w work) suite.Side {
	s := suite.Side{
		Name:    b.name,
		Prepare: func(r *suite.Rep) error { return b.fill(r.Dir, w) },
		Run: func(r *suite.Rep) (suite.Measurement, error) {
			if w.limited {
				// What others have read counts as their memory: this process must begin without.
				if err := suite.DropCache(filepath.Join(r.Dir, "data.mdb")); err != nil {
					return suite.Measurement{}, err
				}
			}
			s, err := b.open(r.Dir, w)
			if err != nil {
				return suite.Measurement{}, err
			}
			m, err := w.measure(s, r.Seed)
			return m, errors.Join(err, s.close())
		},
	}
	if w.operation.writes {
		s.Check = func(r *suite.Rep) (bench.Contents, error) { return b.check(r.Dir) }
	}
	return s
}

type okraStore struct {
	db     *okra.DB
	update func(func(*okra.Tx) error) error
}

// openOkra opens a store that is written by Batch if several goroutines write: that is what it
// is there for. Writes at the same time then share transactions.
func openOkra(dir string, w work) (store, error) {
	s, err := newOkraStore(dir, w)
	if err == nil && w.shared() {
		s.update = s.db.Batch
	}
	return s, err
}

// openOkraUpdate opens a store in which each write is a transaction.
func openOkraUpdate(dir string, w work) (store, error) { return newOkraStore(dir, w) }

func newOkraStore(dir string, w work) (*okraStore, error) {
	db, err := okra.Open(dir, &okra.Options{NoSync: true, ReadOnly: !w.operation.writes})
	if err != nil {
		return nil, err
	}
	return &okraStore{db, db.Update}, nil
}

func (s *okraStore) get(t *tally, key []byte) (bool, error) {
	found := false
	err := s.db.View(func(tx *okra.Tx) error {
		value, err := tx.Get(key)
		if errors.Is(err, okra.ErrNotFound) {
			return nil
		}
		if err == nil {
			found = true
			t.read(key, value)
		}
		return err
	})
	return found, err
}

func (s *okraStore) scan(t *tally, key []byte) error {
	return s.db.View(func(tx *okra.Tx) error {
		n := 0
		for e, err := range tx.Range(okra.Bounds{GE: key}) {
			if err != nil {
				return err
			}
			t.read(e.Key, e.Value)
			if n++; n == scanSize {
				break
			}
		}
		return nil
	})
}

func (s *okraStore) put(key, value []byte) error {
	return s.update(func(tx *okra.Tx) error { return tx.Put(key, value) })
}

func (s *okraStore) remove(key []byte) error {
	return s.update(func(tx *okra.Tx) error { return tx.Delete(key) })
}

func (s *okraStore) close() error { return s.db.Close() }

func fillOkra(dir string, w work) error {
	db, err := okra.Open(dir, &okra.Options{NoSync: true})
	if err != nil {
		return err
	}
	err = db.Update(func(tx *okra.Tx) error {
		values := newValues(w.valueSize)
		_, err := tx.Load(func(yield func(okra.Entry, error) bool) {
			var key []byte
			for i := range w.entries {
				key = appendKey(key[:0], stored(i))
				if !yield(okra.Entry{Key: key, Value: values.of(stored(i), 0)}, nil) {
					return
				}
			}
		})
		return err
	})
	if err != nil {
		err = fmt.Errorf("fill the store: %w", err)
	}
	return errors.Join(err, db.Close())
}

type plainStore struct{ *bench.Plain }

func openPlain(dir string, w work) (store, error) {
	p, err := bench.OpenPlain(dir, bench.StoreOptions{
		MapSize: bench.MapSize(w.entries, w.valueSize), NoSync: true, ReadOnly: !w.operation.writes,
	})
	if err != nil {
		return nil, err
	}
	return plainStore{p}, nil
}

func (s plainStore) get(t *tally, key []byte) (bool, error) {
	found := false
	err := s.Env.View(func(txn *lmdb.Txn) error {
		txn.RawRead = true
		value, err := txn.Get(s.DBI, key)
		if lmdb.IsNotFound(err) {
			return nil
		}
		if err == nil {
			found = true
			t.read(key, value)
		}
		return err
	})
	return found, err
}

func (s plainStore) scan(t *tally, key []byte) error {
	return s.Env.View(func(txn *lmdb.Txn) error {
		txn.RawRead = true
		cursor, err := txn.OpenCursor(s.DBI)
		if err != nil {
			return err
		}
		defer cursor.Close()
		k, v, err := cursor.Get(key, nil, lmdb.SetRange)
		for n := 0; err == nil; k, v, err = cursor.Get(nil, nil, lmdb.Next) {
			t.read(k, v)
			if n++; n == scanSize {
				break
			}
		}
		if lmdb.IsNotFound(err) {
			return nil
		}
		return err
	})
}

func (s plainStore) put(key, value []byte) error {
	return s.Env.Update(func(txn *lmdb.Txn) error { return txn.Put(s.DBI, key, value, 0) })
}

func (s plainStore) remove(key []byte) error {
	return s.Env.Update(func(txn *lmdb.Txn) error {
		err := txn.Del(s.DBI, key, nil)
		if lmdb.IsNotFound(err) {
			return nil // as okra's Delete
		}
		return err
	})
}

func (s plainStore) close() error { return s.Close() }

func fillPlain(dir string, w work) error {
	p, err := bench.OpenPlain(dir, bench.StoreOptions{MapSize: bench.MapSize(w.entries, w.valueSize), NoSync: true})
	if err != nil {
		return err
	}
	err = p.Env.Update(func(txn *lmdb.Txn) error {
		values := newValues(w.valueSize)
		var key []byte
		for i := range w.entries {
			key = appendKey(key[:0], stored(i))
			if err := txn.Put(p.DBI, key, values.of(stored(i), 0), lmdb.Append); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("fill the store: %w", err)
	}
	return errors.Join(err, p.Close())
}

package bench

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/PowerDNS/lmdb-go/lmdb"
)

// Plain is the lmdb side: an LMDB environment with its unnamed table, used through lmdb-go as its
// documentation advises.
type Plain struct {
	Env *lmdb.Env
	DBI lmdb.DBI
}

func openPlain(path string, o StoreOptions) (store, error) {
	p, err := OpenPlain(path, o)
	if err != nil {
		return nil, fmt.Errorf("open lmdb store: %w", err)
	}
	return p, nil
}

// OpenPlain opens the environment in the folder path, and makes both if they are missing and o
// does not say ReadOnly.
func OpenPlain(path string, o StoreOptions) (*Plain, error) {
	if !o.ReadOnly {
		if err := os.MkdirAll(path, 0o755); err != nil {
			return nil, err
		}
	}
	env, err := lmdb.NewEnv()
	if err != nil {
		return nil, err
	}
	p := &Plain{Env: env}
	if err := p.open(path, o); err != nil {
		return nil, errors.Join(err, env.Close())
	}
	return p, nil
}

func (p *Plain) open(path string, o StoreOptions) error {
	if err := p.Env.SetMapSize(o.MapSize); err != nil {
		return err
	}
	if err := p.Env.SetMaxDBs(o.Tables); err != nil {
		return err
	}
	var flags uint
	if o.NoSync {
		flags |= lmdb.NoSync
	}
	begin := p.Env.Update
	if o.ReadOnly {
		flags |= lmdb.Readonly
		begin = p.Env.View
	}
	if err := p.Env.Open(path, flags, 0o644); err != nil {
		return err
	}
	return begin(func(txn *lmdb.Txn) error {
		dbi, err := txn.OpenRoot(0)
		p.DBI = dbi
		return err
	})
}

func (p *Plain) run(row Row, b *Batch) (Tally, error) { return row.LMDB(p, b) }

func (p *Plain) put(b *Batch) (Tally, error) { return PutPlain(p, b) }

func (p *Plain) check(Row) error { return nil }

func (p *Plain) get(key []byte) ([]byte, error) {
	var value []byte
	err := p.Env.View(func(txn *lmdb.Txn) error {
		v, err := txn.Get(p.DBI, key)
		value = bytes.Clone(v)
		return err
	})
	return value, err
}

func (p *Plain) each(fn func(key, value []byte)) error {
	return p.Env.View(func(txn *lmdb.Txn) error {
		txn.RawRead = true
		return Scan(txn, p.DBI, fn)
	})
}

func (p *Plain) close() error { return p.Close() }

// Close closes the environment. No transaction may be under way.
func (p *Plain) Close() error { return p.Env.Close() }

// Scan calls fn with all entries of dbi in key order.
func Scan(txn *lmdb.Txn, dbi lmdb.DBI, fn func(key, value []byte)) error {
	cursor, err := txn.OpenCursor(dbi)
	if err != nil {
		return err
	}
	defer cursor.Close()
	for {
		key, value, err := cursor.Get(nil, nil, lmdb.Next)
		if lmdb.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		fn(key, value)
	}
}

// getPlain reads the keys of b in one View.
func getPlain(p *Plain, b *Batch) (Tally, error) {
	var t Tally
	err := p.Env.View(func(txn *lmdb.Txn) error {
		txn.RawRead = true
		for j := range b.Len() {
			key := b.Key(j)
			value, err := txn.Get(p.DBI, key)
			if err != nil {
				return fmt.Errorf("get key %x: %w", key, err)
			}
			t.add(key, value)
		}
		return nil
	})
	return t, err
}

// iteratePlain reads all entries in one View.
func iteratePlain(p *Plain, _ *Batch) (Tally, error) {
	var t Tally
	err := p.Env.View(func(txn *lmdb.Txn) error {
		txn.RawRead = true
		return Scan(txn, p.DBI, t.add)
	})
	if err != nil {
		return t, fmt.Errorf("iterate after %d entries: %w", t.Entries, err)
	}
	return t, nil
}

// PutPlain stores the entries of b in one Update.
func PutPlain(p *Plain, b *Batch) (Tally, error) {
	var t Tally
	err := p.Env.Update(func(txn *lmdb.Txn) error {
		for j := range b.Len() {
			if err := txn.Put(p.DBI, b.Key(j), b.Value(j), 0); err != nil {
				return fmt.Errorf("put key %x: %w", b.Key(j), err)
			}
			t.Entries++
		}
		return nil
	})
	return t, err
}

package dump

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"github.com/okradb/okra-go/bench"
	"github.com/okradb/okra-go/bench/suite"
	"github.com/okradb/okra-go/okra"
)

// operation is one of the operations on a store, each one transaction.
type operation struct {
	name    string
	writes  bool
	fresh   bool // the store is new
	deleted bool // of the entries those of the operation delete are gone before

	okra func(w work, db *okra.DB, in input, t *tally) error
	lmdb func(w work, p *bench.Plain, in input, t *tally) error
}

// input is what an operation needs that is made before the clock starts.
type input struct {
	order []int  // the numbers of all keys, in random order
	all   []byte // all entries, for a new store
}

var (
	write = operation{name: "write", writes: true, fresh: true,
		okra: func(_ work, db *okra.DB, in input, t *tally) error {
			return db.Update(func(tx *okra.Tx) error {
				return put(in.all, func(key, value []byte) error {
					t.moved(key, value)
					return tx.Put(key, value)
				})
			})
		},
		lmdb: func(_ work, p *bench.Plain, in input, t *tally) error {
			return p.Env.Update(func(txn *lmdb.Txn) error {
				return put(in.all, func(key, value []byte) error {
					t.moved(key, value)
					return txn.Put(p.DBI, key, value, 0)
				})
			})
		},
	}
	read    = operation{name: "read", okra: getOkra, lmdb: getPlain}
	iterate = operation{name: "iterate",
		okra: func(_ work, db *okra.DB, _ input, t *tally) error {
			return db.View(func(tx *okra.Tx) error {
				for e, err := range tx.All() {
					if err != nil {
						return err
					}
					t.read(e.Key, e.Value)
				}
				return nil
			})
		},
		lmdb: func(_ work, p *bench.Plain, _ input, t *tally) error {
			return p.Env.View(func(txn *lmdb.Txn) error {
				txn.RawRead = true
				return bench.Scan(txn, p.DBI, t.read)
			})
		},
	}
	remove = operation{name: "delete", writes: true,
		okra: func(w work, db *okra.DB, _ input, t *tally) error {
			return db.Update(func(tx *okra.Tx) error { return w.eachDeleted(t, tx.Delete) })
		},
		lmdb: func(w work, p *bench.Plain, _ input, t *tally) error {
			return p.Env.Update(func(txn *lmdb.Txn) error {
				return w.eachDeleted(t, func(key []byte) error { return txn.Del(p.DBI, key, nil) })
			})
		},
	}
	reread = operation{name: "re-read", deleted: true, okra: getOkra, lmdb: getPlain}
)

func getOkra(w work, db *okra.DB, in input, t *tally) error {
	return db.View(func(tx *okra.Tx) error {
		return w.eachOf(in.order, func(key []byte) error {
			value, err := tx.Get(key)
			return t.got(key, value, errors.Is(err, okra.ErrNotFound), err)
		})
	})
}

func getPlain(w work, p *bench.Plain, in input, t *tally) error {
	return p.Env.View(func(txn *lmdb.Txn) error {
		txn.RawRead = true
		return w.eachOf(in.order, func(key []byte) error {
			value, err := txn.Get(p.DBI, key)
			return t.got(key, value, lmdb.IsNotFound(err), err)
		})
	})
}

// eachOf calls fn with the keys of the numbers in order, until it fails.
func (w work) eachOf(order []int, fn func(key []byte) error) error {
	key := make([]byte, 0, keySize)
	for _, i := range order {
		key = appendKey(key[:0], i)
		if err := fn(key); err != nil {
			return fmt.Errorf("key %s: %w", key, err)
		}
	}
	return nil
}

// eachDeleted calls fn with each key that is to be deleted, and counts it in t.
func (w work) eachDeleted(t *tally, fn func(key []byte) error) error {
	key := make([]byte, 0, keySize)
	for i := range w.keys {
		if !deleted(i) {
			continue
		}
		key = appendKey(key[:0], i)
		if err := fn(key); err != nil {
			return fmt.Errorf("key %s: %w", key, err)
		}
		t.moved(key, nil)
	}
	return nil
}

// tally is what was done.
type tally struct {
	ops, bytes int64
	found      int64
	sum        uint64 // of all bytes that were read, those of a value weighed by their place
}

// moved counts an entry that was written or looked up.
func (t *tally) moved(key, value []byte) {
	t.ops++
	t.bytes += int64(len(key) + len(value))
}

// got counts what a get has given: a value, that the key is missing, or another error, which it
// returns.
func (t *tally) got(key, value []byte, missing bool, err error) error {
	switch {
	case missing:
		t.moved(key, nil)
	case err != nil:
		return err
	default:
		t.read(key, value)
	}
	return nil
}

func (t *tally) read(key, value []byte) {
	t.moved(key, value)
	t.found++
	for _, x := range key {
		t.sum += uint64(x)
	}
	for i, x := range value {
		t.sum += uint64(i+1) * uint64(x)
	}
}

// operations returns the cells of all operations, those that share a store one after the other.
func (w work) operations() []suite.Cell {
	var all []suite.Cell
	for _, o := range []operation{write, read, iterate, remove, reread} {
		c := w.cell(groupStore, o.name, 2, 4*time.Microsecond)
		c.Unit = "µs/key"
		switch o.name {
		case remove.name:
			deletes := int64(w.deletes())
			c.Ops, c.Entries = deletes, c.Entries-deletes
			c.Bytes = deletes * keySize
		case reread.name:
			c.Bytes -= int64(w.deletes()) * valueSize
		}
		if !o.fresh {
			c.Shared = fmt.Sprintf("%s %s %t", groupStore, c.Params[0].Value, o.deleted)
			c.ReadOnly = !o.writes
		}
		c.Sides = []suite.Side{kindOkra.side(w, o), kindPlain.side(w, o)}
		all = append(all, c)
	}
	return all
}

// kind is a kind of store, opened as an S.
type kind[S io.Closer] struct {
	name  string
	open  func(dir string, opts bench.StoreOptions) (S, error)
	fill  func(w work, dir string) error
	do    func(o operation, w work, s S, in input, t *tally) error
	check func(dir string) (bench.Contents, error)
}

var (
	kindOkra = kind[*okra.DB]{
		name: "okra", fill: work.fillOkra, check: bench.CheckOkra,
		open: func(dir string, opts bench.StoreOptions) (*okra.DB, error) {
			return okra.Open(dir, &okra.Options{ReadOnly: opts.ReadOnly, NoSync: opts.NoSync})
		},
		do: func(o operation, w work, db *okra.DB, in input, t *tally) error { return o.okra(w, db, in, t) },
	}
	kindPlain = kind[*bench.Plain]{
		name: "lmdb", fill: work.fillPlain, check: bench.CheckPlain,
		open: func(dir string, opts bench.StoreOptions) (*bench.Plain, error) {
			opts.MapSize = mapSize
			return bench.OpenPlain(dir, opts)
		},
		do: func(o operation, w work, p *bench.Plain, in input, t *tally) error { return o.lmdb(w, p, in, t) },
	}
)

// side does o in a store of kind k.
func (k kind[S]) side(w work, o operation) suite.Side {
	s := suite.Side{
		Name: k.name,
		Run: func(r *suite.Rep) (suite.Measurement, error) {
			store, err := k.open(r.Dir, bench.StoreOptions{ReadOnly: !o.writes})
			if err != nil {
				return suite.Measurement{}, err
			}
			m, err := w.measure(r, o, func(in input, t *tally) error { return k.do(o, w, store, in, t) })
			return m, errors.Join(err, store.Close())
		},
	}
	if o.writes {
		s.Check = func(r *suite.Rep) (bench.Contents, error) { return k.check(r.Dir) }
	}
	if !o.fresh {
		s.Prepare = func(r *suite.Rep) error {
			if err := k.fill(w, r.Dir); err != nil || !o.deleted {
				return err
			}
			store, err := k.open(r.Dir, bench.StoreOptions{NoSync: true})
			if err != nil {
				return err
			}
			return errors.Join(k.do(remove, w, store, input{}, &tally{}), store.Close())
		}
	}
	return s
}

// measure times do, which does o.
func (w work) measure(r *suite.Rep, o operation, do func(in input, t *tally) error) (suite.Measurement, error) {
	in := input{order: r.Random().Perm(w.keys)}
	if o.fresh {
		in.all = w.all()
	}
	var t tally
	start := time.Now()
	err := do(in, &t)
	elapsed := time.Since(start)
	return suite.Measurement{
		Value: milliseconds(elapsed) * 1e3 / float64(max(t.ops, 1)),
		Ops:   t.ops, Bytes: t.bytes,
		Sum: fmt.Sprintf("%d %016x", t.found, t.sum),
	}, err
}

package lifecycle

import (
	"errors"
	"fmt"

	"github.com/okradb/okra-go/bench"
	"github.com/okradb/okra-go/bench/suite"
)

// database is one side: how it opens its stores.
type database struct {
	name string
	open func(dir string, o options) (store, error)
}

// databases returns the sides of all cells, the one to be judged first.
func databases() []database { return []database{{"okra", openOkra}, {"lmdb", openLMDB}} }

// options are those of a store. Without tables it keeps entries in the unnamed table alone.
type options struct {
	tables   []string
	readOnly bool // the store is there, and only read
	noSync   bool // commits are not flushed to disk
}

// mapSize is the address space that the stores of both sides may fill, in bytes. It is no disk.
const mapSize = 64 << 30

// store is an open store.
type store interface {
	update(fn func(txn) error) error // one write transaction
	view(fn func(txn) error) error   // one read transaction
	sync() error                     // what commits have left in memory
	verify() error                   // the index, of a side that has one
	close() error
}

// txn is a transaction. Tables are named by their index in the options, 0 for the unnamed one.
type txn interface {
	put(table int, key, value []byte) error

	// get returns a value that is valid until the transaction ends.
	get(table int, key []byte) ([]byte, error)

	// scan calls fn with the entries from the first that is not before the key from, in order,
	// until fn returns false. The slices are valid until the transaction ends.
	scan(table int, from []byte, fn func(key, value []byte) bool) error
}

// with runs fn on an open store and closes it.
func (d database) with(dir string, o options, fn func(store) error) error {
	s, err := d.open(dir, o)
	if err != nil {
		return fmt.Errorf("open %s store: %w", d.name, err)
	}
	return errors.Join(fn(s), s.close())
}

// check returns a check of what is left in a store, its index and the entries of all tables, one
// table after the other.
func (d database) check(tables []string) func(*suite.Rep) (bench.Contents, error) {
	return func(r *suite.Rep) (bench.Contents, error) {
		var c bench.Contents
		err := d.with(r.Dir, options{tables: tables, readOnly: true}, func(s store) error {
			if err := s.verify(); err != nil {
				return err
			}
			var err error
			c, err = bench.ContentsOf(func(add func(key, value []byte)) error {
				return s.view(func(tx txn) error {
					for table := range max(len(tables), 1) {
						err := tx.scan(table, nil, func(key, value []byte) bool {
							add(key, value)
							return true
						})
						if err != nil {
							return err
						}
					}
					return nil
				})
			})
			return err
		})
		return c, err
	}
}

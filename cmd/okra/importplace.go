package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"github.com/okradb/okra-go/okra"
)

// An importPlace is what an import finds where it is to go, so that a failed one can leave it as
// it was.
type importPlace struct {
	dir, table string

	noDir, noFile, noTree bool        // what is missing; without a directory all are
	format                okra.Format // of the tree that is there
}

// findPlace looks for a tree in a table of the store in dir.
func findPlace(dir, table string) (*importPlace, error) {
	p := &importPlace{dir: dir, table: table}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		p.noDir = true
	}
	if _, err := os.Stat(filepath.Join(dir, "data.mdb")); errors.Is(err, fs.ErrNotExist) {
		p.noFile = true
	}
	err := checkDir(dir)
	if errors.Is(err, okra.ErrNotExist) {
		p.noTree = true
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	db, err := okra.Open(dir, &okra.Options{Table: table, ReadOnly: true})
	if errors.Is(err, okra.ErrNoTable) || errors.Is(err, okra.ErrNotOkra) {
		p.noTree = true
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	p.format = db.Format()
	return p, db.Close()
}

// restore takes away what opening the store for a failed import has made, as long as it holds
// nothing.
func (p *importPlace) restore() error {
	if !p.noTree {
		return nil
	}
	if _, err := os.Stat(filepath.Join(p.dir, "data.mdb")); err != nil {
		if p.noDir {
			os.Remove(p.dir) // the open failed and left at most this
		}
		return nil
	}
	if empty, err := p.dropTree(); err != nil || !empty || !p.noFile {
		return err
	}
	err := os.Remove(filepath.Join(p.dir, "data.mdb"))
	if lockErr := os.Remove(filepath.Join(p.dir, "lock.mdb")); !errors.Is(lockErr, fs.ErrNotExist) {
		err = errors.Join(err, lockErr)
	}
	if p.noDir {
		err = errors.Join(err, os.Remove(p.dir))
	}
	return err
}

// dropTree takes a tree without entries out of its table, and reports whether it was that, or
// there is nothing in the store: the records of such a tree are its anchor and its header.
func (p *importPlace) dropTree() (empty bool, err error) {
	env, err := lmdb.NewEnv()
	if err != nil {
		return false, err
	}
	defer env.Close()
	if err := env.SetMaxDBs(1); err != nil {
		return false, err
	}
	if err := env.Open(p.dir, 0, 0); err != nil {
		return false, err
	}
	err = env.Update(func(txn *lmdb.Txn) error {
		root, err := txn.OpenRoot(0)
		if err != nil {
			return err
		}
		stat, err := txn.Stat(root)
		if empty = err == nil && stat.Entries == 0; err != nil || empty {
			return err // not even the tree was made
		}
		table, err := openTable(txn, p.table)
		if errors.Is(err, errNoTable) {
			return nil
		}
		if err != nil {
			return err
		}
		stat, err = txn.Stat(table)
		if err != nil || stat.Entries > 2 || !isTree(txn, table) {
			return err
		}
		empty = true
		return txn.Drop(table, p.table != "")
	})
	if err != nil {
		return false, fmt.Errorf("take back the new tree: %w", err)
	}
	return empty, nil
}

// grace is how long a signal lets work come to its turn, to end by itself.
const grace = 200 * time.Millisecond

// inTurn runs work, which begins a write transaction and first thing in it calls begin. If ctx
// has ended by then, begin gives its error to work. If the turn does not come, as while another
// process holds the write lock, work is left behind, and the program must end soon.
func inTurn(ctx context.Context, work func(begin func() error) error) (left bool, err error) {
	var state atomic.Int32
	begin := func() error {
		state.CompareAndSwap(waiting, running)
		return ctx.Err()
	}
	done := make(chan error, 1)
	go func() { done <- work(begin) }()
	select {
	case err := <-done:
		return false, err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return false, err
	case <-time.After(grace):
	}
	if state.CompareAndSwap(waiting, abandoned) {
		return true, ctx.Err()
	}
	return false, <-done
}

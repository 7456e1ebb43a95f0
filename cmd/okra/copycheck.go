package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"github.com/okradb/okra-go/okra"
	"github.com/okradb/okra-go/okra/dump"
)

// treesIn returns the tables with trees of the store in dir: "", the unnamed one, or named ones.
func treesIn(dir string) ([]string, error) {
	env, err := openRaw(dir)
	if err != nil {
		return nil, err
	}
	defer env.Close()
	var trees []string
	err = env.View(func(txn *lmdb.Txn) error {
		txn.RawRead = true
		root, err := txn.OpenRoot(0)
		if err != nil {
			return err
		}
		if isTree(txn, root) {
			trees = []string{""}
			return nil
		}
		names, err := namedTables(txn, root, rawTables)
		if err != nil {
			return err
		}
		for _, name := range names {
			table, err := txn.OpenDBI(name, 0)
			if err != nil {
				return err
			}
			if isTree(txn, table) {
				trees = append(trees, name)
			}
		}
		return nil
	})
	if err == nil && len(trees) == 0 {
		err = errors.New("none of its tables holds an okra tree")
	}
	return trees, err
}

// firstPages returns the beginning of the data file of the store in dir. LMDB's two meta pages,
// of at most 64 KiB each, are in it, so every commit changes it.
func firstPages(dir string) ([]byte, error) {
	f, err := os.Open(filepath.Join(dir, "data.mdb"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 128<<10))
	return b, err
}

// readTrailer returns what the tree of a store has.
func readTrailer(dir string, opts *okra.Options) (t dump.Trailer, err error) {
	db, err := okra.Open(dir, opts)
	if err != nil {
		return t, err
	}
	err = db.View(func(tx *okra.Tx) error {
		if t.Count, err = tx.Len(); err != nil {
			return err
		}
		t.Root, err = tx.Root()
		return err
	})
	return t, errors.Join(err, db.Close())
}

// verifyTree verifies the tree in a table of the copy and returns what it has.
func (cp *storeCopy) verifyTree(table string) (dump.Trailer, error) {
	// Without LMDB's lock file: nobody else has the copy open, and it is to have no such file.
	opts := &okra.Options{Table: table, ReadOnly: true, NoLock: true}
	t, err := readTrailer(cp.to, opts)
	if err != nil {
		return t, err
	}
	db, err := okra.Open(cp.to, opts)
	if err != nil {
		return t, err
	}
	p := newProgress(cp.c, "records verified")
	defer p.end()
	err = db.View(func(tx *okra.Tx) error {
		return firstProblem(tx, func(records int64) error {
			p.add(records)
			return cp.c.Context.Err()
		})
	})
	return t, errors.Join(err, db.Close())
}

// firstProblem returns an error if there is something wrong with the tree.
func firstProblem(tx *okra.Tx, w okra.Watch) error {
	for problem, err := range tx.VerifyWatched(w) {
		if err == nil {
			err = fmt.Errorf("%w: %s; see okra verify, and --no-verify", okra.ErrCorrupt, problem)
		}
		return err
	}
	return nil
}

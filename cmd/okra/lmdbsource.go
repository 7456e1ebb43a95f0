package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"

	"github.com/PowerDNS/lmdb-go/lmdb"
	"github.com/urfave/cli/v2"

	"github.com/okradb/okra-go/lmdbenv"
	"github.com/okradb/okra-go/okra"
	"github.com/okradb/okra-go/okra/dump"
	"github.com/okradb/okra-go/tree"
)

// An lmdbSource is a table of an LMDB database that holds no tree.
type lmdbSource struct {
	c     *cli.Context
	dir   string
	env   *lmdb.Env
	txn   *lmdb.Txn
	table lmdb.DBI
	total uint64 // entries
	count int64  // of those yielded
}

// openLMDB opens a table, the unnamed one if name is "", of the database in dir for reading, in
// one state of it. It refuses tables with several values for a key, those of a tree, and the
// unnamed table if that lists named ones.
func openLMDB(c *cli.Context, dir, name string) (*lmdbSource, error) {
	s := &lmdbSource{c: c, dir: dir}
	err := s.open(name)
	if err != nil {
		return nil, errors.Join(s.named(err), s.Close())
	}
	return s, nil
}

// named says in err which database it is about.
func (s *lmdbSource) named(err error) error { return ofSource("--from-lmdb "+s.dir, err) }

func (s *lmdbSource) open(name string) error {
	var err error
	if s.env, err = openRaw(s.dir); err != nil {
		return err
	}
	if s.txn, err = s.env.BeginTxn(nil, lmdb.Readonly); err != nil {
		return err
	}
	s.txn.RawRead = true
	if s.table, err = openTable(s.txn, name); err != nil {
		return err
	}
	if err := s.checkTable(name); err != nil {
		return err
	}
	stat, err := s.txn.Stat(s.table)
	if err == nil {
		s.total = stat.Entries
	}
	return err
}

// openRaw opens the LMDB database in dir for reading, without any of okra's knowledge.
func openRaw(dir string) (*lmdb.Env, error) {
	// This looks whether the file is there, of LMDB, whole, and not open in this process.
	probe, err := lmdbenv.Open(dir, lmdbenv.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	if err := probe.Close(context.Background()); err != nil {
		return nil, err
	}
	env, err := lmdb.NewEnv()
	if err != nil {
		return nil, err
	}
	if err = env.SetMaxDBs(rawTables); err == nil {
		err = env.Open(dir, lmdb.Readonly, 0)
	}
	if err != nil {
		env.Close()
		return nil, err
	}
	return env, nil
}

// rawTables is how many named tables can be open at once.
const rawTables = 1024

var errNoTable = errors.New("no table")

func openTable(txn *lmdb.Txn, name string) (lmdb.DBI, error) {
	if name == "" {
		return txn.OpenRoot(0)
	}
	table, err := txn.OpenDBI(name, 0)
	if lmdb.IsNotFound(err) {
		return 0, fmt.Errorf("%w %q", errNoTable, name)
	}
	if lmdb.IsErrno(err, lmdb.Incompatible) {
		return 0, fmt.Errorf("%q is an entry, %w", name, errNoTable)
	}
	return table, err
}

func (s *lmdbSource) checkTable(name string) error {
	flags, err := s.txn.Flags(s.table)
	if err != nil {
		return err
	}
	if flags&lmdb.DupSort != 0 {
		return errors.New("the table may hold several values for a key; okra cannot")
	}
	if flags&lmdb.IntegerKey != 0 {
		say(s.c, "note: the keys are integers in this machine's byte order, and become keys as such")
	}
	if isTree(s.txn, s.table) {
		return errors.New("the table holds an okra tree; use okra backup, or okra export")
	}
	if name != "" {
		return nil
	}
	names, err := namedTables(s.txn, s.table, 1)
	if err == nil && len(names) > 0 {
		err = fmt.Errorf("there are named tables, such as %q; choose one with --from-table", names[0])
	}
	return err
}

// isTree reports whether a table has the header of a tree.
func isTree(txn *lmdb.Txn, table lmdb.DBI) bool {
	header, err := txn.Get(table, []byte{0xff})
	if err != nil {
		return false
	}
	_, err = tree.DecodeHeader(header)
	return err == nil || errors.Is(err, tree.ErrFormat)
}

// tableRecord is the size of the record by which the unnamed table lists a named one: 8 bytes and
// five of the machine's words.
const tableRecord = 8 + 5*strconv.IntSize/8

// namedTables returns the names of at most so many named tables, which root, the unnamed one,
// lists. It leaves them open.
func namedTables(txn *lmdb.Txn, root lmdb.DBI, most int) ([]string, error) {
	var names []string
	cur, err := txn.OpenCursor(root)
	if err != nil {
		return nil, err
	}
	defer cur.Close()
	for len(names) < most {
		key, value, err := cur.Get(nil, nil, lmdb.Next)
		if lmdb.IsNotFound(err) {
			return names, nil
		}
		if err != nil {
			return nil, err
		}
		if len(value) != tableRecord || bytes.IndexByte(key, 0) >= 0 {
			continue
		}
		_, err = txn.OpenDBI(string(key), 0)
		switch {
		case err == nil:
			names = append(names, string(key))
		case !lmdb.IsErrno(err, lmdb.Incompatible) && !lmdb.IsNotFound(err):
			return nil, err
		}
	}
	return names, nil
}

func (s *lmdbSource) Format() okra.Format { return okra.Format{} }

func (s *lmdbSource) Entries() iter.Seq2[dump.Entry, error] {
	return func(yield func(dump.Entry, error) bool) {
		s.count = 0
		cur, err := s.txn.OpenCursor(s.table)
		if err != nil {
			yield(dump.Entry{}, s.named(err))
			return
		}
		defer cur.Close()
		p := newProgress(s.c, "entries imported").upTo(int64(s.total))
		defer p.end()
		for {
			key, value, err := cur.Get(nil, nil, lmdb.Next)
			if lmdb.IsNotFound(err) {
				return
			}
			if err == nil {
				err = checkKey(key)
			}
			if err != nil {
				yield(dump.Entry{}, s.named(err))
				return
			}
			s.count++
			p.add(1)
			if !yield(dump.Entry{Key: key, Value: value}, nil) {
				return
			}
		}
	}
}

func (s *lmdbSource) Trailer() dump.Trailer { return dump.Trailer{Count: s.count} }

func (s *lmdbSource) Close() error {
	if s.txn != nil {
		s.txn.Abort()
	}
	if s.env == nil {
		return nil
	}
	return s.env.Close()
}

package lmdbenv

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/PowerDNS/lmdb-go/lmdb"
)

// Options for Open; each zero field means the default.
type Options struct {
	MapSize    int64       // largest size of the data in bytes; 1 TiB (1 GiB on 32 bits)
	MaxReaders int         // reader slots; 1024
	MaxTables  int         // named tables; 128
	FileMode   fs.FileMode // of files made, before umask; 0o644. Directories add the x bits
	ReadOnly   bool        // open an existing database for reading; makes no file
	NoSync     bool        // do not flush at commit: a crash of the machine may lose or damage data
}

const (
	defaultReaders = 1024
	defaultTables  = 128
	defaultMode    = 0o644
)

// defaultMapSize reserves address space, not disk: the file is as large as its data.
const defaultMapSize = 1 << (30 + 10*(strconv.IntSize/64))

func (o Options) withDefaults() Options {
	if o.MapSize == 0 {
		o.MapSize = defaultMapSize
	}
	if o.MaxReaders == 0 {
		o.MaxReaders = defaultReaders
	}
	if o.MaxTables == 0 {
		o.MaxTables = defaultTables
	}
	if o.FileMode == 0 {
		o.FileMode = defaultMode
	}
	return o
}

// An Env is an open LMDB environment: a directory with data.mdb and lock.mdb. It may be used
// by many goroutines.
type Env struct {
	env      *lmdb.Env
	path     string
	readOnly bool
	file     fs.FileInfo // as registered; nil for an attached environment
	made     bool        // the data file was missing
	attached bool
	single   bool // path is that of the data file; only in an attached environment

	active  atomic.Int64  // transactions under way
	closing atomic.Bool   // no new ones
	drained chan struct{} // a token when active came to 0 while closing

	writing chan struct{}  // a token: the right to begin the write transaction
	writer  atomic.Uintptr // the thread of the write transaction, or 0
	memory  answers        // of the write transaction

	opening sync.Mutex // held while table handles are opened

	mu   sync.Mutex // guards idle
	idle []*Txn     // read transactions that are reset
}

// Open opens the environment in the directory at path, and makes both unless o.ReadOnly. The
// errors are [ErrNotExist], [ErrPermission], [ErrNotLMDB], [ErrMapSize], [tree.ErrCorrupt] for a
// file that is cut short, and [ErrInUse] when this process has the file open by any path: LMDB
// cannot bear that. A failed Open leaves nothing behind but a directory.
func Open(path string, o Options) (*Env, error) {
	o = o.withDefaults()
	doing := "open " + path
	if o.MapSize < 0 {
		return nil, fmt.Errorf("%s: map size is %d bytes", doing, o.MapSize)
	}
	if !o.ReadOnly {
		if err := os.MkdirAll(path, o.FileMode|(o.FileMode&0o444)>>2); err != nil {
			return nil, classify(doing, err)
		}
	}
	e := newEnv(path)
	e.readOnly = o.ReadOnly
	if err := e.register(o.FileMode); err != nil {
		return nil, classify(doing, err)
	}
	if err := e.open(path, o); err != nil {
		e.undo()
		return nil, classify(doing, err)
	}
	return e, nil
}

func newEnv(path string) *Env {
	e := &Env{path: path, drained: make(chan struct{}, 1), writing: make(chan struct{}, 1)}
	e.writing <- struct{}{}
	return e
}

func (e *Env) open(path string, o Options) error {
	env, err := lmdb.NewEnv()
	if err != nil {
		return err
	}
	var flags uint
	if o.ReadOnly {
		flags |= lmdb.Readonly
	}
	if o.NoSync {
		flags |= lmdb.NoSync
	}
	err = env.SetMaxReaders(o.MaxReaders)
	if err == nil {
		err = env.SetMaxDBs(o.MaxTables)
	}
	if err == nil && !o.ReadOnly {
		err = env.SetMapSize(o.MapSize)
	}
	if err == nil {
		err = env.Open(path, flags, o.FileMode)
	}
	if err == nil {
		err = checkWhole(e.DataFile())
	}
	if err != nil {
		env.Close()
		return err
	}
	e.env = env
	return nil
}

// Attach makes an Env of an environment that the caller has opened and goes on to own. Closing
// the Env waits for its transactions and leaves the caller's environment open. One with the
// WriteMap flag gives [ErrWriteMap]: LMDB cannot nest transactions in it.
func Attach(env *lmdb.Env) (*Env, error) {
	path, err := env.Path()
	if err != nil {
		return nil, classify("attach", err)
	}
	flags, err := env.Flags()
	if err != nil {
		return nil, classify("attach "+path, err)
	}
	if flags&lmdb.WriteMap != 0 {
		return nil, fmt.Errorf("attach %s: %w", path, ErrWriteMap)
	}
	e := newEnv(path)
	e.env, e.attached, e.readOnly = env, true, flags&lmdb.Readonly != 0
	e.single = flags&lmdb.NoSubdir != 0
	return e, nil
}

// Path returns the path that the environment was opened by.
func (e *Env) Path() string { return e.path }

// ReadOnly reports whether the environment takes no writes.
func (e *Env) ReadOnly() bool { return e.readOnly }

// DataFile returns the path of the file that holds the data.
func (e *Env) DataFile() string {
	if e.single {
		return e.path
	}
	return filepath.Join(e.path, "data.mdb")
}

// Sync flushes to disk what commits without sync have left in memory.
func (e *Env) Sync() error {
	if err := e.enter(); err != nil {
		return err
	}
	defer e.leave()
	return classify("sync "+e.path, e.env.Sync(true))
}

// enter counts a transaction in, unless the environment is closed or closing.
func (e *Env) enter() error {
	e.active.Add(1)
	if e.closing.Load() {
		e.leave()
		return ErrClosed
	}
	return nil
}

func (e *Env) leave() {
	if e.active.Add(-1) == 0 && e.closing.Load() {
		select {
		case e.drained <- struct{}{}:
		default:
		}
	}
}

// Close refuses new transactions, waits for those under way and closes the environment. A
// second Close does nothing.
func (e *Env) Close() error {
	if e.closing.Swap(true) {
		return nil
	}
	for e.active.Load() > 0 {
		<-e.drained
	}
	e.mu.Lock()
	for _, r := range e.idle {
		r.txn.Abort()
	}
	e.idle = nil
	e.mu.Unlock()
	if e.attached {
		return nil
	}
	err := e.env.Close()
	e.forget()
	return classify("close "+e.path, err)
}

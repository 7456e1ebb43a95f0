package lmdbenv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/PowerDNS/lmdb-go/lmdb"
)

// Options for Open; each zero field means the default.
type Options struct {
	MapSize     int64         // first size of the map in bytes; 1 TiB (1 GiB on 32 bits), or less
	MaxSize     int64         // bound of its growth in bytes; 64 TiB (1 GiB)
	GrowTimeout time.Duration // how long growing waits for transactions to end; 10 s
	MaxReaders  int           // reader slots; 2048
	MaxTables   int           // named tables; 128
	FileMode    fs.FileMode   // of files made, before umask; 0o644. Directories add the x bits
	ReadOnly    bool          // open an existing database for reading; makes no data file
	NoLock      bool          // with ReadOnly: without LMDB's lock file; nobody may write meanwhile
	NoSync      bool          // do not flush at commit: a crash of the machine may lose or damage data
}

const (
	defaultReaders = 2048
	defaultTables  = 128
	defaultMode    = 0o644
)

// defaultMapSize reserves address space, not disk: the file is as large as its data.
const defaultMapSize = 1 << (30 + 10*(strconv.IntSize/64))

// leastMapSize is what the default is halved to where less address space is to be had.
const leastMapSize = 1 << 28

func (o Options) withDefaults() Options {
	if o.MaxSize == 0 {
		o.MaxSize = max(mapMost, o.MapSize)
	}
	if o.GrowTimeout == 0 {
		o.GrowTimeout = growPatience
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
	made     bool // the data file was missing
	attached bool
	single   bool // path is that of the data file; only in an attached environment

	maxSize  int64         // of the map
	patience time.Duration // of growing

	gate *gate

	writing chan struct{}  // a token: the right to begin the write transaction
	writer  atomic.Uintptr // the thread of the write transaction, or 0
	memory  answers        // of the write transaction
	updates uint           // write transactions begun; the token's holder has it

	opening sync.Mutex // held while table handles are opened
	slot    sync.Mutex // held while a reader slot is taken

	mu       sync.Mutex // guards idle
	idle     []*Txn     // read transactions that are reset
	idleMost int        // of them

	closing chan struct{} // a token: the right to close
	gone    bool          // env is closed; the token's holder has it
}

// Open opens the environment in the directory at path, and makes both unless o.ReadOnly. It
// frees the reader slots of processes that have died.
//
// The errors are [ErrNotExist], [ErrPermission], [ErrNotLMDB], [ErrMapSize], [tree.ErrCorrupt]
// for a file that is cut short, and [ErrInUse] when this process has the file open by any path:
// LMDB cannot bear that. A failed Open leaves nothing behind but a directory.
func Open(path string, o Options) (*Env, error) {
	o = o.withDefaults()
	doing := "open " + path
	if o.MapSize < 0 || o.MaxSize < 0 {
		return nil, fmt.Errorf("%s: negative map size", doing)
	}
	if !o.ReadOnly {
		if err := os.MkdirAll(path, o.FileMode|(o.FileMode&0o444)>>2); err != nil {
			return nil, classify(doing, err)
		}
	}
	e := newEnv(path)
	e.readOnly, e.maxSize, e.patience = o.ReadOnly, o.MaxSize, o.GrowTimeout
	e.idleMost = max(1, min(idleMost, o.MaxReaders/idleShare))
	if o.MapSize > 0 {
		if err := reserveMap(o.MapSize); err != nil {
			return nil, classify(doing, err)
		}
	}
	if err := e.register(o.FileMode); err != nil {
		return nil, classify(doing, err)
	}
	if err := e.open(o); err != nil {
		e.undo()
		err = classify(doing, err)
		if errors.Is(err, ErrPermission) {
			err = fmt.Errorf("%w: even reading needs write access to lock.mdb in the directory, "+
				"writing to data.mdb too; with the option NoLock of the library reading does without, "+
				"while nobody writes", err)
		}
		return nil, err
	}
	return e, nil
}

func newEnv(path string) *Env {
	e := &Env{
		path: path, gate: newGate(), writing: make(chan struct{}, 1), closing: make(chan struct{}, 1),
	}
	e.writing <- struct{}{}
	e.closing <- struct{}{}
	return e
}

// open opens the environment with the map size asked for or, by default, with the largest up
// to the default for which there is address space. A reader takes the size that the file says.
func (e *Env) open(o Options) error {
	if info, err := os.Stat(e.DataFile()); err != nil {
		return err
	} else if info.Size() > 0 {
		if err := checkWhole(e.DataFile()); err != nil {
			return err
		}
	}
	if !o.NoLock {
		if err := e.reserveLock(o); err != nil {
			return err
		}
	}
	if o.MapSize != 0 {
		return e.openSized(o, min(o.MapSize, o.MaxSize))
	}
	size := min(defaultMapSize, o.MaxSize)
	if e.readOnly {
		if err := e.openSized(o, 0); !lmdb.IsErrnoSys(err, syscall.ENOMEM) {
			return err
		}
	}
	for {
		err := e.openSized(o, size)
		if size <= leastMapSize || !isNoMemory(err) {
			return err
		}
		size /= 2
	}
}

// isNoMemory reports whether there is not enough address space.
func isNoMemory(err error) bool {
	return errors.Is(err, syscall.ENOMEM) || lmdb.IsErrnoSys(err, syscall.ENOMEM)
}

// openSized opens the environment with a map of a size, 0 for that of the file.
func (e *Env) openSized(o Options, size int64) error {
	if err := reserveMap(size); size > 0 && err != nil {
		return err
	}
	env, err := lmdb.NewEnv()
	if err != nil {
		return err
	}
	var flags uint
	if o.ReadOnly {
		flags |= lmdb.Readonly
		if o.NoLock {
			flags |= lmdb.NoLock
		}
	}
	if o.NoSync {
		flags |= lmdb.NoSync
	}
	err = env.SetMaxReaders(o.MaxReaders)
	if err == nil {
		err = env.SetMaxDBs(o.MaxTables)
	}
	if err == nil && size > 0 {
		err = env.SetMapSize(size)
	}
	if err == nil {
		err = env.Open(e.path, flags, o.FileMode)
	}
	if err == nil && !o.ReadOnly {
		_, err = env.ReaderCheck()
	}
	if err != nil {
		env.Close()
		return err
	}
	e.env = env
	return e.keepFromChildren()
}

// keepFromChildren sees to it that programs which this one starts do not have the data file
// open, which LMDB leaves to chance.
func (e *Env) keepFromChildren() error {
	fd, err := e.env.FD()
	if err == nil {
		syscall.CloseOnExec(int(fd))
	}
	return err
}

// Attach makes an Env of an environment that the caller has opened and goes on to own. Closing
// the Env waits for its transactions and leaves the caller's environment open. One with the
// WriteMap flag gives [ErrWriteMap]: LMDB cannot nest transactions in it. One file open in
// two environments gives [ErrInUse].
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
	e.idleMost = 1
	e.single = flags&lmdb.NoSubdir != 0
	if err := e.register(0); err != nil {
		return nil, classify("attach "+path, err)
	}
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
	if err := e.gate.enter(); err != nil {
		return err
	}
	defer e.gate.leave()
	return classify("sync "+e.path, e.env.Sync(true))
}

// Close refuses new transactions, waits for those under way or for ctx, and closes the
// environment. If ctx ends first it returns its error, and a later Close goes on waiting. A
// Close of what is closed does nothing.
func (e *Env) Close(ctx context.Context) error {
	e.gate.close()
	select {
	case <-e.closing:
	case <-ctx.Done():
		return e.busy(ctx.Err())
	}
	defer func() { e.closing <- struct{}{} }()
	if e.gone {
		return nil
	}
	if err := e.gate.drain(ctx); err != nil {
		return e.busy(err)
	}
	e.gone = true
	e.mu.Lock()
	for _, t := range e.idle {
		t.txn.Abort()
	}
	e.idle = nil
	e.mu.Unlock()
	if e.attached {
		e.forget()
		return nil
	}
	err := e.env.Close()
	e.forget()
	return classify("close "+e.path, err)
}

// busy says how many transactions Close waits for.
func (e *Env) busy(err error) error {
	n := e.gate.active.Load()
	return fmt.Errorf("close %s: %d transactions are under way: %w", e.path, n, err)
}

package lmdbenv

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"syscall"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"github.com/okradb/okra-go/tree"
)

// A Txn is one transaction of an Env, used by one goroutine at a time.
type Txn struct {
	txn    *lmdb.Txn
	tables []*table // those asked for, which are few
	memory *answers
	full   bool // a write found the map full
}

// newTxn makes txn read raw.
func newTxn(txn *lmdb.Txn) *Txn {
	txn.RawRead = true
	return &Txn{txn: txn, memory: &answers{}}
}

// ID returns the number of the commit that a read transaction sees.
func (t *Txn) ID() uint64 { return uint64(t.txn.ID()) }

// Storage returns the records of a table, as package tree works on them. It is valid until the
// transaction ends.
func (t *Txn) Storage(h Handle) (tree.Storage, error) {
	for _, tab := range t.tables {
		if tab.dbi == h.dbi {
			return tab.storage(), nil
		}
	}
	tab, err := newTable(t, h.dbi)
	if err != nil {
		return nil, err
	}
	t.tables = append(t.tables, tab)
	return tab.storage(), nil
}

// idleMost is how many read transactions are kept for use again, if that is not more than one
// in idleShare of the reader slots, since each has one.
const (
	idleMost  = 64
	idleShare = 8
)

// BeginRead begins a read transaction, a snapshot of one commit, by renewing one that has ended
// where it can. It must be given back by [Env.EndRead]. If all reader slots are taken it frees
// those of dead processes before it gives [ErrReadersFull].
func (e *Env) BeginRead() (*Txn, error) {
	checked := false
	for tries := 0; ; tries++ {
		if err := e.gate.enter(); err != nil {
			return nil, err
		}
		t, err := e.renew()
		if err == nil {
			return t, nil
		}
		e.gate.leave()
		again := tries < resizeMost
		switch {
		case again && lmdb.IsMapResized(err):
			if err := e.adopt(); err != nil {
				return nil, fmt.Errorf("begin read: %w", err)
			}
			continue
		case again && lmdb.IsErrno(err, lmdb.ReadersFull):
			// Another goroutine may have freed slots just before.
			if freed, checkErr := e.checkReaders(); checkErr == nil && (freed > 0 || !checked) {
				checked = true
				continue
			}
			err = fmt.Errorf("%w: end snapshots and Views earlier, or raise MaxReaders", err)
			return nil, classify("begin read", err)
		}
		return nil, classify("begin read", err)
	}
}

// checkReaders frees the reader slots of processes that have died.
func (e *Env) checkReaders() (freed int, err error) {
	if err := e.gate.enter(); err != nil {
		return 0, err
	}
	defer e.gate.leave()
	return e.env.ReaderCheck()
}

// renew returns a read transaction that is begun.
func (e *Env) renew() (*Txn, error) {
	e.mu.Lock()
	var t *Txn
	if n := len(e.idle); n > 0 {
		t, e.idle = e.idle[n-1], e.idle[:n-1]
	}
	e.mu.Unlock()
	if t != nil {
		err := t.txn.Renew()
		if err != nil {
			t.txn.Abort()
		}
		for _, tab := range t.tables {
			tab.stale = true
		}
		return t, err
	}
	// LMDB gives slots one at a time. Whoever waited for that in LMDB would take a thread.
	e.slot.Lock()
	txn, err := e.env.BeginTxn(nil, lmdb.Readonly)
	e.slot.Unlock()
	if err != nil {
		return nil, err
	}
	txn.Pooled = true
	return newTxn(txn), nil
}

// EndRead ends t. What was read through it is not valid any more.
func (e *Env) EndRead(t *Txn) {
	t.txn.Reset()
	e.mu.Lock()
	keep := len(e.idle) < e.idleMost
	if keep {
		e.idle = append(e.idle, t)
	}
	e.mu.Unlock()
	if !keep {
		t.txn.Abort()
	}
	e.gate.leave()
}

// Update runs fn in the one write transaction there can be, waiting for its turn or for ctx, and
// commits it if fn returns nil; otherwise nothing has happened, and the error is fn's. fn runs
// in the calling goroutine, which stays on its thread. Update inside fn gives [ErrNested].
//
// When the map is full, in fn or at the commit, it is made larger and fn run again.
func (e *Env) Update(ctx context.Context, fn func(*Txn) error) error {
	if e.readOnly {
		return ErrReadOnly
	}
	if e.InUpdate() {
		return ErrNested
	}
	if e.gate.state.Load() == gateClosed {
		return ErrClosed
	}
	if err := e.turn(ctx); err != nil {
		return fmt.Errorf("wait to write to %s: %w", e.path, err)
	}
	defer func() { e.writing <- struct{}{} }()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for tries := 0; ; tries++ {
		full, err := e.update(fn)
		switch {
		case err == nil || tries >= resizeMost:
			return err
		case full:
			if growErr := e.grow(); growErr != nil {
				return fmt.Errorf("update %s: %w", e.path, growErr)
			}
		case errors.Is(err, errResized):
			if err := e.adopt(); err != nil {
				return fmt.Errorf("update %s: %w", e.path, err)
			}
		default:
			return err
		}
	}
}

// turn waits for the right to write, or for ctx.
func (e *Env) turn(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case <-e.writing:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// checkEach is how many Updates go by until the slots of dead readers are looked for, which keep
// LMDB from using pages again.
const checkEach = 64

// errResized is LMDB's refusal to begin a transaction in a map that is too small.
var errResized = errors.New("begin write")

// update runs fn in one write transaction, and reports whether that failed because the map was
// full.
func (e *Env) update(fn func(*Txn) error) (full bool, err error) {
	if err := e.gate.enter(); err != nil {
		return false, err
	}
	defer e.gate.leave()
	if e.updates++; e.updates%checkEach == 0 {
		if _, err := e.env.ReaderCheck(); err != nil {
			return false, classify("check the readers of "+e.path, err)
		}
	}
	t := Txn{memory: &e.memory}
	began := false
	var inner error
	err = e.env.UpdateLocked(func(txn *lmdb.Txn) error {
		defer e.writer.Store(e.writer.Swap(thread()))
		began = true
		txn.RawRead = true
		t.txn = txn
		if inner = fn(&t); inner == nil && t.full {
			inner = fmt.Errorf("update %s: %w", e.path, ErrMapFull)
		}
		return inner
	})
	switch {
	case inner != nil:
		return t.full, inner
	case err == nil:
		return false, nil
	case !began && lmdb.IsMapResized(err):
		return false, errResized
	case began && lmdb.IsErrnoSys(err, syscall.EIO) && diskFull(e.path):
		// LMDB says so of a write that was cut short.
		return false, fmt.Errorf("commit to %s: %w (%w)", e.path, ErrDiskFull, err)
	case began:
		return lmdb.IsMapFull(err), classify("commit to "+e.path, err)
	default:
		return false, classify("begin write to "+e.path, err)
	}
}

// InUpdate reports whether the calling goroutine is inside a write transaction of e. A goroutine
// that writes has its thread for itself, so that the same thread is the same goroutine.
func (e *Env) InUpdate() bool {
	w := e.writer.Load()
	return w != 0 && w == thread()
}

// Join runs fn within the caller's transaction txn of this environment: in a nested one, so
// that after an error of fn txn is as it was before, or, where txn only reads, in txn itself.
// It tells fn whether it may write.
func (e *Env) Join(txn *lmdb.Txn, fn func(t *Txn, writes bool) error) error {
	if err := e.gate.enter(); err != nil {
		return err
	}
	defer e.gate.leave()
	if !belongs(txn, e.env) {
		return fmt.Errorf("join a transaction of %s: %w", e.path, ErrForeignTxn)
	}
	ran := false
	var inner error
	err := txn.Sub(func(sub *lmdb.Txn) error {
		ran = true
		defer e.writer.Store(e.writer.Swap(thread()))
		inner = fn(newTxn(sub), true)
		return inner
	})
	// Only write transactions nest.
	if !ran && (lmdb.IsErrnoSys(err, syscall.EINVAL) || lmdb.IsErrnoSys(err, syscall.EACCES)) {
		raw := txn.RawRead
		defer func() { txn.RawRead = raw }()
		t := newTxn(txn)
		defer t.closeCursors()
		return fn(t, false)
	}
	if inner != nil {
		return inner
	}
	return classify("join a transaction of "+e.path, err)
}

// closeCursors closes the cursors of a read transaction that is not ours to end.
func (t *Txn) closeCursors() {
	for _, tab := range t.tables {
		tab.cur.Close()
	}
}

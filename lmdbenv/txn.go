package lmdbenv

import (
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
}

// newTxn makes txn read raw.
func newTxn(txn *lmdb.Txn) *Txn {
	txn.RawRead = true
	return &Txn{txn: txn, memory: &answers{}}
}

// Storage returns the records of a table, as package tree works on them. It is valid until the
// transaction ends.
func (t *Txn) Storage(h Handle) (tree.Storage, error) {
	for _, tab := range t.tables {
		if tab.dbi == h.dbi {
			return tab.storage(), nil
		}
	}
	tab, err := newTable(t.txn, h.dbi, t.memory)
	if err != nil {
		return nil, err
	}
	t.tables = append(t.tables, tab)
	return tab.storage(), nil
}

// BeginRead begins a read transaction, a snapshot of one commit, by renewing one that has ended
// where it can. It must be given back by [Env.EndRead].
func (e *Env) BeginRead() (*Txn, error) {
	if err := e.enter(); err != nil {
		return nil, err
	}
	t, err := e.renew()
	if err != nil {
		e.leave()
		return nil, classify("begin read", err)
	}
	return t, nil
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
	txn, err := e.env.BeginTxn(nil, lmdb.Readonly)
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
	e.idle = append(e.idle, t)
	e.mu.Unlock()
	e.leave()
}

// Update runs fn in the one write transaction there can be, waiting for its turn, and commits
// it if fn returns nil; otherwise nothing has happened, and the error is fn's. fn runs in the
// calling goroutine, which stays on its thread. Update inside fn gives [ErrNested].
func (e *Env) Update(fn func(*Txn) error) error {
	if e.readOnly {
		return ErrReadOnly
	}
	if err := e.enter(); err != nil {
		return err
	}
	defer e.leave()
	if e.InUpdate() {
		return ErrNested
	}
	<-e.writing
	defer func() { e.writing <- struct{}{} }()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var inner error
	err := e.env.UpdateLocked(func(txn *lmdb.Txn) error {
		defer e.writer.Store(e.writer.Swap(thread()))
		txn.RawRead = true
		inner = fn(&Txn{txn: txn, memory: &e.memory})
		return inner
	})
	if inner != nil {
		return inner
	}
	return classify("commit to "+e.path, err)
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
	if err := e.enter(); err != nil {
		return err
	}
	defer e.leave()
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

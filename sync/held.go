package sync

import (
	"context"
	"errors"
	stdsync "sync"
	"time"

	"github.com/okradb/okra-go/okra"
)

// replica is the tree of a session on our side.
type replica struct {
	ctx   context.Context // after which it gives its error
	db    *okra.DB
	table *okra.Table // nil for the DB's own tree
}

func (r replica) format() okra.Format {
	if r.table != nil {
		return r.table.Format()
	}
	return r.db.Format()
}

func (r replica) of(tx *okra.Tx) *okra.Tx {
	if r.table != nil {
		return tx.Table(r.table)
	}
	return tx
}

func (r replica) view(fn func(*okra.Tx) error) error {
	if err := r.ctx.Err(); err != nil {
		return context.Cause(r.ctx)
	}
	return r.db.View(func(tx *okra.Tx) error { return fn(r.of(tx)) })
}

func (r replica) update(fn func(*okra.Tx) error) error {
	return r.db.UpdateContext(r.ctx, func(tx *okra.Tx) error { return fn(r.of(tx)) })
}

// root returns the root as it is now, also when ctx has ended.
func (r replica) root() (root okra.Root, err error) {
	err = r.db.View(func(tx *okra.Tx) error {
		root, err = r.of(tx).Root()
		return err
	})
	return root, err
}

// errMoved says that the tree is no longer the one that was looked at.
var errMoved = errors.New("tree has changed in the meantime")

// held is one state of a replica for the time in which differences are looked for. While the
// peer thinks, it lets the state go after a while: a state that is held keeps LMDB from using
// pages again. If the tree is still the same later, all goes on.
type held struct {
	replica
	root okra.Root
	time time.Duration

	mu    stdsync.Mutex
	snap  *okra.Snapshot // nil when let go
	timer *time.Timer
}

// hold returns the replica as it is now, held for at most d at a time.
func (r replica) hold(d time.Duration) (*held, error) {
	h := &held{replica: r, time: d}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.take(); err != nil {
		return nil, err
	}
	err := h.snap.View(func(tx *okra.Tx) (err error) {
		h.root, err = r.of(tx).Root()
		return err
	})
	if err != nil {
		h.release()
		return nil, err
	}
	return h, nil
}

func (h *held) take() (err error) {
	h.snap, err = h.db.Snapshot()
	if err == nil {
		h.timer = time.AfterFunc(h.time, h.close)
	}
	return err
}

// view runs fn with the state that is held, or returns errMoved.
func (h *held) view(fn func(*okra.Tx) error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.ctx.Err(); err != nil {
		return context.Cause(h.ctx)
	}
	again := h.snap == nil
	if again {
		if err := h.take(); err != nil {
			return err
		}
	}
	return h.snap.View(func(tx *okra.Tx) error {
		tx = h.of(tx)
		if again {
			if root, err := tx.Root(); err != nil {
				return err
			} else if root != h.root {
				return errMoved
			}
		}
		return fn(tx)
	})
}

// close lets the state go. It may be called more than once.
func (h *held) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.release()
}

func (h *held) release() {
	if h.snap != nil {
		h.timer.Stop()
		_ = h.snap.Close() // gives no error
		h.snap = nil
	}
}

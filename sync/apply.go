package sync

import (
	"bytes"
	"context"
	"fmt"

	"github.com/okradb/okra-go/okra"
)

// Bounds of a batch, which is one transaction.
const (
	batchBytes = 1 << 20
	batchItems = 16 << 10
)

// batch holds copies of items until they are applied.
type batch struct {
	items []item
	buf   []byte
	size  int
}

// add copies i and reports whether the batch is full.
func (b *batch) add(i item) (full bool) {
	i.key, i.value = b.keep(i.key), b.keep(i.value)
	b.items = append(b.items, i)
	return b.size >= batchBytes || len(b.items) >= batchItems
}

func (b *batch) keep(p []byte) []byte {
	if len(b.buf)+len(p) > cap(b.buf) {
		b.buf = make([]byte, 0, max(batchBytes/8, len(p)))
	}
	b.size += len(p)
	n := len(b.buf)
	b.buf = append(b.buf, p...)
	return b.buf[n:len(b.buf):len(b.buf)]
}

func (b *batch) reset() {
	clear(b.items)
	*b = batch{items: b.items[:0], buf: b.buf[:0]}
	if cap(b.buf) > batchBytes {
		b.buf = nil
	}
}

// applier makes changes that a peer sends, in batches of one transaction each, where the entries
// are still those that the peer has compared.
type applier struct {
	ctx     context.Context
	r       replica
	accept  func(key, value []byte) error
	made    *Changes
	refused *refusals
	batch   batch
}

func (a *applier) add(i item) error {
	if a.batch.add(i) {
		return a.flush()
	}
	return nil
}

func (a *applier) flush() error {
	if len(a.batch.items) == 0 {
		return nil
	}
	var made Changes
	var refused refusals
	err := a.r.update(a.ctx, func(tx *okra.Tx) error {
		made, refused = Changes{}, refusals{} // it may run more than once
		for _, i := range a.batch.items {
			if err := a.apply(tx, i, &made, &refused); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write what was received: %w", err)
	}
	a.made.Added += made.Added
	a.made.Changed += made.Changed
	a.made.Deleted += made.Deleted
	a.refused.join(&refused)
	a.batch.reset()
	return nil
}

func (a *applier) apply(tx *okra.Tx, i item, made *Changes, refused *refusals) error {
	value, ok, err := lookUp(tx, i.key)
	if err != nil {
		return err
	}
	same := ok && i.kind != changeDelete && bytes.Equal(value, i.value) || !ok && i.kind == changeDelete
	as := !ok && i.kind == changeAdd ||
		ok && i.kind.hasHash() && okra.LeafHash(tx.Format().K, i.key, value) == i.hash
	switch {
	case same:
		return nil
	case !as:
		refused.add(ReasonChanged, false, i.key, "")
		return nil
	case i.kind == changeDelete:
		made.Deleted++
		return tx.Delete(i.key)
	}
	put, err := tryPut(tx, i.key, i.value, a.accept, refused)
	if err != nil || !put {
		return err
	}
	if ok {
		made.Changed++
	} else {
		made.Added++
	}
	return nil
}

// tryPut puts an entry of the peer's if it is accepted, and reports whether it did.
func tryPut(tx *okra.Tx, key, value []byte, accept func(key, value []byte) error, refused *refusals) (bool, error) {
	if accept != nil {
		if err := accept(key, value); err != nil {
			refused.add(ReasonAccept, false, key, err.Error())
			return false, nil
		}
	}
	return true, tx.Put(key, value)
}

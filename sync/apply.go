package sync

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/okradb/okra-go/okra"
)

// batch holds copies of items until they are applied, in one transaction.
type batch struct {
	items []item
	mem   arena
	size  int // bytes of what is in it
}

// add copies i and reports whether the batch is full.
func (b *batch) add(i item) (full bool) {
	i.key, i.value = b.keep(i.key), b.keep(i.value)
	b.items = append(b.items, i)
	return b.size >= bounds.batchBytes || len(b.items) >= bounds.batchItems
}

func (b *batch) keep(p []byte) []byte {
	b.size += len(p)
	return b.mem.keep(p, bounds.batchBytes/8)
}

func (b *batch) reset() {
	clear(b.items)
	b.items, b.size = b.items[:0], 0
	b.mem.reset(bounds.batchBytes)
}

// applier makes changes that a peer sends, in batches of one transaction each, where the entries
// are still those that the peer has compared.
type applier struct {
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
	err := a.r.update(func(tx *okra.Tx) error {
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
	a.made.add(made)
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
	reason, err := tryPut(tx, i.key, i.value, a.accept, refused)
	if err != nil || reason != "" {
		return err
	}
	if ok {
		made.Changed++
	} else {
		made.Added++
	}
	return nil
}

// tryPut puts an entry of the peer's, or returns the reason for which it is refused.
func tryPut(tx *okra.Tx, key, value []byte, accept func(key, value []byte) error, refused *refusals) (Reason, error) {
	reason := ReasonAccept
	var err error
	if accept != nil {
		err = accept(key, value)
	}
	if err == nil {
		if err = tx.Put(key, value); !errors.Is(err, okra.ErrValueTooLong) {
			return "", err
		}
		reason = ReasonStore
	}
	refused.add(reason, false, key, err.Error())
	return reason, nil
}

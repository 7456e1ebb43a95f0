package okra_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/okradb/okra-go/okra"
)

// batchAll calls Batch from n goroutines at once and returns what each came back with.
func batchAll(db *okra.DB, n int, fn func(i int, tx *okra.Tx) error) []error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					errs[i] = fmt.Errorf("panic: %v", p)
				}
			}()
			errs[i] = db.Batch(func(tx *okra.Tx) error { return fn(i, tx) })
		})
	}
	wg.Wait()
	return errs
}

func number(i int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(i)) }

// Functions in flight together share transactions: far fewer commits than functions.
func TestBatchShares(t *testing.T) {
	db := newStore(t, okra.Options{})
	before, err := db.Stats()
	if err != nil {
		t.Fatal(err)
	}
	const n = 500
	var first sync.Once
	for i, err := range batchAll(db, n, func(i int, tx *okra.Tx) error {
		first.Do(func() { // the others come meanwhile
			for forBatch.count() < n-1 {
				time.Sleep(time.Millisecond)
			}
		})
		return tx.Put(number(i), []byte("v"))
	}) {
		if err != nil {
			t.Errorf("function %d: %v", i, err)
		}
	}
	after, err := db.Stats()
	if err != nil {
		t.Fatal(err)
	}
	if commits := after.LastTxn - before.LastTxn; commits > n/4 {
		t.Errorf("%d functions took %d commits", n, commits)
	}
	viewOK(t, db, func(tx *okra.Tx) error {
		if got, err := tx.Len(); err != nil || got != n {
			t.Errorf("there are %d entries (%v)", got, err)
		}
		return nil
	})
}

// A function that fails, or panics, is undone and hears of it alone; the others commit.
func TestBatchFailsAlone(t *testing.T) {
	db := newStore(t, okra.Options{})
	odd := errors.New("odd")
	const n = 90
	errs := batchAll(db, n, func(i int, tx *okra.Tx) error {
		if err := tx.Put(number(i), []byte("v")); err != nil {
			return err
		}
		if _, err := tx.Root(); err != nil { // applies what waits
			return err
		}
		switch i % 3 {
		case 1:
			return odd
		case 2:
			panic("at two")
		}
		return nil
	})
	for i, err := range errs {
		switch {
		case i%3 == 0 && err != nil, i%3 == 1 && !errors.Is(err, odd),
			i%3 == 2 && (err == nil || err.Error() != "panic: at two"):
			t.Errorf("function %d came back with %v", i, err)
		}
	}
	viewOK(t, db, func(tx *okra.Tx) error {
		for i := range n {
			if ok, err := tx.Has(number(i)); err != nil || ok != (i%3 == 0) {
				t.Errorf("entry %d is there: %t (%v)", i, ok, err)
			}
		}
		return nil
	})
}

// A function that ends its goroutine leaves nobody waiting.
func TestBatchGoexit(t *testing.T) {
	db := newStore(t, okra.Options{})
	var done atomic.Int32
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			defer done.Add(1)
			db.Batch(func(tx *okra.Tx) error {
				if i == 7 {
					runtime.Goexit()
				}
				return tx.Put(number(i), nil)
			})
		})
	}
	wg.Wait()
	if done.Load() != 20 {
		t.Errorf("%d goroutines ended", done.Load())
	}
	updateOK(t, db, put("after", "all"))
}

func TestBatchRefuses(t *testing.T) {
	db := newStore(t, okra.Options{})
	err := db.Update(func(*okra.Tx) error {
		return db.Batch(func(*okra.Tx) error { return nil })
	})
	wantIs(t, "Batch in Update", err, okra.ErrNested)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	wantIs(t, "Batch after Close", db.Batch(func(*okra.Tx) error { return nil }), okra.ErrClosed)
}

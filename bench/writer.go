package bench

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
)

const (
	poolEntries   = 1000 // that a writer writes over and over
	writerEntries = 10   // in each of its transactions
)

// fillPool makes the entries that a writer writes in iteration i: odd keys, twice the same, with
// two values each, so that each write changes something.
func (r *runner) fillPool(random *rand.Rand, i int) {
	r.workload.FillOdd(&r.pool[0], random, 2*i, poolEntries)
	r.workload.FillOdd(&r.pool[1], random, 2*i+1, poolEntries)
	copy(r.pool[1].keys, r.pool[0].keys)
}

// timeBeside runs row once on a store while a writer commits to it, and leaves the store with
// the first values of the pool, whatever the writer came to write.
func (r *runner) timeBeside(row Row, store store) (outcome, error) {
	w, err := startWriter(store, &r.pool)
	if err != nil {
		return outcome{}, err
	}
	before := w.commits.Load()
	o, err := r.time(row, store)
	o.commits = int(w.commits.Load() - before)
	if err := errors.Join(err, w.finish()); err != nil {
		return outcome{}, err
	}
	if _, err := store.put(&r.pool[0]); err != nil {
		return outcome{}, fmt.Errorf("writer: %w", err)
	}
	return o, nil
}

// writer commits small transactions to a store in a goroutine of its own until it is finished.
type writer struct {
	store   store
	pool    *[2]Batch
	commits atomic.Int64
	stop    chan struct{}
	done    chan struct{} // closed when the goroutine has ended
	err     error         // of the goroutine, once it has ended
}

// startWriter returns a writer that has made a commit and goes on, until finish is called.
func startWriter(store store, pool *[2]Batch) (*writer, error) {
	w := &writer{store: store, pool: pool, stop: make(chan struct{}), done: make(chan struct{})}
	if err := w.write(); err != nil {
		return nil, err
	}
	go func() {
		defer close(w.done)
		for w.err == nil {
			select {
			case <-w.stop:
				return
			default:
				w.err = w.write()
			}
		}
	}()
	return w, nil
}

// entries returns the entries of the n-th transaction: the pool part by part, with the other values
// each time around.
func (w *writer) entries(n int) *Batch {
	parts := w.pool[0].Len() / writerEntries
	from := n % parts * writerEntries
	return w.pool[n/parts%2].part(from, from+writerEntries)
}

// write commits the next transaction.
func (w *writer) write() error {
	b := w.entries(int(w.commits.Load()))
	tally, err := w.store.put(b)
	if err != nil {
		return fmt.Errorf("writer: %w", err)
	}
	if tally.Entries != b.Len() {
		return fmt.Errorf("writer: %d entries written instead of %d", tally.Entries, b.Len())
	}
	w.commits.Add(1)
	return nil
}

// finish ends the writer and checks that what it wrote last is in the store.
func (w *writer) finish() error {
	close(w.stop)
	<-w.done
	if w.err != nil {
		return w.err
	}
	if err := readBack(w.store, w.entries(int(w.commits.Load())-1)); err != nil {
		return fmt.Errorf("writer: %w", err)
	}
	return nil
}

package bench

import (
	"errors"
	"runtime"
	"strings"
	"testing"
)

// otherStore is a store with another put.
type otherStore struct {
	store
	other func(b *Batch) (Tally, error)
}

func (s otherStore) put(b *Batch) (Tally, error) { return s.other(b) }

// besideRunner returns a runner with filled stores and a full pool.
func besideRunner(t *testing.T) *runner {
	t.Helper()
	r := newRunner(Config{NoSync: true, ValueSize: 8}, t.TempDir(), Row{}, 100)
	t.Cleanup(func() {
		if err := r.closeStores(); err != nil {
			t.Error(err)
		}
	})
	if err := r.fillStores(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.fillPool(r.workload.random("beside"), 1)
	return r
}

func TestWriterCommitsUntilItIsFinished(t *testing.T) {
	r := besideRunner(t)
	for _, s := range r.stores {
		w, err := startWriter(s, &r.pool)
		if err != nil {
			t.Fatal(err)
		}
		// Twice around the pool, so that both values of each key are written.
		for w.commits.Load() < 2*poolEntries/writerEntries {
			runtime.Gosched()
		}
		if err := w.finish(); err != nil {
			t.Error(err)
		}
	}
}

func TestWriterFailsWhenWorkIsNotDone(t *testing.T) {
	broken := errors.New("broken")
	for _, tc := range []struct {
		name  string
		other func(calls int, s store, b *Batch) (Tally, error)
		want  string
	}{
		{"nothing", func(int, store, *Batch) (Tally, error) { return Tally{}, nil },
			"writer: 0 entries written instead of 10"},
		{"pretends", func(_ int, _ store, b *Batch) (Tally, error) {
			return Tally{Entries: b.Len()}, nil
		}, "writer: read back key"},
		{"fails later", func(calls int, s store, b *Batch) (Tally, error) {
			if calls > 3 {
				return Tally{}, broken
			}
			return s.put(b)
		}, "writer: broken"},
	} {
		r := besideRunner(t)
		inner, calls := r.stores[0], 0
		failing := otherStore{inner, func(b *Batch) (Tally, error) {
			calls++
			return tc.other(calls, inner, b)
		}}
		row := getsLine(2, 10, true)
		row.Prepare(r.workload, &r.batch, r.workload.random("gets"), 0)
		var err error
		for i := 0; i < 1000 && err == nil; i++ {
			_, err = r.timeBeside(row, failing)
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want one with %q", tc.name, err, tc.want)
		}
	}
}

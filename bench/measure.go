package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

const (
	// rowBudget is the time, set-up included, after which a row whose number of iterations is its
	// own is cut short.
	rowBudget = 15 * time.Second

	// minIterations are timed however long they take.
	minIterations = 3
)

// measure runs the iterations of row, the sides in turn, and returns their statistics.
func (r *runner) measure(ctx context.Context, row Row) (Result, error) {
	entries := r.workload.Entries
	iterations := r.cfg.Iterations
	if iterations == 0 {
		iterations = row.Iterations(entries)
	}
	warmups := warmups(row, iterations)
	random := r.workload.random(row.Name)
	start := time.Now()
	var times [2][]time.Duration
	r.report(row.Name, 0, warmups+iterations)
	for i := range warmups + iterations {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		if r.cfg.Iterations == 0 && i >= warmups+minIterations && time.Since(start) > rowBudget {
			break
		}
		elapsed, err := r.turn(row, random, i)
		if err != nil {
			return Result{}, fmt.Errorf("iteration %d: %w", i, err)
		}
		if i >= warmups {
			times[0] = append(times[0], elapsed[0])
			times[1] = append(times[1], elapsed[1])
		}
		r.report(row.Name, i+1, warmups+iterations)
	}
	if row.Writes && !row.Fresh {
		if err := r.verifyStores(); err != nil {
			return Result{}, err
		}
	}
	return newResult(entries, row, times), nil
}

// warmups returns the number of untimed iterations before the timed ones. A row with stores of
// its own has none: filling the stores was its warm-up.
func warmups(row Row, iterations int) int {
	if row.Fresh {
		return 0
	}
	return min(1+iterations/10, 10)
}

// turn runs iteration i on both sides, which alternate in starting, and returns their times. It
// fails unless both did what the row promises.
func (r *runner) turn(row Row, random *rand.Rand, i int) ([2]time.Duration, error) {
	var elapsed [2]time.Duration
	var tallies [2]Tally
	var contents [2]digest
	r.batch.reset(0, 0)
	if row.Prepare != nil {
		row.Prepare(r.workload, &r.batch, random, i)
	}
	for k := range r.sides {
		s := (i + k) % len(r.sides)
		var err error
		if row.Fresh {
			elapsed[s], tallies[s], contents[s], err = r.timeFresh(row, r.sides[s])
		} else {
			elapsed[s], tallies[s], err = r.time(row, r.stores[s])
		}
		if err != nil {
			return elapsed, fmt.Errorf("%s: %w", r.sides[s].name, err)
		}
		if want := row.Ops(r.workload.Entries); tallies[s].Entries != want {
			return elapsed, fmt.Errorf("%s touched %d entries instead of %d",
				r.sides[s].name, tallies[s].Entries, want)
		}
	}
	if tallies[0] != tallies[1] {
		return elapsed, errors.New("okra and lmdb read different entries")
	}
	if contents[0] != contents[1] {
		return elapsed, errors.New("okra and lmdb stored different entries")
	}
	return elapsed, nil
}

// time runs row once on a store.
func (r *runner) time(row Row, store store) (time.Duration, Tally, error) {
	start := time.Now()
	tally, err := store.run(row, &r.batch)
	return time.Since(start), tally, err
}

// timeFresh runs row once on a new store, which it checks and removes.
func (r *runner) timeFresh(row Row, side side) (time.Duration, Tally, digest, error) {
	path := filepath.Join(r.dir, "fresh-"+side.name)
	store, err := side.open(path, r.options)
	if err != nil {
		return 0, Tally{}, digest{}, err
	}
	// Each of these iterations is long and leaves much garbage, to be collected before the next.
	runtime.GC()
	elapsed, tally, err := r.time(row, store)
	var contents digest
	if err == nil && row.Writes {
		contents, err = r.verify(store)
	}
	err = errors.Join(err, store.close(), os.RemoveAll(path))
	return elapsed, tally, contents, err
}

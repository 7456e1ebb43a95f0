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
	// own is cut short. The lines of a row divide it.
	rowBudget = 15 * time.Second

	// minIterations are timed however long they take.
	minIterations = 3
)

// outcome is what one side did in one iteration.
type outcome struct {
	elapsed  time.Duration
	tally    Tally
	contents digest // of a fresh store that was written
	commits  int    // of the writer beside, if there is one
}

// measure runs the iterations of row, a line, the sides in turn, and returns their statistics.
func (r *runner) measure(ctx context.Context, row Row, budget time.Duration) (Result, error) {
	entries := r.workload.Entries
	iterations := r.cfg.Iterations
	if iterations == 0 {
		iterations = row.Iterations(entries)
	}
	warmups := warmups(row, iterations)
	random := r.workload.random(row.Name)
	start := time.Now()
	all := make([]series, len(r.sides))
	r.report(row.Name, 0, warmups+iterations)
	for i := range warmups + iterations {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		if r.cfg.Iterations == 0 && i >= warmups+minIterations && time.Since(start) > budget {
			break
		}
		outcomes, err := r.turn(row, random, i)
		if err != nil {
			return Result{}, fmt.Errorf("iteration %d: %w", i, err)
		}
		if i >= warmups {
			for s, o := range outcomes {
				all[s].times = append(all[s].times, o.elapsed)
				all[s].commits += o.commits
			}
		}
		r.report(row.Name, i+1, warmups+iterations)
	}
	if err := r.finish(row); err != nil {
		return Result{}, err
	}
	return newResult(entries, row, all), nil
}

// finish checks the stores after the last iteration of row.
func (r *runner) finish(row Row) error {
	switch {
	case row.Fresh: // each store was checked
	case row.Writer:
		if err := r.verifyStores(&r.pool[0]); err != nil {
			return err
		}
	case row.Writes:
		if err := r.verifyStores(&r.batch); err != nil {
			return err
		}
	}
	for i, store := range r.stores {
		if err := store.check(row); err != nil {
			return fmt.Errorf("check %s store: %w", r.sides[i].name, err)
		}
	}
	return nil
}

// warmups returns the number of untimed iterations before the timed ones. A row with stores of
// its own has none: filling the stores was its warm-up.
func warmups(row Row, iterations int) int {
	if row.Fresh {
		return 0
	}
	return min(1+iterations/10, 10)
}

// turn runs iteration i on all sides, which take turns in starting. It fails unless each did
// what the row promises.
func (r *runner) turn(row Row, random *rand.Rand, i int) ([]outcome, error) {
	outcomes := make([]outcome, len(r.sides))
	r.batch.reset(0, 0)
	if row.Prepare != nil {
		row.Prepare(r.workload, &r.batch, random, i)
	}
	if row.Writer {
		r.fillPool(random, i)
	}
	for k := range r.sides {
		s := (i + k) % len(r.sides)
		var err error
		switch {
		case row.Fresh:
			outcomes[s], err = r.timeFresh(row, r.sides[s])
		case row.Writer:
			outcomes[s], err = r.timeBeside(row, r.stores[s])
		default:
			outcomes[s], err = r.time(row, r.stores[s])
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.sides[s].name, err)
		}
		if got, want := outcomes[s].tally.Entries, row.Ops(r.workload.Entries); got != want {
			return nil, fmt.Errorf("%s touched %d entries instead of %d", r.sides[s].name, got, want)
		}
	}
	for s, o := range outcomes[1:] {
		if o.tally != outcomes[0].tally {
			return nil, fmt.Errorf("okra and %s read different entries", r.sides[s+1].name)
		}
		if o.contents != outcomes[0].contents {
			return nil, fmt.Errorf("okra and %s stored different entries", r.sides[s+1].name)
		}
	}
	return outcomes, nil
}

// time runs row once on a store.
func (r *runner) time(row Row, store store) (outcome, error) {
	start := time.Now()
	tally, err := store.run(row, &r.batch)
	return outcome{elapsed: time.Since(start), tally: tally}, err
}

// timeFresh runs row once on a new store, which it checks and removes.
func (r *runner) timeFresh(row Row, side side) (outcome, error) {
	path := filepath.Join(r.dir, "fresh-"+side.name)
	store, err := side.open(path, r.options)
	if err != nil {
		return outcome{}, err
	}
	// Each of these iterations is long and leaves much garbage, to be collected before the next.
	runtime.GC()
	o, err := r.time(row, store)
	if err == nil && row.Writes {
		o.contents, err = r.verify(store, &r.batch)
	}
	return o, errors.Join(err, store.close(), os.RemoveAll(path))
}

package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"time"
)

// runner measures rows at one size, in stores filled for it.
type runner struct {
	cfg      Config
	dir      string
	sides    []side
	options  StoreOptions
	workload *Workload
	batch    Batch
	pool     [2]Batch // what the writer of a row with one writes, in turn
	stores   []store  // one for each side, or none until they are opened
}

// newRunner makes a runner in dir for row, or for those that share stores if row is zero.
func newRunner(cfg Config, dir string, row Row, entries int) *runner {
	r := &runner{
		cfg:      cfg,
		dir:      dir,
		sides:    sidesOf(row),
		workload: NewWorkload(entries, cfg.ValueSize, cfg.Seed),
		options:  StoreOptions{MapSize: MapSize(entries, cfg.ValueSize), NoSync: cfg.NoSync},
	}
	r.workload.NoBoundary = row.NoBoundary
	return r
}

// measureRow measures the lines of row in stores that it fills if nobody has.
func (r *runner) measureRow(ctx context.Context, row Row) ([]Result, error) {
	start := time.Now()
	if len(r.stores) == 0 {
		if err := r.fillStores(ctx); err != nil {
			return nil, err
		}
	}
	lines := row.lines()
	if len(row.Lines) == 0 {
		start = time.Now() // the stores are for other rows, too
	}
	var results []Result
	for i, line := range lines {
		// Garbage of the line before is not billed to this one.
		runtime.GC()
		budget := (rowBudget - time.Since(start)) / time.Duration(len(lines)-i)
		result, err := r.measure(ctx, line, budget)
		if err != nil && len(row.Lines) > 0 {
			err = fmt.Errorf("%s: %w", line.Name, err)
		}
		if err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	return results, nil
}

// fillStores opens a store on each side and puts the whole workload in. It is what the row
// "load" times, done once untimed, and so that row's warm-up.
func (r *runner) fillStores(ctx context.Context) error {
	r.report("fill the stores", 0, len(r.sides))
	r.workload.FillAll(&r.batch, r.workload.random("load"))
	for i, side := range r.sides {
		if err := ctx.Err(); err != nil {
			return err
		}
		store, err := side.open(filepath.Join(r.dir, side.name), r.options)
		if err != nil {
			return err
		}
		r.stores = append(r.stores, store)
		if _, err := store.put(&r.batch); err != nil {
			return fmt.Errorf("fill %s store: %w", side.name, err)
		}
		r.report("fill the stores", i+1, len(r.sides))
	}
	return r.verifyStores(&r.batch)
}

func (r *runner) closeStores() error {
	var errs []error
	for i, store := range r.stores {
		if err := store.close(); err != nil {
			errs = append(errs, fmt.Errorf("close %s store: %w", r.sides[i].name, err))
		}
	}
	return errors.Join(errs...)
}

func (r *runner) report(row string, done, total int) {
	if r.cfg.Progress != nil {
		r.cfg.Progress(Progress{Entries: r.workload.Entries, Row: row, Done: done, Total: total})
	}
}

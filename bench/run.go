package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Run measures the rows of cfg at each of its sizes and returns the report. It works in a folder
// of its own, which is gone when it returns.
//
// When ctx is cancelled, Run stops after the iteration in progress and returns an error that
// wraps ctx.Err. No report is returned with an error.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(cfg.Dir, "okra-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the stores: %w", err)
	}
	report, err := runIn(ctx, cfg, dir)
	if removeErr := os.RemoveAll(dir); removeErr != nil {
		err = errors.Join(err, fmt.Errorf("remove the stores: %w", removeErr))
	}
	if err != nil {
		return nil, err
	}
	return report, nil
}

func runIn(ctx context.Context, cfg Config, dir string) (*Report, error) {
	report := &Report{Env: describe(dir, cfg)}
	for i, entries := range cfg.Entries {
		sizeDir := filepath.Join(dir, fmt.Sprintf("%d-%d", i, entries))
		results, err := runSize(ctx, cfg, sizeDir, entries)
		if err != nil {
			return nil, fmt.Errorf("at %s entries: %w", FormatEntries(entries), err)
		}
		report.Results = append(report.Results, results...)
		// The next size starts on a disk as free as this one did.
		if err := os.RemoveAll(sizeDir); err != nil {
			return nil, fmt.Errorf("remove the stores of %s entries: %w", FormatEntries(entries), err)
		}
	}
	if cfg.Baseline != nil {
		report.Comparison = compare(*cfg.Baseline, *report)
	}
	return report, nil
}

// runSize measures all rows at one size, in stores filled for it.
func runSize(ctx context.Context, cfg Config, dir string, entries int) ([]Result, error) {
	r := &runner{
		cfg:      cfg,
		dir:      dir,
		sides:    sides(),
		workload: newWorkload(entries, cfg.ValueSize, cfg.Seed),
		options:  openOptions{mapSize: mapSizeFor(entries, cfg.ValueSize), noSync: cfg.NoSync},
	}
	results, err := r.measureAll(ctx)
	return results, errors.Join(err, r.closeStores())
}

// runner measures rows at one size.
type runner struct {
	cfg      Config
	dir      string
	sides    [2]side
	options  openOptions
	workload *Workload
	batch    Batch
	stores   [2]store // nil until opened
}

func (r *runner) measureAll(ctx context.Context) ([]Result, error) {
	if err := r.fillStores(ctx); err != nil {
		return nil, err
	}
	var results []Result
	for _, row := range r.cfg.Rows {
		// Garbage of the row before is not billed to this one.
		runtime.GC()
		result, err := r.measure(ctx, row)
		if err != nil {
			return nil, fmt.Errorf("row %q: %w", row.Name, err)
		}
		results = append(results, result)
	}
	return results, nil
}

// fillStores opens a store on each side and puts the whole workload in. It is what the row
// "load" times, done once untimed, and so that row's warm-up.
func (r *runner) fillStores(ctx context.Context) error {
	row := loadRow("load")
	r.report("fill the stores", 0, len(r.sides))
	row.Prepare(r.workload, &r.batch, r.workload.random(row.Name), 0)
	for i, side := range r.sides {
		if err := ctx.Err(); err != nil {
			return err
		}
		store, err := side.open(filepath.Join(r.dir, side.name), r.options)
		if err != nil {
			return err
		}
		r.stores[i] = store
		if _, err := store.run(row, &r.batch); err != nil {
			return fmt.Errorf("fill %s store: %w", side.name, err)
		}
		r.report("fill the stores", i+1, len(r.sides))
	}
	return r.verifyStores()
}

func (r *runner) closeStores() error {
	var errs []error
	for i, store := range r.stores {
		if store == nil {
			continue
		}
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

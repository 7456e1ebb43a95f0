package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	for i, entries := range cfg.sizes() {
		sizeDir := filepath.Join(dir, fmt.Sprintf("%d-%d", i, entries))
		if err := report.runSize(ctx, cfg, sizeDir, entries); err != nil {
			return nil, fmt.Errorf("at %s entries: %w", FormatEntries(entries), err)
		}
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

// runSize measures all rows at one size: those of one line in stores that they share, each of
// several in stores of its own.
func (report *Report) runSize(ctx context.Context, cfg Config, dir string, entries int) error {
	shared := newRunner(cfg, filepath.Join(dir, "shared"), Row{}, entries)
	for i, row := range cfg.rowsAt(entries) {
		r := shared
		if len(row.Lines) > 0 {
			r = newRunner(cfg, filepath.Join(dir, fmt.Sprintf("row-%d", i)), row, entries)
		}
		lines, err := r.measureRow(ctx, row)
		if r != shared {
			err = errors.Join(err, r.closeStores(), os.RemoveAll(r.dir))
		}
		if err != nil {
			return errors.Join(fmt.Errorf("row %q: %w", row.Name, err), shared.closeStores())
		}
		report.Results = append(report.Results, lines...)
		if row.Notes != nil {
			for _, note := range row.Notes(lines) {
				report.Notes = append(report.Notes, FormatEntries(entries)+" entries, "+note)
			}
		}
	}
	return shared.closeStores()
}

package replication

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/okradb/okra-go/bench"
	"github.com/okradb/okra-go/okra"
	okrasync "github.com/okradb/okra-go/sync"
)

// Config says what to measure. Each zero field means its default.
type Config struct {
	Entries     int    // in each replica: 1,000,000
	Differences []int  // 1, 10, 100, 1,000, 10,000 and 100,000, those below Entries
	Kinds       []Kind // all
	Repetitions int    // of each cell: 5, and 15 of those with few differences
	Link        Link   // 50 ms and 20 Mbit/s
	Seed        uint64
	Dir         string // for the stores

	// Progress is called before each cell and after each repetition.
	Progress func(cell string, done, total int)
}

// The defaults of Config.
const (
	DefaultEntries   = 1_000_000
	DefaultRoundTrip = 50 * time.Millisecond
	DefaultBandwidth = 20e6
)

// fewDifferences are those whose cost depends on which nodes they hit.
const fewDifferences = 100

func (c Config) withDefaults() Config {
	if c.Entries == 0 {
		c.Entries = DefaultEntries
	}
	if c.Differences == nil {
		for d := 1; d <= 100_000 && d < c.Entries; d *= 10 {
			c.Differences = append(c.Differences, d)
		}
	}
	if c.Kinds == nil {
		c.Kinds = Kinds()
	}
	if c.Link == (Link{}) {
		c.Link = Link{RoundTrip: DefaultRoundTrip, Bandwidth: DefaultBandwidth}
	}
	if c.Seed == 0 {
		c.Seed = 1
	}
	return c
}

func (c Config) repetitions(d int) int {
	switch {
	case c.Repetitions > 0:
		return c.Repetitions
	case d <= fewDifferences:
		return 15
	}
	return 5
}

// Run measures the cells of cfg in a folder of its own, which is gone when it returns. When ctx
// ends it returns the cells that are done together with an error that wraps ctx.Err.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	cfg = cfg.withDefaults()
	for _, d := range cfg.Differences {
		if d < 1 || d >= cfg.Entries {
			return nil, fmt.Errorf("%d differences: not between 1 and the number of entries, %d", d, cfg.Entries)
		}
	}
	dir, err := os.MkdirTemp(cfg.Dir, "okra-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the stores: %w", err)
	}
	report := &Report{Machine: bench.DescribeMachine(dir), Entries: cfg.Entries,
		RoundTrip: cfg.Link.RoundTrip, Bandwidth: cfg.Link.Bandwidth}
	err = (&runner{cfg: cfg, dir: dir, report: report}).run(ctx)
	return report, errors.Join(err, os.RemoveAll(dir))
}

type runner struct {
	cfg          Config
	dir          string
	report       *Report
	ours, theirs *okra.DB
}

func (r *runner) run(ctx context.Context) (err error) {
	for _, side := range []struct {
		name string
		db   **okra.DB
	}{{"ours", &r.ours}, {"theirs", &r.theirs}} {
		if *side.db, err = r.open(side.name); err != nil {
			return err
		}
		db := *side.db
		defer func() { err = errors.Join(err, db.Close()) }()
		if err := r.fill(db); err != nil {
			return err
		}
	}
	for _, kind := range r.cfg.Kinds {
		differences := r.cfg.Differences
		switch kind {
		case Equal:
			differences = []int{0}
		case Empty:
			differences = []int{r.cfg.Entries}
		}
		for _, d := range differences {
			cell, err := r.measure(ctx, kind, d)
			if err != nil {
				return fmt.Errorf("%s, %d differences: %w", kind, d, err)
			}
			r.report.Cells = append(r.report.Cells, cell)
		}
	}
	return nil
}

// open opens an empty store whose commits are not flushed: what is measured is the sync.
func (r *runner) open(name string) (*okra.DB, error) {
	return okra.Open(filepath.Join(r.dir, name), &okra.Options{NoSync: true})
}

func (r *runner) fill(db *okra.DB) error {
	return db.Update(func(tx *okra.Tx) error {
		_, err := tx.Load(r.entries())
		return err
	})
}

func (r *runner) entries() iter.Seq2[okra.Entry, error] {
	return func(yield func(okra.Entry, error) bool) {
		for i := range r.cfg.Entries {
			if !yield(okra.Entry{Key: key(r.cfg.Seed, i), Value: value(r.cfg.Seed, i)}, nil) {
				return
			}
		}
	}
}

// measure measures a cell.
func (r *runner) measure(ctx context.Context, kind Kind, d int) (Cell, error) {
	n := r.cfg.repetitions(d)
	if kind == Empty {
		n = min(n, 3)
	}
	c := Cell{Kind: kind, Differences: d, Known: known(kind, d, r.cfg.Entries)}
	name := fmt.Sprintf("%s, %s differences", kind, bench.FormatEntries(d))
	for i := range n {
		r.progress(name, i, n)
		if err := ctx.Err(); err != nil {
			return Cell{}, err
		}
		random := rand.New(rand.NewPCG(r.cfg.Seed, uint64(d)<<8|uint64(i)))
		var s sample
		var err error
		if kind == Empty {
			s, err = r.fillEmpty(ctx, i)
		} else {
			s, err = r.again(ctx, kind, d, random)
		}
		if err != nil {
			return Cell{}, err
		}
		c.samples = append(c.samples, s)
	}
	r.progress(name, n, n)
	c.summarize()
	return c, nil
}

func (r *runner) progress(cell string, done, total int) {
	if r.cfg.Progress != nil {
		r.cfg.Progress(cell, done, total)
	}
}

// again makes the replicas differ and then equal again.
func (r *runner) again(ctx context.Context, kind Kind, d int, random *rand.Rand) (sample, error) {
	if err := kind.differ(r.ours, r.theirs, r.cfg.Seed, r.cfg.Entries, d, random); err != nil {
		return sample{}, err
	}
	op := okrasync.Pull
	if kind == Both || kind == AppendBoth {
		op = okrasync.Sync
	}
	s, err := session(ctx, r.cfg.Link, r.ours, r.theirs, op)
	if err != nil {
		return sample{}, err
	}
	changed := s.summary.Here.Total() + s.summary.There.Total()
	if !s.summary.Equal || !s.summary.Complete || changed != int64(d) {
		return sample{}, fmt.Errorf("replicas are not equal after %d changes: %+v", changed, s.summary)
	}
	return s, nil
}

// fillEmpty fills an empty replica, over a link without bounds, and takes the time of loading
// the same entries for comparison.
func (r *runner) fillEmpty(ctx context.Context, i int) (s sample, err error) {
	load, err := r.open(fmt.Sprintf("load-%d", i))
	if err != nil {
		return s, err
	}
	start := time.Now()
	err = load.View(func(*okra.Tx) error { return nil })
	if err == nil {
		err = r.theirs.View(func(from *okra.Tx) error {
			return load.Update(func(tx *okra.Tx) error {
				_, err := tx.Load(from.All())
				return err
			})
		})
	}
	loaded := time.Since(start)
	if err := errors.Join(err, load.Close(), os.RemoveAll(load.Path())); err != nil {
		return s, err
	}
	empty, err := r.open(fmt.Sprintf("empty-%d", i))
	if err != nil {
		return s, err
	}
	s, err = session(ctx, Link{}, empty, r.theirs, okrasync.Pull)
	if err == nil && (!s.summary.Equal || s.summary.Here.Added != int64(r.cfg.Entries)) {
		err = fmt.Errorf("replica is not filled: %+v", s.summary)
	}
	s.load = loaded
	return s, errors.Join(err, empty.Close(), os.RemoveAll(empty.Path()))
}

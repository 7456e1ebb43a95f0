package bench

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/okradb/okra-go/okra"
)

// smallRows are rows of all kinds at sizes that take no time.
func smallRows() []Row {
	return []Row{
		loadRow("load"), getRow("get random 10 entries", 10, 3), iterateRow("iterate over all entries"),
		setRow("set random 1 entry", 1, 3), setRow("set random 500 entries", 500, 3),
	}
}

// smallConfig returns a run of two iterations of rows on 100 entries, in a folder that must be
// empty again when the test ends.
func smallConfig(t *testing.T, rows ...Row) Config {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() {
		left, err := os.ReadDir(dir)
		if err != nil {
			t.Error(err)
		}
		for _, file := range left {
			t.Errorf("the run left %s behind", file.Name())
		}
	})
	return Config{Entries: []int{100}, Rows: rows, Iterations: 2, Dir: dir, NoSync: true, Seed: 7}
}

func TestL28RunDoesTheSameForBoth(t *testing.T) {
	cfg := smallConfig(t, smallRows()...)
	cfg.Entries = []int{100, 1}
	var labels []string
	cfg.Progress = func(p Progress) {
		if p.Done < 0 || p.Done > p.Total {
			t.Errorf("progress %+v", p)
		}
		if p.Done == 0 {
			labels = append(labels, p.Row)
		}
	}
	report, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Results) != 2*len(cfg.Rows) {
		t.Fatalf("%d results, want %d", len(report.Results), 2*len(cfg.Rows))
	}
	wantOps := []int{100, 10, 100, 1, 500, 1, 10, 1, 1, 500}
	for i, r := range report.Results {
		row := cfg.Rows[i%len(cfg.Rows)]
		if r.Row != row.Name || r.Entries != cfg.Entries[i/len(cfg.Rows)] {
			t.Errorf("result %d is %q at %d entries", i, r.Row, r.Entries)
		}
		if r.Iterations != 2 || r.Ops != wantOps[i] {
			t.Errorf("%s: %d iterations of %d ops, want 2 of %d", r.Row, r.Iterations, r.Ops, wantOps[i])
		}
		for _, s := range []Summary{r.Okra, r.LMDB} {
			if s.Min <= 0 || s.Min > s.Median || s.Median > s.Max || s.Mean < s.Min || s.Ops <= 0 {
				t.Errorf("%s: statistics %+v", r.Row, s)
			}
		}
		if r.Ratio <= 0 || r.RatioLow > r.RatioHigh {
			t.Errorf("%s: ratio %v, range %v..%v", r.Row, r.Ratio, r.RatioLow, r.RatioHigh)
		}
	}
	if env := report.Env; env.Sync || env.Seed != 7 || env.ValueSize != 8 || env.Go == "" {
		t.Errorf("environment %+v", env)
	}
	if !slices.Contains(labels, "load") {
		t.Errorf("progress named %q only", labels)
	}
}

func TestRunOfOtherValueSizes(t *testing.T) {
	for _, size := range []int{1, 100, 5000} {
		cfg := smallConfig(t, smallRows()...)
		cfg.ValueSize = size
		if _, err := Run(t.Context(), cfg); err != nil {
			t.Errorf("values of %d bytes: %v", size, err)
		}
	}
}

func TestRunCompares(t *testing.T) {
	cfg := smallConfig(t, getRow("get random 10 entries", 10, 3))
	cfg.Baseline = &Report{
		Env: Environment{ValueSize: 8},
		Results: []Result{
			{Entries: 100, Row: "get random 10 entries", Ratio: 1, RatioLow: 0, RatioHigh: 1e9},
		},
	}
	report, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Comparison) != 1 || report.Comparison[0].Verdict != VerdictSame {
		t.Errorf("comparison %+v", report.Comparison)
	}
}

// Each row below has a side that does not do its work. None may give figures.
func TestRunFailsWhenWorkIsNotDone(t *testing.T) {
	nothingOkra := func(*okra.DB, *Batch) (Tally, error) { return Tally{}, nil }
	nothingPlain := func(*Plain, *Batch) (Tally, error) { return Tally{}, nil }
	pretendOkra := func(_ *okra.DB, b *Batch) (Tally, error) { return Tally{Entries: b.Len()}, nil }
	pretendPlain := func(_ *Plain, b *Batch) (Tally, error) { return Tally{Entries: b.Len()}, nil }
	base := map[string]Row{
		"load":    loadRow("load"),
		"get":     getRow("get", 10, 3),
		"iterate": iterateRow("iterate"),
		"set":     setRow("set", 50, 3),
	}
	for _, tc := range []struct {
		row    string
		change func(r *Row)
		want   string
	}{
		{"get", func(r *Row) { r.Okra = nothingOkra }, "okra touched 0 entries instead of 10"},
		{"get", func(r *Row) { r.LMDB = nothingPlain }, "lmdb touched 0 entries instead of 10"},
		{"get", func(r *Row) { r.Okra = pretendOkra }, "read different entries"},
		{"get", func(r *Row) {
			r.Prepare = func(_ *Workload, b *Batch, _ *rand.Rand, _ int) {
				b.reset(10, 0)
				copy(b.Key(9), "none")
			}
		}, "get key"},
		{"iterate", func(r *Row) { r.Okra = nothingOkra }, "okra touched 0 entries instead of 100"},
		{"iterate", func(r *Row) { r.LMDB = nothingPlain }, "lmdb touched 0 entries instead of 100"},
		{"set", func(r *Row) { r.Okra = nothingOkra }, "okra touched 0 entries instead of 50"},
		{"set", func(r *Row) { r.Okra = pretendOkra }, "check okra store: read back key"},
		{"set", func(r *Row) { r.LMDB = pretendPlain }, "check lmdb store: read back key"},
		{"load", func(r *Row) { r.Okra = pretendOkra }, "okra: read back key"},
		{"load", func(r *Row) { r.LMDB = pretendPlain }, "lmdb: read back key"},
	} {
		row := base[tc.row]
		tc.change(&row)
		report, err := Run(t.Context(), smallConfig(t, row))
		if err == nil || report != nil {
			t.Errorf("%s: report %v, error %v, want an error with %q", tc.row, report, err, tc.want)
			continue
		}
		if !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), `row "`+tc.row) {
			t.Errorf("%s: error %q, want one with %q", tc.row, err, tc.want)
		}
	}
}

// A write that reaches one store only is found even if it is outside the last batch.
func TestL28RunFailsWhenStoresDiffer(t *testing.T) {
	row := setRow("set", 1, 3)
	row.LMDB = func(p *Plain, b *Batch) (Tally, error) {
		var other Batch
		other.reset(1, b.valueSize)
		other.Key(0)[3] = b.Key(0)[3] ^ 1
		if _, err := PutPlain(p, &other); err != nil {
			return Tally{}, err
		}
		return PutPlain(p, b)
	}
	_, err := Run(t.Context(), smallConfig(t, row))
	if err == nil || !strings.Contains(err.Error(), "hold different entries") {
		t.Errorf("error %v", err)
	}
}

func TestRunStopsWhenCancelled(t *testing.T) {
	for _, stage := range []string{"before", "during", "in load"} {
		ctx, cancel := context.WithCancel(t.Context())
		row := getRow("get", 10, 3)
		if stage == "in load" {
			row = loadRow("load")
		}
		work := row.LMDB
		runs := 0
		row.LMDB = func(p *Plain, b *Batch) (Tally, error) {
			runs++
			cancel()
			return work(p, b)
		}
		if stage == "before" {
			cancel()
		}
		report, err := Run(ctx, smallConfig(t, row))
		cancel()
		if !errors.Is(err, context.Canceled) || report != nil {
			t.Errorf("%s: report %v, error %v", stage, report, err)
		}
		if runs > 1 {
			t.Errorf("%s: %d iterations after the cancel", stage, runs)
		}
	}
}

func TestRunReturnsErrorOfRow(t *testing.T) {
	broken := errors.New("broken")
	row := loadRow("load")
	row.Okra = func(*okra.DB, *Batch) (Tally, error) { return Tally{}, broken }
	if _, err := Run(t.Context(), smallConfig(t, row)); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

func TestConfigErrors(t *testing.T) {
	for name, cfg := range map[string]Config{
		"no entries":          {Entries: []int{0}},
		"too many entries":    {Entries: []int{1<<32 + 1}},
		"negative values":     {ValueSize: -1},
		"negative iterations": {Iterations: -1},
		"too much memory":     {Entries: []int{1_000_000}, ValueSize: 1 << 20},
		"no such folder":      {Dir: "no/such/folder"},
	} {
		if _, err := Run(t.Context(), cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestWarmups(t *testing.T) {
	for iterations, want := range map[int]int{1: 1, 10: 2, 50: 6, 5000: 10} {
		if got := warmups(Row{}, iterations); got != want {
			t.Errorf("%d warm-ups before %d iterations, want %d", got, iterations, want)
		}
	}
}

func TestMapSize(t *testing.T) {
	for _, tc := range []struct{ entries, valueSize int }{{1, 1}, {1_000_000, 8}, {1000, 100_000}} {
		size := MapSize(tc.entries, tc.valueSize)
		if data := int64(tc.entries+50_000) * int64(tc.valueSize+64); size < 3*data || size%4096 != 0 {
			t.Errorf("%d entries of %d bytes: %d", tc.entries, tc.valueSize, size)
		}
	}
}

package bench

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/okradb/okra-go/okra"
)

// optionalConfig is smallConfig for an optional row.
func optionalConfig(t *testing.T, row Row) Config {
	t.Helper()
	cfg := smallConfig(t, row)
	cfg.NoSync = !row.Durable
	return cfg
}

func TestOptionalRows(t *testing.T) {
	for _, tc := range []struct {
		row   Row
		lines []Result // what they must have of these fields
		notes int
	}{
		{wideRow(), []Result{
			{Row: "wide node: one pass", Ops: 100}, {Row: "wide node: put 1", Ops: 1},
			{Row: "wide node: put 1k", Ops: 1000},
		}, 2},
		{getsRow(), []Result{
			{Row: "gets by 1", Ops: 32_000, Goroutines: 1, Unit: "gets"},
			{Row: "gets by 2", Ops: 32_000, Goroutines: 2, Unit: "gets"},
			{Row: "gets by 4", Ops: 32_000, Goroutines: 4, Unit: "gets"},
			{Row: "gets by 16", Ops: 32_000, Goroutines: 16, Unit: "gets"},
			{Row: "gets by 1 and a writer", Ops: 32_000, Goroutines: 1, Unit: "gets"},
			{Row: "gets by 2 and a writer", Ops: 32_000, Goroutines: 2, Unit: "gets"},
			{Row: "gets by 4 and a writer", Ops: 32_000, Goroutines: 4, Unit: "gets"},
			{Row: "gets by 16 and a writer", Ops: 32_000, Goroutines: 16, Unit: "gets"},
		}, 7},
		{groupRow(), []Result{
			{Row: "group commit by 1", Ops: 64, Goroutines: 1, Unit: "durable writes"},
			{Row: "group commit by 8", Ops: 100, Goroutines: 8, Unit: "durable writes"},
			{Row: "group commit by 64", Ops: 100, Goroutines: 64, Unit: "durable writes"},
		}, 3},
	} {
		report, err := Run(t.Context(), optionalConfig(t, tc.row))
		if err != nil {
			t.Errorf("%s: %v", tc.row.Name, err)
			continue
		}
		got := make([]Result, 0, len(report.Results))
		for i, r := range report.Results {
			if r.Iterations != 2 || r.Okra.Ops <= 0 || r.LMDB.Ops <= 0 || r.Ratio <= 0 {
				t.Errorf("%s: %+v", r.Row, r)
			}
			if (r.Update != nil) != (tc.row.Lines[i].Update != nil) ||
				r.Update != nil && (r.Update.Ops <= 0 || r.Update.Ratio <= 0) {
				t.Errorf("%s: the other way is %+v", r.Row, r.Update)
			}
			got = append(got, Result{Row: r.Row, Ops: r.Ops, Goroutines: r.Goroutines, Unit: r.Unit})
		}
		if !slices.Equal(got, tc.lines) {
			t.Errorf("%s: got %+v, want %+v", tc.row.Name, got, tc.lines)
		}
		if len(report.Notes) != tc.notes {
			t.Errorf("%s: notes %q", tc.row.Name, report.Notes)
		}
		for _, note := range report.Notes {
			if !strings.HasPrefix(note, "100 entries, ") {
				t.Errorf("%s: note %q", tc.row.Name, note)
			}
		}
	}
}

// With figures of usual widths the notes fit the screen: those of a run that something held up may
// have more digits.
func TestNotesFitTheScreen(t *testing.T) {
	for _, row := range []Row{wideRow(), getsRow(), groupRow()} {
		var lines []Result
		for _, line := range row.Lines {
			s := Summary{Median: 1, Commits: 266_700}
			lines = append(lines, Result{Row: line.Name, Okra: s, LMDB: s, Update: &Other{Summary: s}})
		}
		for _, note := range row.Notes(lines) {
			if note = FormatEntries(100) + " entries, " + note; len(note) > 96 {
				t.Errorf("%s: note %q", row.Name, note)
			}
		}
	}
}

// Each row below has a side that does not do its work, in one of the row's lines.
func TestOptionalRowsFailWhenWorkIsNotDone(t *testing.T) {
	nothingOkra := func(*okra.DB, *Batch) (Tally, error) { return Tally{}, nil }
	nothingPlain := func(*Plain, *Batch) (Tally, error) { return Tally{}, nil }
	pretendOkra := func(_ *okra.DB, b *Batch) (Tally, error) { return Tally{Entries: b.Len()}, nil }
	pretendPlain := func(_ *Plain, b *Batch) (Tally, error) { return Tally{Entries: b.Len()}, nil }
	for _, tc := range []struct {
		row    func() Row
		line   int
		change func(line *Row)
		want   string
	}{
		{wideRow, 0, func(l *Row) { l.Okra = nothingOkra }, "okra touched 0 entries instead of 100"},
		{wideRow, 0, func(l *Row) { l.LMDB = nothingPlain }, "lmdb touched 0 entries"},
		{wideRow, 1, func(l *Row) { l.Okra = pretendOkra }, "check okra store: read back key"},
		{wideRow, 2, func(l *Row) { l.LMDB = pretendPlain }, "check lmdb store: read back key"},
		{getsRow, 1, func(l *Row) { l.Okra = nothingOkra }, "okra touched 0 entries"},
		{getsRow, 3, func(l *Row) { l.LMDB = nothingPlain }, "lmdb touched 0 entries"},
		{getsRow, 3, func(l *Row) { l.Okra = pretendOkra }, "read different entries"},
		{getsRow, 4, func(l *Row) { l.LMDB = nothingPlain }, "lmdb touched 0 entries"},
		{getsRow, 7, func(l *Row) { l.Okra = pretendOkra }, "read different entries"},
		{groupRow, 0, func(l *Row) { l.Okra = nothingOkra }, "okra touched 0 entries instead of 64"},
		{groupRow, 1, func(l *Row) { l.Update = nothingOkra }, "update touched 0 entries"},
		{groupRow, 2, func(l *Row) { l.LMDB = nothingPlain }, "lmdb touched 0 entries"},
		{groupRow, 2, func(l *Row) { l.Okra = pretendOkra }, "check okra store: read back key"},
		{groupRow, 2, func(l *Row) { l.Update = pretendOkra }, "check update store: read back key"},
		{groupRow, 2, func(l *Row) { l.LMDB = pretendPlain }, "check lmdb store: read back key"},
	} {
		row := tc.row()
		line := row.Lines[tc.line]
		tc.change(&line)
		row.Lines = []Row{line}
		report, err := Run(t.Context(), optionalConfig(t, row))
		if err == nil || report != nil {
			t.Errorf("%s: report %v, error %v, want an error with %q", line.Name, report, err, tc.want)
			continue
		}
		if !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), line.Name+": ") ||
			!strings.Contains(err.Error(), `row "`+row.Name) {
			t.Errorf("%s: error %q, want one with %q", line.Name, err, tc.want)
		}
	}
}

// The case of chosen entries is no case when there are boundaries.
func TestWideRowFailsWhenTheNodeIsNotWide(t *testing.T) {
	for line := range wideRow().Lines {
		row := wideRow()
		row.NoBoundary = false
		row.Lines = row.Lines[line : line+1]
		_, err := Run(t.Context(), optionalConfig(t, row))
		if err == nil || !strings.Contains(err.Error(), "nodes hold the leaves instead of one") {
			t.Errorf("line %d: error %v", line, err)
		}
	}
}

func TestOptionalRowsStopWhenCancelled(t *testing.T) {
	for _, row := range []Row{wideRow(), getsRow(), groupRow()} {
		for i, line := range row.Lines {
			ctx, cancel := context.WithCancel(t.Context())
			work, runs := line.LMDB, 0
			row.Lines[i].LMDB = func(p *Plain, b *Batch) (Tally, error) {
				runs++
				cancel()
				return work(p, b)
			}
			one := row
			one.Lines, one.Notes = row.Lines[i:i+1], nil
			report, err := Run(ctx, optionalConfig(t, one))
			cancel()
			if !errors.Is(err, context.Canceled) || report != nil || runs != 1 {
				t.Errorf("%s: report %v, error %v, %d runs", line.Name, report, err, runs)
			}
		}
	}
}

func TestSizesOfRows(t *testing.T) {
	plain, wide, gets := loadRow("load"), wideRow(), getsRow()
	for _, tc := range []struct {
		cfg  Config
		want []int
		rows []int // at each size
	}{
		{Config{Rows: []Row{plain}}, []int{1000, 50_000, 1_000_000}, []int{1, 1, 1}},
		{Config{Rows: []Row{wide}}, []int{100_000}, []int{1}},
		{Config{Rows: []Row{wide, gets, plain}},
			[]int{1000, 50_000, 100_000, 1_000_000}, []int{1, 1, 1, 2}},
		{Config{Rows: []Row{wide, plain}, Entries: []int{7, 3}}, []int{7, 3}, []int{2, 2}},
	} {
		if got := tc.cfg.sizes(); !slices.Equal(got, tc.want) {
			t.Errorf("sizes %v, want %v", got, tc.want)
		}
		for i, entries := range tc.want {
			if got := len(tc.cfg.rowsAt(entries)); got != tc.rows[i] {
				t.Errorf("%d rows at %d entries, want %d", got, entries, tc.rows[i])
			}
		}
	}
}

func TestOptionalRowsRefuse(t *testing.T) {
	for _, tc := range []struct {
		cfg  Config
		want string
	}{
		{Config{Rows: []Row{groupRow()}, NoSync: true}, "flush of commits"},
		{Config{Rows: []Row{groupRow()}, Entries: []int{63}}, "at least 64 entries"},
		{Config{Rows: []Row{getsRow()}, Entries: []int{1}}, "at least 2 entries"},
	} {
		if _, err := Run(t.Context(), tc.cfg); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v, want one with %q", err, tc.want)
		}
	}
}

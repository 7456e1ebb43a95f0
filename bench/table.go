package bench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// Table is what the text and Markdown formats have in common: a title and lines of cells, of
// which the first is the names of the columns. The first labels columns are words, the others
// figures. Notes stand below, a sentence each.
type Table struct {
	Title  string
	Labels int
	Lines  [][]string
	Notes  []string
}

// Tables returns the tables of report: one for each number of entries, then the comparison.
func Tables(report Report) []Table {
	var all []Table
	for _, r := range report.Results {
		title := FormatEntries(r.Entries) + " entries (times in ms; ratio: median okra / median lmdb)"
		if !slices.ContainsFunc(all, func(t Table) bool { return t.Title == title }) {
			all = append(all, Table{Title: title, Labels: 2, Lines: [][]string{{
				"row", "side", "iter", "min", "median", "max", "mean", "std", "ops/s", "ratio",
			}}})
		}
		i := slices.IndexFunc(all, func(t Table) bool { return t.Title == title })
		all[i].Lines = append(all[i].Lines, resultLines(r)...)
	}
	if len(report.Comparison) > 0 {
		all = append(all, comparisonTable(report.Comparison))
	}
	return all
}

// resultLines returns a line for each side. Two ways of okra are named by what they call.
func resultLines(r Result) [][]string {
	lmdb := sideLine("", "lmdb", r, r.LMDB, "")
	if r.Update == nil {
		return [][]string{sideLine(r.Row, "okra", r, r.Okra, FormatRatio(r.Ratio)), lmdb}
	}
	update := ratio(r.Update.Median, r.LMDB.Median)
	return [][]string{
		sideLine(r.Row, "Batch", r, r.Okra, FormatRatio(r.Ratio)),
		sideLine("", "Update", r, r.Update.Summary, FormatRatio(update)),
		lmdb,
	}
}

func sideLine(row, side string, r Result, s Summary, ratio string) []string {
	return []string{
		row, side, strconv.Itoa(r.Iterations),
		FormatFigure(s.Min), FormatFigure(s.Median), FormatFigure(s.Max), FormatFigure(s.Mean), FormatFigure(s.Std),
		formatOps(s.Ops), ratio,
	}
}

func comparisonTable(comparisons []Comparison) Table {
	t := Table{
		Title:  "Ratios okra/lmdb of the old and the new run, with the middle half of the iterations",
		Labels: 2,
		Lines:  [][]string{{"entries", "row", "old", "", "new", "", "change", "verdict"}},
	}
	for _, c := range comparisons {
		line := []string{FormatEntries(c.Entries), c.Row, "", "", "", "", "", c.Verdict}
		if c.Verdict != VerdictNew {
			line[2], line[3] = formatSpread(c.Old)
			line[6] = fmt.Sprintf("%+.0f %%", (c.Change-1)*100)
		}
		line[4], line[5] = formatSpread(c.New)
		t.Lines = append(t.Lines, line)
	}
	return t
}

func formatSpread(s Spread) (ratio, between string) {
	return FormatRatio(s.Mid), FormatRatio(s.Low) + " - " + FormatRatio(s.High)
}

// FormatRatio returns x with two decimals.
func FormatRatio(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

// formatOps returns x with a decimal and the prefix of its thousands: 266.7 k.
func formatOps(x float64) string {
	value, prefix := humanize.ComputeSI(x)
	return strings.TrimSpace(fmt.Sprintf("%.1f %s", value, prefix))
}

// FormatFigure returns x with three or four digits that count.
func FormatFigure(x float64) string {
	digits := 0
	switch {
	case x < 0.1:
		digits = 5
	case x < 1:
		digits = 4
	case x < 10:
		digits = 3
	case x < 100:
		digits = 2
	case x < 1000:
		digits = 1
	}
	return strconv.FormatFloat(x, 'f', digits, 64)
}

// Fields returns e as lines of a name and what stands behind it.
func (e Environment) Fields() [][2]string {
	sync := "durable commits"
	if !e.Sync {
		sync = "commits not synced"
	}
	run := fmt.Sprintf("%s, values of %d bytes, seed %d", sync, e.ValueSize, e.Seed)
	return append(e.Machine.Fields(), [2]string{"Run", run})
}

// Fields returns m as lines of a name and what stands behind it.
func (m Machine) Fields() [][2]string {
	fields := [][2]string{
		{"Processor", fmt.Sprintf("%s, %d cores, %s RAM", m.Processor, m.Cores, humanize.IBytes(m.RAM))},
		{"System", fmt.Sprintf("%s, kernel %s", m.OS, m.Kernel)},
		{"File system", m.FileSystem},
	}
	if m.ReadAhead > 0 {
		fields = append(fields, [2]string{"Read ahead", humanize.IBytes(uint64(m.ReadAhead)) +
			" from the disk where a page is not in memory"})
	}
	return append(fields, [2]string{"Versions", fmt.Sprintf("okra %s, LMDB %s, %s", m.Okra, m.LMDB, m.Go)})
}

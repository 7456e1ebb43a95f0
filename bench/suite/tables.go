package suite

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/okradb/okra-go/bench"
)

// Legend says how to read [Tables].
const Legend = "Ratios are of costs, of the first side to this one: below 1 the first is better. " +
	"A verdict is on the first side: \"faster\" or \"slower\" only if the ranges, min to max, of three " +
	"repetitions or more do not overlap and the medians differ by more than a fifth, else \"same\". " +
	"Memory is the peak of the process, pages of the file that it has mapped included."

// Tables returns a table for each group of results, in the order in which groups first appear,
// with a line for each side of each cell.
func Tables(results []Result) []bench.Table {
	var tables []bench.Table
	for _, group := range byGroup(results) {
		tables = append(tables, groupTable(group))
	}
	return tables
}

// byGroup divides results by suite and group, in the order in which they first appear.
func byGroup(results []Result) [][]Result {
	type group struct{ suite, name string }
	return divide(results, func(r Result) group { return group{r.Suite, r.Group} })
}

// groupTable puts the unit, and parameters that are the same in all cells, into the title.
func groupTable(group []Result) bench.Table {
	title := []string{}
	units := distinct(group, func(r Result) string { return r.Unit })
	if len(units) == 1 {
		title = append(title, units[0])
	}
	var params []string // that differ
	for _, name := range paramNames(group) {
		if values := distinct(group, func(r Result) string { return r.Param(name) }); len(values) == 1 {
			title = append(title, name+" "+values[0])
		} else {
			params = append(params, name)
		}
	}
	var latency bool
	var data int64
	for _, r := range group {
		for _, s := range r.Sides {
			latency = latency || s.P50 > 0 || s.P99 > 0
		}
		data = max(data, r.DataSize)
	}
	if data > 0 {
		title = append(title, "data up to "+FormatData(data, group[0].Machine.RAM))
	}
	head := append(append([]string{"cell"}, params...), "side")
	if len(units) > 1 {
		head = append(head, "unit")
	}
	t := bench.Table{Title: group[0].Group, Labels: len(head)}
	if len(title) > 0 {
		t.Title += " (" + strings.Join(title, "; ") + ")"
	}
	head = append(head, "median", "min", "max")
	if latency {
		head = append(head, "p50 µs", "p99 µs")
	}
	t.Lines = append(t.Lines, append(head, "ratio", "verdict", "memory", "file"))
	for _, r := range group {
		for i, s := range r.Sides {
			line := make([]string, len(params)+1)
			if i == 0 {
				line[0] = r.Name
				for k, name := range params {
					line[k+1] = r.Param(name)
				}
			}
			line = append(line, s.Name)
			if len(units) > 1 {
				line = append(line, r.Unit)
			}
			t.Lines = append(t.Lines, append(line, s.figures(latency)...))
			if note := s.Name + " is absent: " + s.Absent; s.Absent != "" && !slices.Contains(t.Notes, note) {
				t.Notes = append(t.Notes, note)
			}
		}
	}
	return t
}

// paramNames returns the names of the parameters of any of results, in their order.
func paramNames(results []Result) []string {
	var names []string
	for _, r := range results {
		for _, p := range r.Params {
			if !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
		}
	}
	return names
}

// distinct returns what of gives for results, each once.
func distinct(results []Result, of func(Result) string) []string {
	var all []string
	for _, r := range results {
		if x := of(r); !slices.Contains(all, x) {
			all = append(all, x)
		}
	}
	return all
}

// figures returns the cells of s after its labels. That a side is absent stands where its verdict
// would; the reason is a note of the table.
func (s SideResult) figures(latency bool) []string {
	if s.Absent != "" {
		blank := []string{"", "", ""}
		if latency {
			blank = append(blank, "", "")
		}
		return append(blank, "", "absent", "", "")
	}
	line := []string{bench.FormatFigure(s.Median), bench.FormatFigure(s.Min), bench.FormatFigure(s.Max)}
	if latency {
		line = append(line, FigureOrNone(s.P50), FigureOrNone(s.P99))
	}
	ratio := ""
	if s.Verdict != "" {
		ratio = bench.FormatRatio(s.Ratio)
	}
	return append(line, ratio, s.Verdict, SizeOrNone(s.PeakMemory), SizeOrNone(s.FileSize))
}

// FigureOrNone returns x in few digits, or nothing if it is 0.
func FigureOrNone(x float64) string {
	if x == 0 {
		return ""
	}
	return bench.FormatFigure(x)
}

// SizeOrNone returns a number of bytes with its unit, or nothing if there is none.
func SizeOrNone(bytes int64) string {
	if bytes <= 0 {
		return ""
	}
	return humanize.IBytes(uint64(bytes))
}

// FormatData returns so many bytes of data, beside the memory of the machine if ram is not 0.
func FormatData(data int64, ram uint64) string {
	s := humanize.IBytes(uint64(data))
	if ram == 0 {
		return s
	}
	share := 100 * float64(data) / float64(ram)
	if share < 0.1 {
		return s + ", under 0.1 % of RAM"
	}
	return s + fmt.Sprintf(", %.1f %% of RAM", share)
}

// WriteText writes results for a terminal: the machine of the first, all tables, those of Derive
// of s included, and the legend. Without results it writes nothing.
func WriteText(w io.Writer, s Suite, results []Result) error {
	return s.write(w, results, "%-13s%s\n", "\n%s\n", bench.Table.WriteText)
}

// WriteMarkdown is [WriteText] in Markdown.
func WriteMarkdown(w io.Writer, s Suite, results []Result) error {
	return s.write(w, results, "- %s: %s\n", "\n### %s\n\n", bench.Table.WriteMarkdown)
}

// write writes results with the formats of a field of the machine and of a title.
func (s Suite) write(w io.Writer, results []Result, field, title string, table func(bench.Table, *bytes.Buffer)) error {
	if len(results) == 0 {
		return nil
	}
	var out bytes.Buffer
	for _, f := range Fields(results) {
		fmt.Fprintf(&out, field, f[0], f[1])
	}
	for _, t := range s.Tables(results) {
		fmt.Fprintf(&out, title, t.Title)
		table(t, &out)
	}
	fmt.Fprintf(&out, "\n%s\n", wrap(Legend, 98))
	_, err := w.Write(out.Bytes())
	return err
}

// Tables returns the tables of results: those of [Tables], and those of Derived.
func (s Suite) Tables(results []Result) []bench.Table {
	return append(Tables(results), s.Derived(results)...)
}

// wrap breaks text into lines of at most width bytes, at its spaces.
func wrap(text string, width int) string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return strings.Join(append(lines, line), "\n")
}

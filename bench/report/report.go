package report

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"github.com/okradb/okra-go/bench"
	"github.com/okradb/okra-go/bench/suite"
)

// Report is what the files hold, set out to be read.
type Report struct {
	sections []*section
	pairs    []pair   // of all sections, in order
	notes    []string // on the files, and on runs that are not whole
	cells    int
	idle     int       // cells of which no side could be measured
	last     time.Time // when the last cell was finished; zero if no file says so
}

// section is what was measured by one suite, at one kind of sizes, on one machine, or one run of
// okra bench.
type section struct {
	title, usage string
	suite        string // "" if it is a run of okra bench
	quick        bool
	size         string // of what was measured, to tell sections apart
	id           string // of its place in the page
	facts        [][2]string
	notes        []string
	absent       []missing
	tables       []bench.Table
	charts       []chart
	pairs        []pair
}

// New returns the report on what inputs hold, which must be something. Tables that follow from
// results of one run are made by the one of suites that they came from, if it is among these. Of a
// cell that was measured several times on one machine, at the same size, the last result counts.
func New(inputs []Input, suites []suite.Suite) (*Report, error) {
	r := &Report{}
	for _, input := range inputs {
		if input.Cut {
			r.notes = append(r.notes, strings.TrimPrefix(input.Name+": its last line was cut, and is left out: "+
				"the run that wrote it may have ended early.", ": "))
		}
	}
	r.notes = append(r.notes, unfinished(inputs)...)
	for _, run := range groupRuns(inputs) {
		s, err := newSection(run, suites)
		if err != nil {
			return nil, err
		}
		s.id = fmt.Sprintf("part-%d", len(r.sections)+1)
		for i := range s.pairs {
			s.pairs[i].section = s
		}
		r.sections = append(r.sections, s)
		r.pairs = append(r.pairs, s.pairs...)
		r.cells += run.cells()
		for _, result := range run.results {
			if !present(result) {
				r.idle++
			}
			if result.Finished.After(r.last) {
				r.last = result.Finished
			}
		}
	}
	if r.cells == 0 || r.cells > maxCells {
		return nil, wrong("%d cells in all, not between 1 and %d", r.cells, maxCells)
	}
	r.nameApart()
	return r, nil
}

func newSection(r run, suites []suite.Suite) (*section, error) {
	if r.bench != nil {
		return benchSection(*r.bench), nil
	}
	return suiteSection(r.results, suites)
}

func benchSection(run bench.Report) *section {
	s := &section{
		title: "rows", usage: "okra and plain LMDB, operation by operation",
		facts: run.Env.Fields(), notes: run.Notes, tables: bench.Tables(run),
	}
	for i, t := range s.tables {
		s.tables[i] = forward(t, "") // its verdicts are on two runs
	}
	for _, result := range run.Results {
		s.pairs = append(s.pairs, rowPairs(result)...)
	}
	s.charts = append(ratioCharts(s.pairs), rowCharts(run.Results)...)
	return s
}

func suiteSection(results []suite.Result, suites []suite.Suite) (*section, error) {
	first := results[0]
	s := &section{title: titleOf(first), suite: first.Suite, quick: first.Quick, facts: suite.Fields(results)}
	known := suite.Suite{}
	for _, one := range suites {
		if one.Name == first.Suite {
			known = one
		}
	}
	s.usage = known.Usage
	var params []string
	var data, ops int64
	few := 0
	for _, result := range results {
		s.pairs = append(s.pairs, pairsOf(result)...)
		s.absent = append(s.absent, absentOf(result)...)
		data, ops = max(data, result.DataSize), max(ops, result.Ops)
		if repetitions(result) < 3 {
			few++
		}
		for _, p := range result.Params {
			if !slices.Contains(params, p.Name) {
				params = append(params, p.Name)
			}
		}
		if len(params) > maxParts {
			return nil, wrong("suite %q has more than %d parameters", first.Suite, maxParts)
		}
	}
	if data > 0 {
		s.facts = append(s.facts, [2]string{"Data", "up to " + suite.FormatData(data, first.Machine.RAM)})
	}
	s.size = fmt.Sprintf(", up to %s operations", humanize.Comma(ops))
	if data > 0 {
		s.size = fmt.Sprintf(", data up to %s%s", humanize.IBytes(uint64(data)), s.size)
	}
	if few > 0 {
		s.notes = append(s.notes, fmt.Sprintf("%s fewer than three repetitions: ranges of so few mean little.",
			count(few, "cell has", "cells have")))
	}
	s.tables = cellTables(results)
	for _, t := range known.Derived(results) {
		s.tables = append(s.tables, forward(t, sideOf(s.pairs)))
	}
	s.charts = slices.Concat(ratioCharts(s.pairs), sizeCharts(results), timelineCharts(results))
	s.shorten()
	return s, nil
}

// shorten takes from the pairs the parameters that are the same in all of a group: they stand in the
// title of its table.
func (s *section) shorten() {
	byGroup := make(map[string][]pair)
	for _, p := range s.pairs {
		byGroup[p.group] = append(byGroup[p.group], p)
	}
	for _, group := range byGroup {
		_, differ := sharedParams(group, func(p pair) []param { return p.params })
		for i, p := range s.pairs {
			if p.group == group[0].group {
				s.pairs[i].params = differ(p.params)
			}
		}
	}
}

// repetitions returns the fewest measurements of a side of r that is present.
func repetitions(r suite.Result) int {
	least := r.Repetitions
	for _, s := range r.Sides {
		if s.Absent == "" {
			least = min(least, len(s.Measurements))
		}
	}
	return least
}

// present is whether any side of r was measured.
func present(r suite.Result) bool {
	return slices.ContainsFunc(r.Sides, func(s suite.SideResult) bool { return s.Absent == "" })
}

// missing is a side of a cell that could not be measured.
type missing struct{ group, cell, side, reason string }

func absentOf(r suite.Result) []missing {
	var all []missing
	for _, s := range r.Sides {
		if s.Absent != "" {
			cell := pair{group: r.Group, name: r.Name, params: r.Params}.cell()
			all = append(all, missing{r.Group, cell, s.Name, s.Absent})
		}
	}
	return all
}

// nameApart adds to the titles of sections of one title what they were measured on or with, if that
// differs, and a number where it does not tell them apart.
func (r *Report) nameApart() {
	fileSystem := func(_ int, s *section) string {
		for _, f := range s.facts {
			if f[0] == "File system" {
				return " on " + f[1]
			}
		}
		return ""
	}
	size := func(_ int, s *section) string { return s.size }
	number := func(i int, _ *section) string { return fmt.Sprintf(", run %d", i+1) }
	for _, what := range []func(i int, s *section) string{fileSystem, size, number} {
		values := make(map[string][]string) // by title
		for i, s := range r.sections {
			if v := what(i, s); !slices.Contains(values[s.title], v) {
				values[s.title] = append(values[s.title], v)
			}
		}
		for i, s := range r.sections {
			if len(values[s.title]) > 1 {
				s.title += what(i, s)
			}
		}
	}
}

// judged returns the pairs that the report is about: those with plain LMDB.
func (r *Report) judged() []pair {
	return slices.DeleteFunc(slices.Clone(r.pairs), func(p pair) bool { return !p.plain() })
}

// summary says in a sentence or two what was found.
func (r *Report) summary() string {
	pairs := r.judged()
	slower, faster := len(with(pairs, bench.VerdictSlower)), len(with(pairs, bench.VerdictFaster))
	s := count(r.cells, "cell", "cells")
	if r.idle > 0 {
		s += fmt.Sprintf(" (%d could not be measured here)", r.idle)
	}
	s += ", " + count(len(pairs), "comparison", "comparisons") +
		" with plain LMDB and its tools: " +
		fmt.Sprintf("%s slower in %d, faster in %d, the same in %d.", r.side(), slower, faster,
			len(pairs)-slower-faster)
	if more := len(r.pairs) - len(pairs); more > 0 {
		s += fmt.Sprintf(" %s with other things, for context, %s apart.",
			count(more, "comparison", "comparisons"), map[bool]string{true: "stands", false: "stand"}[more == 1])
	}
	if !r.last.IsZero() {
		s += " Measured until " + r.last.UTC().Format("2006-01-02 15:04 MST") + "."
	}
	return s
}

// side is the name of what is judged.
func (r *Report) side() string { return sideOf(r.pairs) }

// legend says how to read the report.
func (r *Report) legend() []string {
	side := r.side()
	lines := []string{
		fmt.Sprintf("Ratios are of costs, of %s to what it is beside: below 1 %[1]s is cheaper. \"%[1]s slower\" "+
			"and \"%[1]s faster\" stand only where the ranges, min to max, do not overlap and the medians differ "+
			"by more than a fifth; else it is \"same\".", side),
		fmt.Sprintf("Figures are medians. Where two stand in one column, the first is that of %s. Memory is the "+
			"peak of the process, pages of the file that it has mapped included.", side),
	}
	if slices.ContainsFunc(r.sections, func(s *section) bool { return s.suite == "" }) {
		lines = append(lines, "Rows of okra bench run many short iterations, in pairs. Their ranges are "+
			"the middle half of the ratios of these pairs, which must lie above or below 1.")
	}
	return append(lines, "A cell that failed has left no result and is not here.")
}

// verdictTable returns the pairs of a verdict on plain LMDB as a table, those farthest from 1 first.
func (r *Report) verdictTable(verdict string) bench.Table {
	t := bench.Table{
		Title: capital(r.side()) + " is " + verdict, Labels: 1,
		Lines: [][]string{{"cell", "ratio", r.side(), "plain LMDB", "unit", "beside"}},
	}
	for _, p := range with(r.judged(), verdict) {
		t.Lines = append(t.Lines, []string{r.cellOf(p), formatRatio(p.ratio),
			bench.FormatFigure(p.sideMedian), bench.FormatFigure(p.rivalMedian), p.unit, p.rival})
	}
	return t
}

// contextTable returns the pairs with anything but plain LMDB that differ.
func (r *Report) contextTable() bench.Table {
	t := bench.Table{
		Title: "For context: beside other ways of " + r.side() + ", or a raw copy", Labels: 1,
		Lines: [][]string{{"cell", "ratio", "verdict", "sides", "medians", "unit"}},
	}
	pairs := slices.DeleteFunc(slices.Clone(r.pairs), pair.plain)
	for _, p := range append(with(pairs, bench.VerdictSlower), with(pairs, bench.VerdictFaster)...) {
		t.Lines = append(t.Lines, []string{r.cellOf(p), formatRatio(p.ratio), p.side + " " + p.verdict,
			p.side + " / " + p.rival, bench.FormatFigure(p.sideMedian) + " / " + bench.FormatFigure(p.rivalMedian), p.unit})
	}
	return t
}

// cellOf names the cell of p in r.
func (r *Report) cellOf(p pair) string {
	if len(r.sections) > 1 {
		return p.section.title + " · " + p.cell()
	}
	return p.cell()
}

// absentTable returns what could not be measured, or false. Many cells of a group with one reason are
// one line.
func (s *section) absentTable() (bench.Table, bool) {
	const named = 3 // cells in a line, at most
	t := bench.Table{Title: "Not measured", Labels: 3, Lines: [][]string{{"cell", "side", "because"}}}
	kind := func(m missing) missing { return missing{group: m.group, reason: m.reason} }
	for _, k := range distinct(s.absent, kind) {
		of := slices.DeleteFunc(slices.Clone(s.absent), func(m missing) bool { return kind(m) != k })
		cells := distinct(of, func(m missing) string { return m.cell })
		sides := distinct(of, func(m missing) string { return m.side })
		if len(cells) > named && len(of) == len(cells)*len(sides) {
			name := fmt.Sprintf("%s: %d cells", k.group, len(cells))
			t.Lines = append(t.Lines, []string{name, strings.Join(sides, ", "), k.reason})
			continue
		}
		for _, m := range of {
			t.Lines = append(t.Lines, []string{m.cell, m.side, m.reason})
		}
	}
	return t, len(s.absent) > 0
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func capital(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[n:]
}

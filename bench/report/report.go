package report

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/okradb/okra-go/bench"
	"github.com/okradb/okra-go/bench/suite"
)

// Report is what the files hold, set out to be read.
type Report struct {
	sections []*section
	pairs    []pair   // of all sections, in order
	notes    []string // on the files
	cells    int
	last     time.Time // when the last cell was finished; zero if no file says so
}

// section is what was measured by one suite, at one kind of sizes, on one machine, or one run of
// okra bench.
type section struct {
	title, usage string
	id           string // of its place in the page
	facts        [][2]string
	notes        []string
	absent       [][3]string // cell, side, reason
	tables       []bench.Table
	charts       []chart
	pairs        []pair
}

// New returns the report on what inputs hold, which must be something. Tables that follow from
// results are made by the one of suites that they came from, if it is among these. Of a cell that
// was measured several times on one machine the last result counts.
func New(inputs []Input, suites []suite.Suite) (*Report, error) {
	r := &Report{}
	for _, input := range inputs {
		if input.Cut {
			r.notes = append(r.notes, strings.TrimPrefix(input.Name+": its last line was cut, and is left out: "+
				"the run that wrote it may have ended early.", ": "))
		}
	}
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

// run is what makes a section.
type run struct {
	results []suite.Result
	bench   *bench.Report // nil if there are results
}

func (r run) cells() int {
	if r.bench != nil {
		return len(r.bench.Results)
	}
	return len(r.results)
}

// groupRuns divides what inputs hold into sections, in the order in which they first appear.
func groupRuns(inputs []Input) []run {
	var runs []run
	for _, input := range inputs {
		if input.Bench != nil {
			runs = append(runs, run{bench: input.Bench})
		}
		for _, result := range input.Results {
			i := slices.IndexFunc(runs, func(r run) bool {
				if r.bench != nil {
					return false
				}
				first := r.results[0]
				return first.Suite == result.Suite && first.Quick == result.Quick && first.Machine == result.Machine
			})
			if i < 0 {
				i = len(runs)
				runs = append(runs, run{})
			}
			runs[i].results = append(runs[i].results, result)
		}
	}
	for i, r := range runs {
		runs[i].results = suite.Latest(r.results)
	}
	return runs
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
	for _, result := range run.Results {
		s.pairs = append(s.pairs, rowPairs(result)...)
	}
	s.charts = append(ratioCharts(s.pairs), rowCharts(run.Results)...)
	return s
}

func suiteSection(results []suite.Result, suites []suite.Suite) (*section, error) {
	first := results[0]
	s := &section{title: first.Suite, facts: results[len(results)-1].Fields()}
	if first.Quick {
		s.title += " (quick)"
	}
	known := suite.Suite{}
	for _, one := range suites {
		if one.Name == first.Suite {
			known = one
		}
	}
	s.usage = known.Usage
	var params []string
	var data int64
	few := 0
	for _, result := range results {
		s.pairs = append(s.pairs, pairsOf(result)...)
		s.absent = append(s.absent, absentOf(result)...)
		data = max(data, result.DataSize)
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
	if few > 0 {
		s.notes = append(s.notes, fmt.Sprintf("%s fewer than three repetitions: ranges, and so verdicts, "+
			"of so few mean little.", count(few, "cell has", "cells have")))
	}
	s.tables = known.Tables(results)
	s.charts = slices.Concat(ratioCharts(s.pairs), sizeCharts(results), timelineCharts(results))
	return s, nil
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

func absentOf(r suite.Result) [][3]string {
	var all [][3]string
	for _, s := range r.Sides {
		if s.Absent != "" {
			cell := pair{group: r.Group, name: r.Name, params: paramsText(r.Params)}.cell()
			all = append(all, [3]string{cell, s.Name, s.Absent})
		}
	}
	return all
}

// nameApart adds to the titles of sections of one title what they were measured on, and a number
// where that does not tell them apart either.
func (r *Report) nameApart() {
	fact := func(s *section) string {
		for _, f := range s.facts {
			if f[0] == "File system" {
				return " on " + f[1]
			}
		}
		return ""
	}
	for _, add := range []func(i int, s *section) string{
		func(_ int, s *section) string { return fact(s) },
		func(i int, _ *section) string { return fmt.Sprintf(", run %d", i+1) },
	} {
		times := make(map[string]int)
		for _, s := range r.sections {
			times[s.title]++
		}
		for i, s := range r.sections {
			if times[s.title] > 1 {
				s.title += add(i, s)
			}
		}
	}
}

// summary says in a sentence or two what was found.
func (r *Report) summary() string {
	slower, faster := len(with(r.pairs, bench.VerdictSlower)), len(with(r.pairs, bench.VerdictFaster))
	s := count(r.cells, "cell", "cells") + ", " + count(len(r.pairs), "comparison", "comparisons") + ": " +
		fmt.Sprintf("%s slower in %d, faster in %d, the same in %d.", r.side(), slower, faster,
			len(r.pairs)-slower-faster)
	if !r.last.IsZero() {
		s += " Measured until " + r.last.UTC().Format("2006-01-02 15:04 MST") + "."
	}
	return s
}

// side is the name of what is judged, if that is the same everywhere.
func (r *Report) side() string {
	name := ""
	for _, p := range r.pairs {
		if name != "" && p.side != name {
			return "the first side"
		}
		name = p.side
	}
	if name == "" {
		return "the first side"
	}
	return name
}

// legend says how to read the report.
func (r *Report) legend() []string {
	lines := []string{suite.Legend}
	if slices.ContainsFunc(r.sections, func(s *section) bool { return strings.HasPrefix(s.title, "rows") }) {
		lines = append(lines, "Rows of okra bench run many short iterations, in pairs. Their ranges are "+
			"the middle half of the ratios of these pairs, which must lie above or below 1.")
	}
	return append(lines, "A cell that failed has left no result and is not here.")
}

// verdictTable returns the pairs of a verdict as a table, with one line at least, or false.
func (r *Report) verdictTable(verdict string) (bench.Table, bool) {
	found := with(r.pairs, verdict)
	t := bench.Table{
		Title: capital(r.side()) + " is " + verdict, Labels: 2,
		Lines: [][]string{{"cell", "sides", "ratio", "median", "of the other", "unit"}},
	}
	for _, p := range found {
		cell := p.cell()
		if len(r.sections) > 1 {
			cell = p.section.title + " · " + cell
		}
		t.Lines = append(t.Lines, []string{cell, p.side + " / " + p.rival, bench.FormatRatio(p.ratio),
			bench.FormatFigure(p.sideMedian), bench.FormatFigure(p.rivalMedian), p.unit})
	}
	return t, len(found) > 0
}

// absentTable returns what could not be measured, or false.
func (s *section) absentTable() (bench.Table, bool) {
	t := bench.Table{Title: "Not measured", Labels: 3, Lines: [][]string{{"cell", "side", "because"}}}
	for _, a := range s.absent {
		t.Lines = append(t.Lines, a[:])
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

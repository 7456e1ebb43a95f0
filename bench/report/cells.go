package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/okradb/okra-go/bench"
	"github.com/okradb/okra-go/bench/suite"
)

// param is a parameter of a cell.
type param = suite.Param

// cellTables returns a table for each group of results: a line for each cell and side that the
// first is judged against, the ratio and the verdict in front.
func cellTables(results []suite.Result) []bench.Table {
	var tables []bench.Table
	for _, group := range distinct(results, func(r suite.Result) string { return r.Group }) {
		of := slices.DeleteFunc(slices.Clone(results), func(r suite.Result) bool { return r.Group != group })
		if t := groupTable(of); len(t.Lines) > 1 {
			tables = append(tables, t)
		}
	}
	return tables
}

// groupTable puts what all cells of a group share into the title, or into the names of columns.
func groupTable(group []suite.Result) bench.Table {
	same, differ := sharedParams(group, func(r suite.Result) []param { return r.Params })
	units := distinct(group, func(r suite.Result) string { return r.Unit })
	firsts := distinct(group, func(r suite.Result) string { return r.Sides[0].Name })
	var rivals []string
	var latency bool
	var data int64
	for _, r := range group {
		for i, s := range r.Sides {
			if i > 0 && !slices.Contains(rivals, s.Name) {
				rivals = append(rivals, s.Name)
			}
			latency = latency || s.P50 > 0 || s.P99 > 0
		}
		data = max(data, r.DataSize)
	}
	var title []string
	if len(units) == 1 {
		title = append(title, units[0])
	}
	if len(same) > 0 {
		title = append(title, paramsText(same))
	}
	if data > 0 {
		title = append(title, "data up to "+suite.FormatData(data, group[0].Machine.RAM))
	}
	t := bench.Table{Title: group[0].Group, Labels: 1}
	if len(title) > 0 {
		t.Title += " (" + strings.Join(title, "; ") + ")"
	}
	one := func(names []string, many string) string {
		if len(names) == 1 {
			return names[0]
		}
		return many
	}
	head := []string{"cell", "ratio", "verdict"}
	if len(rivals) > 1 {
		head = append(head, "beside")
	}
	if len(units) > 1 {
		head = append(head, "unit")
	}
	head = append(head, one(firsts, "first side"), "min – max", one(rivals, "the other"), "min – max")
	if latency {
		head = append(head, "p50 µs", "p99 µs")
	}
	t.Lines = append(t.Lines, append(head, "memory", "file"))
	for _, r := range group {
		name := r.Name
		if words := paramsText(differ(r.Params)); words != "" {
			name += ", " + words
		}
		if !present(r) {
			continue // it stands among what was not measured
		}
		for _, s := range rivalsOf(r) {
			line := []string{name, "", ""}
			if s.Verdict != "" {
				line[1], line[2] = formatRatio(s.Ratio), said(family(r.Sides[0].Name), s.Verdict)
			}
			if len(rivals) > 1 {
				line = append(line, s.Name)
			}
			if len(units) > 1 {
				line = append(line, r.Unit)
			}
			t.Lines = append(t.Lines, append(line, figures(r.Sides[0], s, latency)...))
		}
	}
	return t
}

// rivalsOf returns the sides of r that were measured beside the first, or one without figures if
// there are none.
func rivalsOf(r suite.Result) []suite.SideResult {
	var present []suite.SideResult
	for _, s := range r.Sides[1:] {
		if s.Absent == "" {
			present = append(present, s)
		}
	}
	if len(present) == 0 {
		present = []suite.SideResult{{}}
	}
	return present
}

// figures returns what first and s have measured, in columns of each and then in columns of both.
func figures(first, s suite.SideResult, latency bool) []string {
	var line []string
	for _, one := range []suite.SideResult{first, s} {
		if len(one.Measurements) == 0 {
			line = append(line, "", "")
			continue
		}
		line = append(line, bench.FormatFigure(one.Median),
			bench.FormatFigure(one.Min)+" – "+bench.FormatFigure(one.Max))
	}
	if latency {
		line = append(line, both(suite.FigureOrNone(first.P50), suite.FigureOrNone(s.P50)),
			both(suite.FigureOrNone(first.P99), suite.FigureOrNone(s.P99)))
	}
	return append(line, both(suite.SizeOrNone(first.PeakMemory), suite.SizeOrNone(s.PeakMemory)),
		both(suite.SizeOrNone(first.FileSize), suite.SizeOrNone(s.FileSize)))
}

func both(a, b string) string {
	switch {
	case a == "" && b == "":
		return ""
	case a == "":
		a = "–"
	case b == "":
		b = "–"
	}
	return a + " / " + b
}

// formatRatio returns x with two decimals, or with two digits where these would not tell it.
func formatRatio(x float64) string {
	if x >= 0.095 && x < 1e6 {
		return bench.FormatRatio(x)
	}
	return strconv.FormatFloat(x, 'g', 2, 64)
}

// said is a verdict with the name of whom it is on.
func said(side, verdict string) string {
	if verdict == bench.VerdictSame {
		return verdict
	}
	return side + " " + verdict
}

// forward returns t with its columns of ratios and verdicts behind its labels, where a narrow
// screen shows them. If side is not "", verdicts say that they are on it.
func forward(t bench.Table, side string) bench.Table {
	if len(t.Lines) == 0 {
		return t
	}
	var front, back []int
	for i, name := range t.Lines[0] {
		if i >= t.Labels && (name == "ratio" || name == "verdict") {
			front = append(front, i)
		} else if i >= t.Labels {
			back = append(back, i)
		}
	}
	moved := bench.Table{Title: t.Title, Labels: t.Labels}
	for n, line := range t.Lines {
		out := slices.Clone(line[:t.Labels])
		for _, i := range append(slices.Clone(front), back...) {
			text := line[i]
			verdict := text == bench.VerdictFaster || text == bench.VerdictSlower
			if n > 0 && side != "" && t.Lines[0][i] == "verdict" && verdict {
				text = said(side, text)
			}
			out = append(out, text)
		}
		moved.Lines = append(moved.Lines, out)
	}
	return moved
}

// sharedParams returns the parameters that all have, with the same value, and what takes them away.
func sharedParams[T any](all []T, of func(T) []param) (same []param, differ func([]param) []param) {
	if len(all) > 0 {
		same = slices.Clone(of(all[0]))
	}
	for _, one := range all {
		same = slices.DeleteFunc(same, func(p param) bool { return !slices.Contains(of(one), p) })
	}
	return same, func(params []param) []param {
		return slices.DeleteFunc(slices.Clone(params), func(p param) bool { return slices.Contains(same, p) })
	}
}

// distinct returns what of gives for all, each once.
func distinct[T any, K comparable](all []T, of func(T) K) []K {
	var keys []K
	seen := make(map[K]bool)
	for _, one := range all {
		if k := of(one); !seen[k] {
			seen[k] = true
			keys = append(keys, k)
		}
	}
	return keys
}

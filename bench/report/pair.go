package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/okradb/okra-go/bench"
	"github.com/okradb/okra-go/bench/suite"
)

// pair is one side of a cell, judged against another.
type pair struct {
	section     *section
	group, name string // of the cell; a row of okra bench has no group
	params      []param

	side, rival             string
	unit                    string
	sideMedian, rivalMedian float64

	// ratio is the cost of side over that of rival, with its range; verdict says what that is
	// worth, on side.
	ratio, low, high float64
	verdict          string
}

// cell is what names the cell of p in its section.
func (p pair) cell() string {
	s := p.name
	if p.group != "" && !strings.EqualFold(p.group, p.name) {
		s = p.group + ": " + s
	}
	if words := paramsText(p.params); words != "" {
		s += ", " + words
	}
	return s
}

// plain is whether rival is LMDB without an index, or one of its tools. What else a cell has is
// context: other ways of okra to do the work, and a raw copy, which does less.
func (p pair) plain() bool {
	return p.rival == "lmdb" || p.rival == "mdb_dump" || p.rival == "mdb_load"
}

// family is the first word of the name of a side: of "okra binary" okra.
func family(side string) string {
	word, _, _ := strings.Cut(side, " ")
	return word
}

// sideOf is the name of what pairs judge, if that is the same in all, and okra if there are none.
func sideOf(pairs []pair) string {
	names := distinct(pairs, func(p pair) string { return family(p.side) })
	switch len(names) {
	case 0:
		return "okra"
	case 1:
		return names[0]
	}
	return "the first"
}

// pairsOf returns the pairs of r. The range of a ratio is all that the ranges of both sides allow,
// so that it leaves out 1 exactly if they do not overlap.
func pairsOf(r suite.Result) []pair {
	var pairs []pair
	first := r.Sides[0]
	for _, s := range r.Sides[1:] {
		if s.Verdict == "" {
			continue
		}
		p := pair{
			group: r.Group, name: r.Name, params: r.Params,
			side: first.Name, rival: s.Name, unit: r.Unit, sideMedian: first.Median, rivalMedian: s.Median,
			ratio: s.Ratio, low: first.Min / s.Max, high: first.Max / s.Min, verdict: s.Verdict,
		}
		if r.Higher {
			p.low, p.high = s.Min/first.Max, s.Max/first.Min
		}
		pairs = append(pairs, p)
	}
	return pairs
}

// rowPairs returns the pairs of a row of okra bench. What it kept are the quartiles of the ratios
// of the iterations, so these must lie on one side of 1.
func rowPairs(r bench.Result) []pair {
	row := func(rival string, median, ratio, low, high float64) pair {
		return pair{
			name: r.Row, params: []param{{Value: bench.FormatEntries(r.Entries)}}, side: "okra", rival: rival,
			unit: "ms", sideMedian: r.Okra.Median, rivalMedian: median, ratio: ratio, low: low, high: high,
			verdict: bench.Judge(bench.Spread{Mid: 1, Low: 1, High: 1}, bench.Spread{Mid: ratio, Low: low, High: high}),
		}
	}
	pairs := []pair{row("lmdb", r.LMDB.Median, r.Ratio, r.RatioLow, r.RatioHigh)}
	if u := r.Update; u != nil {
		pairs = append(pairs, row("okra Update", u.Median, u.Ratio, u.RatioLow, u.RatioHigh))
	}
	return pairs
}

func paramsText(params []suite.Param) string {
	var words []string
	for _, p := range params {
		words = append(words, strings.TrimSpace(p.Name+" "+p.Value))
	}
	return strings.Join(words, ", ")
}

// with returns the pairs of a verdict, the ratios farthest from 1 first.
func with(pairs []pair, verdict string) []pair {
	found := slices.DeleteFunc(slices.Clone(pairs), func(p pair) bool { return p.verdict != verdict })
	slices.SortStableFunc(found, func(a, b pair) int {
		if verdict == bench.VerdictSlower {
			a, b = b, a
		}
		return cmp.Compare(a.ratio, b.ratio)
	})
	return found
}

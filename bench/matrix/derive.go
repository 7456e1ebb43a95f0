package matrix

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/okradb/okra-go/bench"
	"github.com/okradb/okra-go/bench/suite"
)

// The words of the table of winners, on the first side.
const (
	win  = "WIN"
	even = "EVEN"
	lose = "LOSE"
)

// derive returns a table of winners for each group that has been measured.
func derive(results []suite.Result) []bench.Table {
	results = suite.Latest(results)
	var tables []bench.Table
	for _, group := range []string{groupMemory, groupBeyond} {
		if t := winners(group, highest(results, group)); len(t.Lines) > 1 {
			tables = append(tables, t)
		}
	}
	return tables
}

// highest returns the results of a group that were measured, of each operation and size of values
// those at the highest number of goroutines.
func highest(results []suite.Result, group string) []suite.Result {
	var all []suite.Result
	for _, r := range results {
		if _, _, ok := rival(r); r.Group != group || !ok {
			continue
		}
		i := slices.IndexFunc(all, func(other suite.Result) bool {
			return other.Name == r.Name && other.Param("value") == r.Param("value")
		})
		switch {
		case i < 0:
			all = append(all, r)
		case goroutinesOf(r) >= goroutinesOf(all[i]):
			all[i] = r
		}
	}
	return all
}

func goroutinesOf(r suite.Result) int {
	n, _ := strconv.Atoi(r.Param("goroutines")) // what is no number counts as none
	return n
}

// rival returns the first side and the fastest of the others, and false if they are not both
// there.
func rival(r suite.Result) (first, fastest suite.SideResult, ok bool) {
	first = r.Sides[0]
	for _, s := range r.Sides[1:] {
		if s.Absent == "" && (!ok || s.Median > fastest.Median) {
			fastest, ok = s, true
		}
	}
	return first, fastest, ok && first.Absent == ""
}

// winners has a line for each operation and a column for each size of values.
func winners(group string, results []suite.Result) bench.Table {
	t := bench.Table{
		Title: fmt.Sprintf("Winners, %s, at the highest number of goroutines (on okra; ratio of costs to the "+
			"faster rival, below 1 okra is faster)", lowerFirst(group)),
		Labels: 2,
	}
	head := []string{"operation", "goroutines"}
	var sizes []string
	for _, r := range results {
		if v := r.Param("value"); !slices.Contains(sizes, v) {
			sizes = append(sizes, v)
		}
	}
	t.Lines = append(t.Lines, append(head, sizes...))
	for _, r := range results {
		line := lineOf(&t, r)
		_, fastest, _ := rival(r)
		line[2+slices.Index(sizes, r.Param("value"))] = word(fastest.Verdict) + " " + bench.FormatRatio(fastest.Ratio)
	}
	return t
}

// lineOf returns the line of the operation of r, which it adds if it is not there.
func lineOf(t *bench.Table, r suite.Result) []string {
	for _, line := range t.Lines[1:] {
		if line[0] == r.Name && line[1] == r.Param("goroutines") {
			return line
		}
	}
	line := make([]string, len(t.Lines[0]))
	line[0], line[1] = r.Name, r.Param("goroutines")
	t.Lines = append(t.Lines, line)
	return line
}

func word(verdict string) string {
	switch verdict {
	case bench.VerdictFaster:
		return win
	case bench.VerdictSlower:
		return lose
	}
	return even
}

func lowerFirst(s string) string { return string(s[0]|' ') + s[1:] }

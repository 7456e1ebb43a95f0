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

// rival returns the first side and the fastest of the others that are not okra, and false if they
// are not both there.
func rival(r suite.Result) (first, fastest suite.SideResult, ok bool) {
	first = r.Sides[0]
	for _, s := range r.Sides[1:] {
		if s.Absent == "" && s.Name != sideUpdate && (!ok || s.Median > fastest.Median) {
			fastest, ok = s, true
		}
	}
	return first, fastest, ok && first.Absent == ""
}

// winners has a line for each operation and way of okra, and a column for each size of values.
func winners(group string, results []suite.Result) bench.Table {
	t := bench.Table{
		Title: fmt.Sprintf("Winners, %s, at the highest number of goroutines (on that side; ratio of costs to the "+
			"faster rival, below 1 okra is faster; by Batch writes share transactions, by Update each has its own)",
			lowerFirst(group)),
		Labels: 3,
	}
	head := []string{"operation", "goroutines", "side"}
	var sizes []string
	for _, r := range results {
		if v := r.Param("value"); !slices.Contains(sizes, v) {
			sizes = append(sizes, v)
		}
	}
	t.Lines = append(t.Lines, append(head, sizes...))
	for _, r := range results {
		column := len(head) + slices.Index(sizes, r.Param("value"))
		first, fastest, _ := rival(r)
		lineOf(&t, r, wayOf(r))[column] = judged(fastest.Verdict, fastest.Ratio)
		if update, ok := r.Side(sideUpdate); ok && first.Name == sideOkra {
			ratio, verdict := r.Judge(update, fastest)
			lineOf(&t, r, "okra by Update")[column] = judged(verdict, ratio)
		}
	}
	return t
}

// wayOf names the first side of r by how it writes.
func wayOf(r suite.Result) string {
	i := slices.IndexFunc(operations, func(o operation) bool { return o.name == r.Name })
	switch {
	case r.Sides[0].Name != sideOkra || i < 0 || !operations[i].writes:
		return r.Sides[0].Name
	case work{operation: operations[i], goroutines: goroutinesOf(r)}.shared():
		return "okra by Batch"
	}
	return "okra by Update"
}

func judged(verdict string, ratio float64) string {
	return word(verdict) + " " + bench.FormatRatio(ratio)
}

// lineOf returns the line of the operation of r by side, which it adds if it is not there.
func lineOf(t *bench.Table, r suite.Result, side string) []string {
	for _, line := range t.Lines[1:] {
		if line[0] == r.Name && line[1] == r.Param("goroutines") && line[2] == side {
			return line
		}
	}
	line := make([]string, len(t.Lines[0]))
	line[0], line[1], line[2] = r.Name, r.Param("goroutines"), side
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

package suite

import (
	"bytes"
	"strings"
	"testing"

	"github.com/okradb/okra-go/bench"
)

func TestVerdicts(t *testing.T) {
	for _, tc := range []struct {
		name       string
		higher     bool
		okra, lmdb []float64
		ratio      float64
		want       string
	}{
		{"less time", false, []float64{1, 1, 2}, []float64{3, 4, 5}, 0.25, bench.VerdictFaster},
		{"more time", false, []float64{3, 4, 5}, []float64{1, 1, 2}, 4, bench.VerdictSlower},
		{"more a second", true, []float64{3, 4, 5}, []float64{1, 1, 2}, 0.25, bench.VerdictFaster},
		{"less a second", true, []float64{1, 1, 2}, []float64{3, 4, 5}, 4, bench.VerdictSlower},
		{"ranges that touch", false, []float64{1, 1, 3}, []float64{3, 4, 5}, 0.25, bench.VerdictSame},
		{"a fifth", false, []float64{1, 1, 1}, []float64{1.2, 1.2, 1.2}, 1 / 1.2, bench.VerdictSame},
		{"one value", false, []float64{4}, []float64{1}, 4, bench.VerdictSame},
		{"two values", true, []float64{4, 4}, []float64{1, 1, 1}, 0.25, bench.VerdictSame},
	} {
		s := resultOf(tc.name, tc.higher, tc.okra, tc.lmdb).Sides
		if s[1].Verdict != tc.want || s[1].Ratio != tc.ratio {
			t.Errorf("%s: %s, ratio %v, want %s, %v", tc.name, s[1].Verdict, s[1].Ratio, tc.want, tc.ratio)
		}
		if s[0].Verdict != "" || s[0].Ratio != 0 {
			t.Errorf("%s: the first side has a verdict", tc.name)
		}
	}
}

func TestTables(t *testing.T) {
	losing := resultOf("random", false, []float64{4, 4, 5}, []float64{1, 1, 2})
	losing.Sides[1].P50, losing.Sides[1].P99 = 1, 2.5
	losing.Sides = append(losing.Sides, SideResult{Name: "other", Absent: "not installed"})
	results := []Result{losing, resultOf("in order", false, []float64{1, 1, 1}, []float64{1, 1, 1})}
	s := Suite{Derive: func(r []Result) []bench.Table {
		return []bench.Table{{Title: "Derived", Labels: 1, Lines: [][]string{{"cell"}, {r[0].Name}}}}
	}}
	var text, markdown bytes.Buffer
	if err := WriteText(&text, s, results); err != nil {
		t.Fatal(err)
	}
	if err := WriteMarkdown(&markdown, s, results); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Processor    Example, 2 cores, 4.0 GiB RAM\n",
		"Gets (µs; entries 1M; data up to 1.0 GiB, 25.0 % of RAM)\n",
		"  cell      order     side   median    min    max  p50 µs  p99 µs  ratio  verdict   memory     file\n",
		"  random    random    okra    4.000  4.000  5.000                                  3.0 MiB  4.0 KiB\n",
		"                      lmdb    1.000  1.000  2.000   1.000   2.500   4.00   slower  3.0 MiB  4.0 KiB\n",
		"                      other                                                absent\n",
		"\n  other is absent: not installed\n",
		"\nDerived\n  cell\n  random\n",
		"\nRatios are of costs",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in:\n%s", want, text.String())
		}
	}
	for _, want := range []string{
		"### Gets (µs; entries 1M;", "| cell | order | side | median |", "|---|---|---|--:|", "### Derived\n",
		"|  |  | lmdb | 1.000 | 1.000 | 2.000 | 1.000 | 2.500 | 4.00 | slower | 3.0 MiB | 4.0 KiB |",
	} {
		if !strings.Contains(markdown.String(), want) {
			t.Errorf("no %q in:\n%s", want, markdown.String())
		}
	}
	var nothing bytes.Buffer
	if err := WriteText(&nothing, s, nil); err != nil || nothing.Len() > 0 {
		t.Errorf("%q, %v for no results", nothing.String(), err)
	}
}

package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/okradb/okra-go/bench/suite"
)

func written(t testing.TB, write func(io.Writer) error) string {
	t.Helper()
	var out bytes.Buffer
	if err := write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func reportOn(t testing.TB, results ...suite.Result) *Report {
	t.Helper()
	r, err := New([]Input{{Results: results}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFiguresShown(t *testing.T) {
	r := reportOn(t,
		cell("G", "lost", false, params("rows", "7"), side("okra", 4, 5, 6), side("lmdb", 1, 2, 3)),
		cell("G", "won", true, params("rows", "7"), side("okra", 40, 50, 60), side("lmdb", 10, 20, 30)),
		cell("G", "lost more", false, params("rows", "7"), side("okra", 40, 50, 60), side("lmdb", 1, 2, 3)),
		cell("G", "level", false, params("rows", "7"), side("okra", 1, 2, 3), side("lmdb", 1, 2, 3)))
	markdown := written(t, r.WriteMarkdown)
	for _, want := range []string{
		"4 cells, 4 comparisons with plain LMDB and its tools: okra slower in 2, faster in 1, the same in 1. Measured until 2026-01-02 03:04 UTC.",
		"| G: lost | 2.50 | 5.000 | 2.000 | µs/write | lmdb |",
		"| G: won | 0.40 | 50.00 | 20.00 | µs/write | lmdb |",
		"- File system: ext4\n", "- Data: up to 1.0 GiB, 6.2 % of RAM\n", "2 cores, 16 GiB RAM",
		"### G (µs/write; rows 7; data up to 1.0 GiB, 6.2 % of RAM)\n",
		"| lost | 2.50 | okra slower | 5.000 | 4.000 – 6.000 | 2.000 | 1.000 – 3.000 | 11 MiB / 11 MiB | 1.0 MiB / 1.0 MiB |\n",
	} {
		if !strings.Contains(markdown, want) {
			t.Errorf("no %q in:\n%s", want, markdown)
		}
	}
	order := []string{"## Okra is slower", "| G: lost more", "| G: lost |", "## Okra is faster", "| G: won", "## How", "## sample"}
	at := 0
	for _, text := range order {
		i := strings.Index(markdown[at:], text)
		if i < 0 {
			t.Fatalf("%q is not after what should come before it in:\n%s", text, markdown)
		}
		at += i
	}
	if i := strings.Index(markdown, "level"); i < at {
		t.Error("a cell that is the same stands among those that differ")
	}
	page := written(t, r.WriteHTML)
	for _, want := range []string{`<td class="slower">okra slower</td>`, `<td class="faster">okra faster</td>`, "2.50 slower</text>"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
}

// The range of a ratio leaves out 1 exactly if the ranges of the sides do not overlap.
func TestPairRange(t *testing.T) {
	low := pairsOf(cell("G", "a", false, nil, side("okra", 4, 5, 6), side("lmdb", 1, 2, 3)))[0]
	if low.ratio != 2.5 || low.low != 4.0/3 || low.high != 6 {
		t.Errorf("%+v", low)
	}
	high := pairsOf(cell("G", "a", true, nil, side("okra", 4, 5, 6), side("lmdb", 1, 2, 3)))[0]
	if high.ratio != 0.4 || high.low != 1.0/6 || high.high != 0.75 {
		t.Errorf("%+v", high)
	}
}

func TestNamesAreText(t *testing.T) {
	r := sampleReport(t)
	for name, out := range map[string]string{"page": written(t, r.WriteHTML), "chart": written(t, r.WriteChart)} {
		for _, bad := range []string{"<script", "\x1b", "\u202e", "href=\"javascript", "http-equiv=\"refresh"} {
			if strings.Contains(out, bad) {
				t.Errorf("%s: it has %q", name, bad)
			}
		}
		if !strings.Contains(out, "&lt;script&gt;") {
			t.Errorf("%s: the name is not there", name)
		}
	}
	for _, outside := range []string{`src="`, "url(", "@import", "<link"} {
		if strings.Contains(written(t, r.WriteHTML), outside) {
			t.Errorf("the page has %q", outside)
		}
	}
	for line := range strings.Lines(written(t, r.WriteMarkdown)) {
		if strings.Contains(line, "alert(1)") && !strings.Contains(line, `\<script\>alert(1)\</script\> \| \`+"`x\\`"+` \*b\* \[a\]`) {
			t.Errorf("not escaped: %s", line)
		}
	}
}

// The file of the chart is XML, and no colour of it is left without a palette.
func TestChartFile(t *testing.T) {
	out := written(t, sampleReport(t).WriteChart)
	for decoder := xml.NewDecoder(strings.NewReader(out)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, bad := range []string{"#0102", "var("} {
		if strings.Contains(out, bad) || bad == "#0102" && strings.Contains(written(t, sampleReport(t).WriteHTML), bad) {
			t.Errorf("it has %q", bad)
		}
	}
	alone := reportOn(t, cell("G", "a", false, nil, side("okra", 1)))
	if err := alone.WriteChart(io.Discard); !errors.Is(err, ErrNoChart) {
		t.Errorf("nothing to compare: %v", err)
	}
	written(t, alone.WriteHTML)
}

func TestOddResults(t *testing.T) {
	markdown := written(t, sampleReport(t).WriteMarkdown)
	for _, want := range []string{
		"| Dump: export, keys 200, format mdb_dump | mdb_dump | mdb_dump is not installed |",
		"1 cell has fewer than three repetitions", "LOSE 3.20", "50k entries, a remark",
	} {
		if !strings.Contains(markdown, want) {
			t.Errorf("no %q in:\n%s", want, markdown)
		}
	}
	first := cell("G", "a", false, nil, absent("okra", "gone"), side("lmdb", 1, 2, 3))
	page := written(t, reportOn(t, first).WriteHTML)
	if !strings.Contains(page, "gone") || !strings.Contains(page, "Nowhere") {
		t.Error("an absent first side is not told")
	}
	// Two machines are two parts; the same cell measured anew replaces the old one.
	other := cell("G", "a", false, nil, side("okra", 1, 2, 3), side("lmdb", 1, 2, 3))
	other.Machine.FileSystem = "tmpfs"
	again := cell("G", "a", false, nil, side("okra", 7, 7, 7), side("lmdb", 1, 2, 3))
	markdown = written(t, reportOn(t, first, other, again).WriteMarkdown)
	for _, want := range []string{"2 cells, 2 comparisons", "## sample on ext4", "## sample on tmpfs", "| okra slower | 7.000 |"} {
		if !strings.Contains(markdown, want) {
			t.Errorf("no %q in:\n%s", want, markdown)
		}
	}
}

func TestBadInput(t *testing.T) {
	var line bytes.Buffer
	if err := suite.WriteJSON(&line, sampleResults()[:1]); err != nil {
		t.Fatal(err)
	}
	good := line.String()
	run, err := json.Marshal(benchRun(t).Bench)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty": "", "blank": " \n", "foreign": "hello\n", "other JSON": "[1]\n", "no results": "{}\n",
		"cut line": good[:50], "cut end": good[:len(good)-1], "cut run": string(run[:200]),
		"two runs": string(run) + string(run), "another version": strings.Replace(good, `"version":1`, `"version":9`, 1),
		"a verdict of its own": strings.Replace(good, `"verdict":"slower"`, `"verdict":"best"`, 1),
		"a ratio of nothing":   strings.Replace(string(run), `"ratio":1.2`, `"ratio":0`, 1),
		"a huge figure":        strings.Replace(good, `"std":`, `"std":1e308,"x":`, 1),
		"a huge time":          strings.Replace(string(run), `"max_ms":`, `"max_ms":1e308,"x":`, 1),
		"huge":                 strings.Repeat(" ", maxFile+1),
	} {
		if text == good || text == string(run) {
			t.Fatalf("%s: nothing is changed", name)
		}
		if _, err := Read(strings.NewReader(text)); !errors.Is(err, suite.ErrResults) {
			t.Errorf("%s: %v", name, err)
		}
	}
	cut, err := Read(strings.NewReader(good + good[:50]))
	if err != nil || !cut.Cut || len(cut.Results) != 1 {
		t.Fatalf("%+v, %v", cut, err)
	}
	cut.Name = "kept.jsonl"
	r, err := New([]Input{cut}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{written(t, r.WriteMarkdown), written(t, r.WriteHTML)} {
		if !strings.Contains(out, "kept.jsonl: its last line was cut") {
			t.Errorf("a cut line is not told in:\n%s", out)
		}
	}
	if _, err := New(nil, nil); !errors.Is(err, suite.ErrResults) {
		t.Errorf("nothing: %v", err)
	}
	many := make([]suite.Result, maxCells+1)
	for i := range many {
		many[i] = cell("G", string(rune('a'+i)), false, nil, side("okra", 1))
	}
	if _, err := New([]Input{{Results: many}}, nil); !errors.Is(err, suite.ErrResults) {
		t.Errorf("too many: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	var lines bytes.Buffer
	if err := suite.WriteJSON(&lines, sampleResults()); err != nil {
		f.Fatal(err)
	}
	f.Add(lines.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		input, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		r, err := New([]Input{input}, sampleSuites())
		if err != nil {
			return
		}
		written(t, r.WriteHTML)
		written(t, r.WriteMarkdown)
	})
}

// What okra does in other ways, and a copy of the file, are context: the headline, the list of what
// is slower and the main chart are about plain LMDB.
func TestContextStandsApart(t *testing.T) {
	r := reportOn(t, cell("Import", "import", false, params("keys", "200"), side("okra binary", 40, 50, 60),
		side("okra jsonl", 100, 110, 120), side("mdb_load", 10, 11, 12), side("raw copy", 1, 2, 3)))
	markdown := written(t, r.WriteMarkdown)
	for _, want := range []string{
		"1 cell, 1 comparison with plain LMDB and its tools: okra slower in 1, faster in 0, the same in 0. " +
			"2 comparisons with other things, for context, stand apart.",
		"## Okra is slower\n\n| cell | ratio | okra | plain LMDB | unit | beside |\n|---|--:|--:|--:|--:|--:|\n" +
			"| import | 4.55 | 50.00 | 11.00 | µs/write | mdb_load |\n\n## Okra is faster\n\n" + nowhere,
		"## For context: beside other ways of okra, or a raw copy\n",
		"| import | 25.00 | okra binary slower | okra binary / raw copy |",
	} {
		if !strings.Contains(markdown, want) {
			t.Errorf("no %q in:\n%s", want, markdown)
		}
	}
	chart := written(t, r.WriteChart)
	if !strings.Contains(chart, ">4.55 slower<") || strings.Contains(chart, ">25") {
		t.Errorf("the main chart is not of plain LMDB alone:\n%s", chart)
	}
}

// A cell that was measured at two sizes stands in two parts, each with tables of its own; the cells
// that follow it in the file go with it, and a size that was measured anew replaces itself only.
func TestSizesStandApart(t *testing.T) {
	sized := func(name string, size int64, figure float64) suite.Result {
		r := cell("G", name, true, nil, side("okra", figure), side("lmdb", 2))
		r.DataSize, r.Ops = size, size/100
		return r
	}
	r, err := New([]Input{{Results: []suite.Result{
		sized("a", 1000, 3), sized("a", 9000, 4), sized("b", 9000, 5), sized("b", 1000, 6), sized("a", 1000, 7),
	}}}, sampleSuites())
	if err != nil {
		t.Fatal(err)
	}
	markdown := written(t, r.WriteMarkdown)
	small, large, ok := strings.Cut(markdown, "## sample, data up to 8.8 KiB, up to 90 operations\n")
	_, small, found := strings.Cut(small, "## sample, data up to 1000 B, up to 10 operations\n")
	if !ok || !found {
		t.Fatalf("the sizes are not apart:\n%s", markdown)
	}
	for text, figures := range map[string][]string{
		small: {"| 7.000 |", "| 6.000 |", "WIN of 2"}, large: {"| 4.000 |", "| 5.000 |", "WIN of 2"},
	} {
		for _, figure := range figures {
			if !strings.Contains(text, figure) {
				t.Errorf("no %q in:\n%s", figure, text)
			}
		}
	}
	if strings.Contains(markdown, "| 3.000 |") {
		t.Error("what was measured anew is there still")
	}
}

// Many cells that could not be measured for one reason are one line, and have no line of figures.
func TestAbsentCells(t *testing.T) {
	results := []suite.Result{cell("G", "a", false, nil, side("okra", 1), absent("lmdb", "gone"))}
	for i := range 5 {
		results = append(results, cell("Larger", strings.Repeat("x", i+1), false, nil, absent("okra", "no limit"), absent("lmdb", "no limit")))
	}
	markdown := written(t, reportOn(t, results...).WriteMarkdown)
	for _, want := range []string{"6 cells (5 could not be measured here), 0 comparisons with plain LMDB and its tools: okra slower in 0,", "## Okra is slower\n\nNowhere", "| Larger: 5 cells | okra, lmdb | no limit |\n",
		"| G: a | lmdb | gone |\n", "| a |  |  | 1.000 |"} {
		if !strings.Contains(markdown, want) {
			t.Errorf("no %q in:\n%s", want, markdown)
		}
	}
	if strings.Contains(markdown, "| xx") || strings.Contains(markdown, "### Larger") {
		t.Errorf("cells without figures have lines:\n%s", markdown)
	}
}

// The labels of the main chart are whole, and differ within a part of it.
func TestMainChartLabels(t *testing.T) {
	var results []suite.Result
	for _, group := range []string{"Reopening in a new process", "Reads of what was written long before"} {
		for i := range 40 {
			name := "open, read one key"
			if i >= 20 {
				name += " of many that are there"
			}
			results = append(results, cell(group, name, false, params("entries", strings.Repeat("1", i+1)),
				side("okra", 4, 5, 6), side("lmdb", 1, 2, 3)))
		}
	}
	r := reportOn(t, results...)
	var labels []string
	for _, line := range r.mainLines() {
		labels = append(labels, line.label)
		for _, look := range []ratioLook{narrow, wide} {
			if whole := strings.Join(look.label(line), " "); whole != line.label {
				t.Errorf("%q is shown as %q", line.label, whole)
			}
		}
	}
	if len(labels) != 4 || len(distinct(labels, strings.ToLower)) != len(labels) {
		t.Errorf("labels %q", labels)
	}
	// Without groups, many names are one line.
	var rows []pair
	for i := range maxMain + 1 {
		rows = append(rows, pair{section: r.sections[0], name: strings.Repeat("n", i+1), side: "okra", rival: "lmdb"})
	}
	if lines := (&Report{sections: r.sections, pairs: rows}).mainLines(); len(lines) != 1 || lines[0].label != "all" {
		t.Errorf("lines %+v", lines)
	}
	for i := range 30 {
		results = append(results, cell("G"+strings.Repeat("g", i), "x", false, nil, side("okra", 4), side("lmdb", 1)))
	}
	if lines := reportOn(t, results...).mainLines(); len(lines) != 1 {
		t.Errorf("%d lines of too many groups", len(lines))
	}
}

// No two sides of a chart look the same.
func TestStylesDiffer(t *testing.T) {
	for _, log := range []bool{true, false} {
		c := curves{log: log}
		for i := range maxParts {
			c.lines = append(c.lines, curve{side: strings.Repeat("s", i+1)})
		}
		seen := make(map[string]string)
		for _, l := range c.lines {
			mark, line := c.styles(l)
			look := fmt.Sprint(line.Color, line.Dashes)
			if mark.Radius > 0 {
				look += fmt.Sprintf(" %T", mark.Shape)
			}
			if other, ok := seen[look]; ok {
				t.Errorf("%s looks like %s: %s", l.side, other, look)
			}
			seen[look] = l.side
		}
	}
}

// Results of two runs in one part are shown with both, and no table joins them.
func TestRunsStandApart(t *testing.T) {
	first := cell("G", "a", false, nil, side("okra", 1, 2, 3), side("lmdb", 1, 2, 3))
	first.Started, first.Repetitions = first.Finished.Add(-time.Hour), 5
	second := cell("G", "b", false, nil, side("okra", 1, 2, 3), side("lmdb", 1, 2, 3))
	second.Started = first.Started.Add(time.Minute)
	r, err := New([]Input{{Results: []suite.Result{first}}, {Results: []suite.Result{second, second}}}, sampleSuites())
	if err != nil {
		t.Fatal(err)
	}
	markdown := written(t, r.WriteMarkdown)
	for _, want := range []string{
		"- Run 1: sample, full, 5 repetitions, seed 1, 2026-01-02 03:04 UTC, cells: 1\n",
		"- Run 2: sample, full, 3 repetitions, ", "### Winners, run 1\n", "### Winners, run 2\n",
	} {
		if !strings.Contains(markdown, want) {
			t.Errorf("no %q in:\n%s", want, markdown)
		}
	}
	if strings.Contains(markdown, "WIN of 2") {
		t.Error("two runs are joined")
	}
}

// A run that was ended early, or in which cells failed, is not taken for a whole one; a run of which
// a later one has measured some cells again is.
func TestRunsThatAreNotWhole(t *testing.T) {
	of := func(name string, started time.Time, cells int) suite.Result {
		r := cell("G", name, false, nil, side("okra", 1, 2, 3), side("lmdb", 1, 2, 3))
		r.Started, r.Cells = started, cells
		return r
	}
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	whole := []suite.Result{of("a", began, 2), of("b", began, 2), of("b", began.Add(time.Hour), 1), of("old", time.Time{}, 0)}
	if notes := reportOn(t, whole...).notes; len(notes) > 0 {
		t.Errorf("runs that are whole: %q", notes)
	}
	cut := append(whole[:1:1], of("a", began, 2), of("c", began.Add(time.Hour), 20))
	r := reportOn(t, cut...)
	for _, text := range []string{written(t, r.WriteHTML), written(t, r.WriteMarkdown)} {
		for _, want := range []string{
			"sample: the run that began at 2026-01-02 03:04 UTC has measured 1 of its 2 cells; the others have failed",
			"sample: the run that began at 2026-01-02 04:04 UTC has measured 1 of its 20 cells",
		} {
			if at := strings.Index(text, want); at < 0 || at > strings.Index(text, "Okra is slower") {
				t.Errorf("%q does not stand in front of the results:\n%.1500s", want, text)
			}
		}
	}
}

// Charts of one group that is too long for one are told apart.
func TestPartsOfCharts(t *testing.T) {
	var results []suite.Result
	for i := range maxLines + 1 {
		results = append(results, cell("G", fmt.Sprint(i), false, nil, side("okra", 1, 2, 3), side("lmdb", 1, 2, 3)))
	}
	page := written(t, reportOn(t, results...).WriteHTML)
	for _, want := range []string{"<figcaption>Ratios: G, part 1 of 2</", "<figcaption>Ratios: G, part 2 of 2</"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
	if page := written(t, reportOn(t, results[:maxLines]...).WriteHTML); strings.Contains(page, "part 1 of 1") {
		t.Error("one chart is a part")
	}
}

// Of what is slower the worst ten are open, and the others folded.
func TestSlowerIsFolded(t *testing.T) {
	var results []suite.Result
	for i := range maxOpenSlower + 3 {
		results = append(results, cell("G", fmt.Sprintf("row-%d.", i), false, nil, side("okra", float64(100-i)), side("lmdb", 1)))
	}
	listed := func(results []suite.Result) (open, folded string) {
		page := written(t, reportOn(t, results...).WriteHTML)
		_, list, _ := strings.Cut(page, `<section aria-labelledby="slower">`)
		list, _, _ = strings.Cut(list, "</section>")
		open, folded, _ = strings.Cut(list, "<details><summary>3 more</summary>")
		return open, folded
	}
	open, folded := listed(results)
	for i := range results {
		name, place, other := results[i].Name, open, folded
		if i >= maxOpenSlower {
			place, other = folded, open
		}
		if !strings.Contains(place, name) || strings.Contains(other, name) {
			t.Errorf("row %d is not where it belongs", i)
		}
	}
	if open, _ := listed(results[:maxOpenSlower]); strings.Contains(open, "<details") {
		t.Error("nothing is folded")
	}
}

package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/okradb/okra-go/bench"
)

//go:embed page.html
var pageSource string

//go:embed page.css
var pageStyle string

var page = template.Must(template.New("page").Parse(pageSource))

// WriteHTML writes r as a page that is whole in itself: it loads nothing and runs no script.
func (r *Report) WriteHTML(w io.Writer) error {
	view := pageView{
		Style: template.CSS(rootStyle() + pageStyle), Title: r.title(), Summary: r.summary(), Notes: r.notes, Legend: r.legend(),
		Faster: viewTable(r.verdictTable(bench.VerdictFaster)), Nowhere: nowhere,
	}
	view.Slower, view.SlowerRest = splitTable(viewTable(r.verdictTable(bench.VerdictSlower)), maxOpenSlower)
	if t := r.contextTable(); len(t.Lines) > 1 {
		view.Context = []tableView{viewTable(t)}
	}
	if main, ok := r.mainChart(narrow); ok {
		onDesk, _ := r.mainChart(wide)
		view.Main = []mainView{{viewChart(main, "main"), viewChart(onDesk, "main-wide")}}
	}
	for _, s := range r.sections {
		view.Sections = append(view.Sections, s.view())
	}
	var out bytes.Buffer
	if err := page.Execute(&out, view); err != nil {
		return fmt.Errorf("make the page: %w", err)
	}
	_, err := w.Write(out.Bytes())
	return err
}

// rootStyle sets the colours that charts are drawn in.
func rootStyle() string {
	set := func(p palette) string {
		var out strings.Builder
		for r := paper; r <= series4; r++ {
			name := strings.TrimSuffix(strings.TrimPrefix(themed[r], "var("), ")")
			fmt.Fprintf(&out, "%s:%s;", name, p[r])
		}
		return out.String()
	}
	return fmt.Sprintf(":root{color-scheme:light dark;%s}\n@media (prefers-color-scheme:dark){:root{%s}}\n",
		set(light), set(dark))
}

// What is not folded.
const (
	maxOpen       = 8  // rows of a table
	maxOpenSlower = 10 // of the list of what is slower
	maxOpenCharts = 4  // of a section
)

type pageView struct {
	Style          template.CSS
	Title, Summary string
	Notes, Legend  []string
	Slower, Faster tableView
	SlowerRest     tableView // what is slower after the first rows
	Nowhere        string    // what stands for one of these without rows
	Context        []tableView
	Main           []mainView // one, or none
	Sections       []sectionView
}

// mainView is the main chart twice, of which the style shows one.
type mainView struct{ Phone, Desk chartView }

type sectionView struct {
	ID, Title, Usage string
	Facts            [][2]string
	Notes            []string
	Charts           []chartView
	Folded           bool // the charts are, as they are many
	Tables           []tableView
}

type chartView struct {
	Title string
	SVG   template.HTML // of package vgsvg, which escapes all text
}

type tableView struct {
	Title string
	Long  bool // it is folded until it is asked for
	Head  []headView
	Rows  [][]cellView
}

type headView struct {
	Text  string
	Label bool // of words, else of figures
}

type cellView struct {
	Text    string
	Class   string
	Scope   string // of a cell that names its row, or the rows of its Span; else ""
	Span    int
	Label   bool
	Spanned bool // by the cell above: not drawn
}

func viewChart(c chart, id string) chartView {
	return chartView{Title: plain(c.title), SVG: template.HTML(c.svg(id))}
}

func (s *section) view() sectionView {
	v := sectionView{ID: s.id, Title: plain(s.title), Usage: s.usage, Facts: s.facts, Notes: s.notes}
	for i, c := range s.charts {
		v.Charts = append(v.Charts, viewChart(c, fmt.Sprintf("%s-chart-%d", s.id, i+1)))
	}
	v.Folded = len(v.Charts) > maxOpenCharts
	for _, t := range s.tables {
		v.Tables = append(v.Tables, viewTable(t))
	}
	if t, ok := s.absentTable(); ok {
		v.Tables = append(v.Tables, viewTable(t))
	}
	return v
}

// viewTable has a label stand for the lines under it that leave it blank, as tables of cells with
// several sides do.
func viewTable(t bench.Table) tableView {
	v := tableView{Title: plain(t.Title), Long: len(t.Lines) > 1+maxOpen}
	if len(t.Lines) == 0 {
		return v
	}
	for i, name := range t.Lines[0] {
		v.Head = append(v.Head, headView{plain(name), i < t.Labels})
	}
	above := make([]int, t.Labels) // the row of the cell that stands for blank ones
	for i, line := range t.Lines[1:] {
		row := make([]cellView, len(line))
		blank := i > 0
		for k, text := range line {
			row[k] = cellView{Text: plain(text), Label: k < t.Labels, Span: 1}
			if k >= t.Labels {
				row[k].Class = verdictClass(text)
				continue
			}
			if blank = blank && text == "" && k < t.Labels-1; blank {
				row[k].Spanned = true
				v.Rows[above[k]][k].Span++
				continue
			}
			above[k] = i
			row[k].Scope = "row"
		}
		v.Rows = append(v.Rows, row)
	}
	for _, row := range v.Rows {
		for k := range row {
			if row[k].Span > 1 {
				row[k].Scope = "rowgroup"
			}
		}
	}
	return v
}

// splitTable returns the first rows of v, and the others, with the same head.
func splitTable(v tableView, rows int) (first, rest tableView) {
	first, rest = v, v
	at := min(rows, len(v.Rows))
	first.Rows, rest.Rows, rest.Title = v.Rows[:at], v.Rows[at:], v.Title+", the rest"
	return first, rest
}

// verdictClass returns the class of cells that say who is better.
func verdictClass(text string) string {
	switch {
	case strings.HasSuffix(text, bench.VerdictFaster), strings.HasPrefix(text, "WIN "):
		return "faster"
	case strings.HasSuffix(text, bench.VerdictSlower), strings.HasPrefix(text, "LOSE "):
		return "slower"
	}
	return ""
}

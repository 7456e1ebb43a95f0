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
		Slower: r.verdictView(bench.VerdictSlower, r.noSlower()),
		Faster: r.verdictView(bench.VerdictFaster, r.noFaster()),
	}
	if main, ok := r.mainChart(); ok {
		view.Main = []chartView{viewChart(main, "main")}
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

type pageView struct {
	Style          template.CSS
	Title, Summary string
	Notes, Legend  []string
	Slower, Faster verdictView
	Main           []chartView
	Sections       []sectionView
}

// verdictView is a table, or what to say if there is none.
type verdictView struct {
	Title string
	Table []tableView
	None  string
}

type sectionView struct {
	ID, Title, Usage string
	Facts            [][2]string
	Notes            []string
	Charts           []chartView
	Tables           []tableView
}

type chartView struct {
	Title string
	SVG   template.HTML // of package vgsvg, which escapes all text
}

type tableView struct {
	Title string
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
	for _, t := range s.tables {
		v.Tables = append(v.Tables, viewTable(t))
	}
	if t, ok := s.absentTable(); ok {
		v.Tables = append(v.Tables, viewTable(t))
	}
	return v
}

func (r *Report) verdictView(verdict, none string) verdictView {
	t, ok := r.verdictTable(verdict)
	v := verdictView{Title: plain(t.Title), None: none}
	if ok {
		v.Table = []tableView{viewTable(t)}
	}
	return v
}

// viewTable has a label stand for the lines under it that leave it blank, as tables of cells with
// several sides do.
func viewTable(t bench.Table) tableView {
	v := tableView{Title: plain(t.Title)}
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
			row[k] = cellView{Text: plain(text), Class: verdictClass(text), Label: k < t.Labels, Span: 1}
			if k >= t.Labels {
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

// verdictClass returns the class of cells that say who is better.
func verdictClass(text string) string {
	word, _, _ := strings.Cut(text, " ")
	switch word {
	case bench.VerdictFaster, "WIN":
		return "faster"
	case bench.VerdictSlower, "LOSE":
		return "slower"
	}
	return ""
}

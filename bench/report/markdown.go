package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/okradb/okra-go/bench"
)

// ErrNoChart is the error of [Report.WriteChart] where nothing was compared, or too many parts.
var ErrNoChart = wrong("no comparisons that one chart can show")

// WriteChart writes the main chart of r as a file of SVG, on a light ground.
func (r *Report) WriteChart(w io.Writer) error {
	c, ok := r.mainChart(wide)
	if !ok {
		return ErrNoChart
	}
	_, err := io.WriteString(w, c.file())
	return err
}

func (r *Report) title() string { return "okra bench: results" }

// nowhere is what stands for a table without lines.
const nowhere = "Nowhere, by more than a fifth and outside of the ranges."

// WriteMarkdown writes what [Report.WriteHTML] does, without charts, as Markdown with tables.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "# %s\n\n%s\n", escaped(r.title()), escaped(r.summary()))
	for _, note := range r.notes {
		fmt.Fprintf(&out, "\n%s\n", escaped(note))
	}
	for _, t := range []bench.Table{r.verdictTable(bench.VerdictSlower), r.verdictTable(bench.VerdictFaster)} {
		fmt.Fprintf(&out, "\n## %s\n\n", escaped(t.Title))
		if len(t.Lines) > 1 {
			writeTable(&out, t)
		} else {
			fmt.Fprintln(&out, nowhere)
		}
	}
	if t := r.contextTable(); len(t.Lines) > 1 {
		fmt.Fprintf(&out, "\n## %s\n\n", escaped(t.Title))
		writeTable(&out, t)
	}
	fmt.Fprint(&out, "\n## How to read this\n")
	for _, line := range r.legend() {
		fmt.Fprintf(&out, "\n%s\n", escaped(line))
	}
	for _, s := range r.sections {
		s.writeMarkdown(&out)
	}
	_, err := w.Write(out.Bytes())
	return err
}

func (s *section) writeMarkdown(out *bytes.Buffer) {
	fmt.Fprintf(out, "\n## %s\n\n", escaped(s.title))
	if s.usage != "" {
		fmt.Fprintf(out, "%s.\n\n", escaped(capital(s.usage)))
	}
	for _, f := range s.facts {
		fmt.Fprintf(out, "- %s: %s\n", escaped(f[0]), escaped(f[1]))
	}
	for _, n := range s.notes {
		fmt.Fprintf(out, "- %s\n", escaped(n))
	}
	tables := s.tables
	if t, ok := s.absentTable(); ok {
		tables = append(tables[:len(tables):len(tables)], t)
	}
	for _, t := range tables {
		fmt.Fprintf(out, "\n### %s\n\n", escaped(t.Title))
		writeTable(out, t)
	}
}

// writeTable writes t with all its words escaped.
func writeTable(out *bytes.Buffer, t bench.Table) {
	safe := bench.Table{Labels: t.Labels}
	for _, line := range t.Lines {
		cells := make([]string, len(line))
		for i, cell := range line {
			cells[i] = inline(cell)
		}
		safe.Lines = append(safe.Lines, cells)
	}
	safe.WriteMarkdown(out)
}

// escaped returns s as a line of text that Markdown takes for nothing else.
func escaped(s string) string {
	s = inline(s)
	if s != "" && strings.ContainsRune("#+-=:", rune(s[0])) {
		return "\\" + s
	}
	return s
}

// inline is escaped for text that does not begin a line.
func inline(s string) string {
	var out strings.Builder
	s = strings.TrimSpace(plain(s))
	for i, r := range s {
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		special := strings.ContainsRune("\\`*[]<>|&~$", r) ||
			r == '_' && !(wordly(before) && wordly(after)) // snake_case is safe
		if special {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}

func wordly(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

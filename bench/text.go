package bench

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// WriteText writes report for a terminal: the environment, a table for each number of entries, at
// most 100 columns wide, and the notes.
func WriteText(w io.Writer, report Report) error {
	var out bytes.Buffer
	for _, field := range report.Env.Fields() {
		fmt.Fprintf(&out, "%-13s%s\n", field[0], field[1])
	}
	for _, t := range Tables(report) {
		fmt.Fprintf(&out, "\n%s\n", t.Title)
		t.WriteText(&out)
	}
	if len(report.Notes) > 0 {
		fmt.Fprintf(&out, "\nNotes\n  %s\n", strings.Join(report.Notes, "\n  "))
	}
	_, err := w.Write(out.Bytes())
	return err
}

// WriteText writes the table for a terminal, and its notes. Figures are aligned to the right; the
// labels are padded to one width first, which puts them on the left.
func (t Table) WriteText(out *bytes.Buffer) {
	widths := make([]int, t.Labels)
	for _, line := range t.Lines {
		for i := range widths {
			widths[i] = max(widths[i], utf8.RuneCountInString(line[i]))
		}
	}
	var aligned bytes.Buffer
	// Writing to a buffer cannot fail.
	tabs := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, line := range t.Lines {
		for i, cell := range line {
			if i < t.Labels {
				cell += strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			}
			fmt.Fprint(tabs, cell, "\t")
		}
		fmt.Fprintln(tabs)
	}
	_ = tabs.Flush()
	for line := range strings.Lines(aligned.String()) {
		fmt.Fprintln(out, strings.TrimRight(line, " \n"))
	}
	for _, note := range t.Notes {
		fmt.Fprintf(out, "  %s\n", note)
	}
}

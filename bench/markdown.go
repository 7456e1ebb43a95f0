package bench

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes report as Markdown: the environment as a list, a heading and a table for
// each number of entries, and the notes as a list.
func WriteMarkdown(w io.Writer, report Report) error {
	var out bytes.Buffer
	for _, field := range report.Env.Fields() {
		fmt.Fprintf(&out, "- %s: %s\n", field[0], field[1])
	}
	for _, t := range Tables(report) {
		fmt.Fprintf(&out, "\n### %s\n\n", t.Title)
		t.WriteMarkdown(&out)
	}
	if len(report.Notes) > 0 {
		fmt.Fprintf(&out, "\n### Notes\n\n- %s\n", strings.Join(report.Notes, "\n- "))
	}
	_, err := w.Write(out.Bytes())
	return err
}

// WriteMarkdown writes the table as Markdown, and its notes.
func (t Table) WriteMarkdown(out *bytes.Buffer) {
	for i, line := range t.Lines {
		fmt.Fprintf(out, "| %s |\n", strings.Join(line, " | "))
		if i == 0 {
			rules := strings.Repeat("---|", t.Labels) + strings.Repeat("--:|", len(line)-t.Labels)
			fmt.Fprintf(out, "|%s\n", rules)
		}
	}
	for _, note := range t.Notes {
		fmt.Fprintf(out, "\n%s\n", note)
	}
}

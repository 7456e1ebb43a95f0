package peer

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"sync"
	"unicode/utf8"
)

const longestLine = 4 << 10 // bytes; what is longer is cut into lines

// lines writes text of somebody else to a terminal: whole lines, with escapes for what is not
// printable. It keeps the last that has something in it.
type lines struct {
	to   io.Writer
	mu   sync.Mutex
	rest []byte // a line without its end
	kept string
}

// Write never fails.
func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range b {
		if c != '\n' {
			l.rest = append(l.rest, c)
		}
		if c == '\n' || len(l.rest) == longestLine {
			l.line()
		}
	}
	return len(b), nil
}

// flush writes a last line that has no end.
func (l *lines) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.rest) > 0 {
		l.line()
	}
}

func (l *lines) line() {
	text := Printable(bytes.TrimSuffix(l.rest, []byte("\r")))
	l.rest = l.rest[:0]
	fmt.Fprintln(l.to, text)
	if text != "" {
		l.kept = text
	}
}

// last returns the last line that has something in it.
func (l *lines) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kept
}

// Printable returns text as a line that a terminal shows and does not obey.
func Printable(text []byte) string {
	var out []byte
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 || !strconv.IsPrint(r) {
			for _, c := range text[:size] {
				out = fmt.Appendf(out, `\x%02x`, c)
			}
		} else {
			out = append(out, text[:size]...)
		}
		text = text[size:]
	}
	return string(out)
}

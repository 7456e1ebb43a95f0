package main

import (
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// A printableJSON writes JSON with escapes for the characters in its strings that are not
// printable, as the controls of C1 and those that turn the direction of text. Each write is of
// whole characters.
type printableJSON struct{ to io.Writer }

func (p printableJSON) Write(b []byte) (int, error) {
	var out []byte
	done := 0 // of b, that is in out
	for i := 0; i < len(b); {
		if b[i] < 0x7f { // only strings have others, and encoding/json escapes the controls below
			i++
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		if !strconv.IsPrint(r) {
			out = appendEscape(append(out, b[done:i]...), r)
			done = i + size
		}
		i += size
	}
	if done == 0 {
		return p.to.Write(b)
	}
	if _, err := p.to.Write(append(out, b[done:]...)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// appendEscape appends r as JSON escapes it.
func appendEscape(dst []byte, r rune) []byte {
	if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
		return fmt.Appendf(dst, `\u%04x\u%04x`, high, low)
	}
	return fmt.Appendf(dst, `\u%04x`, r)
}

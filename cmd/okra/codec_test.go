package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEscaped(t *testing.T) {
	for _, tt := range []struct{ key, text string }{
		{"name", `name`},
		{"a b", `a b`},
		{"\x00", `\x00`},
		{"\n", `\n`},
		{"\xff", `\xff`},
		{"a\nb", `a\nb`},
		{"\t\r", `\t\r`},
		{`\`, `\\`},
		{`\n`, `\\n`},
		{"grün 日本", `grün 日本`},
		{"gr\xfcn", `gr\xfcn`},
		{"\xe6\x97", `\xe6\x97`},
		{"\x1b[31m", `\x1b[31m`},
		{"\u202e", `\xe2\x80\xae`},
		{"\u00a0", `\xc2\xa0`},
		{"\ufffd", "\ufffd"},
		{"-", `\x2d`},
		{"-a-b", `\x2da-b`},
		{"\x7f", `\x7f`},
		{"", ``},
	} {
		if got := escaped.text([]byte(tt.key)); got != tt.text {
			t.Errorf("text of %q is %s, want %s", tt.key, got, tt.text)
		}
		got, err := escaped.parse(tt.text)
		if err != nil || string(got) != tt.key {
			t.Errorf("parse %s: %q, %v, want %q", tt.text, got, err, tt.key)
		}
	}
}

func TestParseAccepts(t *testing.T) {
	for _, tt := range []struct {
		notation  notation
		text, key string
	}{
		{escaped, "-x", "-x"},
		{escaped, "raw\xff\x00", "raw\xff\x00"},
		{escaped, `\x4A\x4a`, "JJ"},
		{hexadecimal, "00fF", "\x00\xff"},
		{base64Text, "AP8=", "\x00\xff"},
	} {
		got, err := tt.notation.parse(tt.text)
		if err != nil || string(got) != tt.key {
			t.Errorf("%v %q: %q, %v, want %q", tt.notation, tt.text, got, err, tt.key)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct {
		notation   notation
		text, want string
	}{
		{escaped, `a\`, "lone backslash"},
		{escaped, `ab\q`, "byte 2"},
		{escaped, `\x`, "two hexadecimal digits"},
		{escaped, `\x1`, "two hexadecimal digits"},
		{escaped, `\x1g`, "two hexadecimal digits"},
		{escaped, `\u0041`, "unknown escape"},
		{escaped, anchorMark, "unknown escape"},
		{hexadecimal, "abc", "odd length"},
		{hexadecimal, "zz", "invalid byte"},
		{hexadecimal, anchorMark, "invalid byte"},
		{base64Text, "AP8", "illegal base64"},
		{base64Text, anchorMark, "illegal base64"},
	} {
		got, err := tt.notation.parse(tt.text)
		if err == nil {
			t.Errorf("%v %q: %q, want an error", tt.notation, tt.text, got)
			continue
		}
		if !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v %q: %v, want %q in it", tt.notation, tt.text, err, tt.want)
		}
	}
}

func TestJSONText(t *testing.T) {
	for _, tt := range []struct {
		notation             notation
		data, text, encoding string
	}{
		{escaped, "a\x00\n", "a\x00\n", "utf-8"},
		{escaped, "\xff", "/w==", "base64"},
		{escaped, "", "", "utf-8"},
		{hexadecimal, "ab", "6162", "hex"},
		{base64Text, "ab", "YWI=", "base64"},
	} {
		text, encoding := tt.notation.jsonText([]byte(tt.data))
		if text != tt.text || encoding != tt.encoding {
			t.Errorf("%v %q: %q, %q, want %q, %q", tt.notation, tt.data, text, encoding,
				tt.text, tt.encoding)
		}
	}
}

// FuzzText checks for any bytes that each notation writes one clean line and reads it back.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"", "a", "\x00", "\n", "\xff", `\`, "-", "é", "\xe6\x97", "\u202e"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, n := range []notation{escaped, hexadecimal, base64Text} {
			text := n.text(b)
			got, err := n.parse(text)
			if err != nil || !bytes.Equal(got, b) {
				t.Fatalf("%v: %q reads back as %q, %v", n, text, got, err)
			}
			if !utf8.ValidString(text) || strings.ContainsAny(text, "\n\r\t\x00\x1b") {
				t.Fatalf("%v: %q is no clean line", n, text)
			}
			if strings.HasPrefix(text, "-") {
				t.Fatalf("%v: %q looks like an option", n, text)
			}
		}
	})
}

// FuzzParse checks for any text that reading it does not panic, and that what was read has a
// text which means the same.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", `\`, `\x`, `\x0`, `\x00`, `\n\t\r\\`, "00ff", "AP8=", `\q`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, n := range []notation{escaped, hexadecimal, base64Text} {
			b, err := n.parse(s)
			if err != nil {
				continue
			}
			again, err := n.parse(n.text(b))
			if err != nil || !bytes.Equal(again, b) {
				t.Fatalf("%v: %q is %q, then %q, %v", n, s, b, again, err)
			}
		}
	})
}

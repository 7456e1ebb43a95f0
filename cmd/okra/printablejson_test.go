package main

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestPrintableJSON(t *testing.T) {
	for text, want := range map[string]string{
		"plain <&> \\ \" ü 世 😀":   `"plain <&> \\ \" ü 世 😀"`,
		"\x1b[1m\x7f\u0085\u009b": `"\u001b[1m\u007f\u0085\u009b"`,
		"a\u202eb\u2066c\u200f":   `"a\u202eb\u2066c\u200f"`,
		"\U000e0001\ufffd.":       `"\udb40\udc01�."`,
		"":                        `""`,
	} {
		var out bytes.Buffer
		if err := writeJSON(&out, text); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); got != want+"\n" {
			t.Errorf("%q is written %s, want %s", text, got, want)
		}
		var back string
		if err := json.Unmarshal(out.Bytes(), &back); err != nil || back != text {
			t.Errorf("%q is read back as %q, %v", text, back, err)
		}
	}
}

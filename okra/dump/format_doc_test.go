package dump_test

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/zeebo/blake3"

	"github.com/okradb/okra-go/okra/dump"
)

// docExample returns the one fenced block of FORMAT.md that carries a mark.
func docExample(t *testing.T, mark string) string {
	t.Helper()
	text, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "\n```"+mark+"\n")
	example, _, closed := strings.Cut(rest, "```\n")
	if !ok || !closed {
		t.Fatalf("FORMAT.md has no example %s", mark)
	}
	return example
}

// The examples of FORMAT.md are what is written, byte for byte, and are read.
func TestFormatDocument(t *testing.T) {
	entries := []dump.Entry{
		{Key: []byte("apple"), Value: []byte("red")},
		{Key: []byte("apricot"), Value: []byte{}},
		{Key: []byte{0xff}, Value: []byte{0, '\n'}},
	}
	h := dump.Header{Format: store, MapSize: 1 << 20, MaxReaders: 126}
	for _, kind := range []dump.Kind{dump.Binary, dump.JSONLines, dump.MDB} {
		example := []byte(docExample(t, kind.String()))
		if kind == dump.Binary {
			b, err := hex.DecodeString(strings.Join(strings.Fields(string(example)), ""))
			if err != nil {
				t.Fatal(err)
			}
			if sum := blake3.Sum256(b[:len(b)-32]); !bytes.Equal(sum[:], b[len(b)-32:]) {
				t.Errorf("the checksum of the example is %x", sum)
			}
			example = b
		}
		if b := write(t, kind, h, entries); !bytes.Equal(b, example) {
			t.Errorf("%s: wrote\n%q, FORMAT.md has\n%q", kind, b, example)
		}
		_, got, _, err := read(example, dump.Auto)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if err := sameEntries(got, entries); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

package peer

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// newID returns some ID; different ones for different n.
func newID(n byte) ID { return ID{0: n, 31: ^n} }

func TestID(t *testing.T) {
	for n := range byte(50) {
		id := newID(n)
		for _, text := range []string{id.String(), strings.ToUpper(id.String())} {
			if got, err := ParseID(text); got != id || err != nil {
				t.Fatalf("ParseID(%q) = %v, %v; want %v", text, got, err, id)
			}
		}
	}
	text, err := json.Marshal(newID(1))
	if want := `"` + newID(1).String() + `"`; string(text) != want || err != nil {
		t.Errorf("in JSON it is %s, %v; want %s", text, err, want)
	}
}

// Every wrong letter is found, and so is what is too long or too short.
func TestIDSlips(t *testing.T) {
	text := newID(7).String()
	bad := []string{"", text[1:], text + "a", " " + text, text[:55] + "\n", text[:55] + "=",
		"1" + text[1:], text[:53] + "\u212a"}
	for i := range text {
		other := byte('a')
		if text[i] == other {
			other = 'b'
		}
		bad = append(bad, text[:i]+string(other)+text[i+1:])
	}
	for _, s := range bad {
		if id, err := ParseID(s); !errors.Is(err, ErrID) || id != (ID{}) {
			t.Errorf("ParseID(%q) = %v, %v; want ErrID", s, id, err)
		}
	}
}

func FuzzParseID(f *testing.F) {
	f.Add(newID(1).String())
	f.Add(strings.Repeat("a", idLetters))
	f.Fuzz(func(t *testing.T, s string) {
		id, err := ParseID(s)
		if err == nil && id.String() != strings.ToLower(s) {
			t.Errorf("%q is read as %v", s, id)
		}
		if err != nil && !errors.Is(err, ErrID) {
			t.Errorf("%q: %v", s, err)
		}
	})
}

package peer

import (
	"errors"
	"strings"
	"testing"
)

func TestAddress(t *testing.T) {
	id := newID(3)
	for text, want := range map[string]Address{
		"host:1":                {id, "host", 1},
		"host.example.org:7346": {id, "host.example.org", 7346},
		"127.0.0.1":             {id, "127.0.0.1", DefaultPort},
		"[::1]:65535":           {id, "::1", 65535},
		"[2001:db8::7]":         {id, "2001:db8::7", DefaultPort},
	} {
		a, err := ParseAddress("okra://" + id.String() + "@" + text)
		if err != nil || a != want {
			t.Errorf("%s is %v, %v; want %v", text, a, err, want)
		}
		if again, err := ParseAddress(a.String()); err != nil || again != a {
			t.Errorf("%v is read as %v, %v", a, again, err)
		}
	}
	for _, text := range []string{"", ":1", "host:", "host:0", "host:65536", "host:x", "host:1/", "host/path",
		"host?q", "host#f", "a@host", "::1", "[::1", "[::1]x", "[host]:1", "[1.2.3.4]:1", "[fe80::1%25eth0]:1",
		"ho st", "ho\nst", "-host", "h\x00", "höst", "host:1:2", "%41"} {
		if a, err := ParseAddress("okra://" + id.String() + "@" + text); !errors.Is(err, ErrAddress) {
			t.Errorf("%q is %v, %v; want ErrAddress", text, a, err)
		}
	}
	for _, text := range []string{"", "host:1", "okra://host:1", "http://" + id.String() + "@host:1",
		"okra://" + strings.Repeat("a", idLetters) + "@host:1"} {
		if a, err := ParseAddress(text); !errors.Is(err, ErrAddress) {
			t.Errorf("%q is %v, %v; want ErrAddress", text, a, err)
		}
	}
}

func FuzzParseAddress(f *testing.F) {
	f.Add("okra://" + newID(1).String() + "@host:7346")
	f.Add("okra://" + newID(1).String() + "@[::1]")
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseAddress(s)
		if err != nil {
			if !errors.Is(err, ErrAddress) {
				t.Errorf("%q: %v", s, err)
			}
			return
		}
		if again, err := ParseAddress(a.String()); err != nil || again != a {
			t.Errorf("%q is %v, which is read as %v, %v", s, a, again, err)
		}
		if strings.ContainsAny(a.Host, " \t\r\n/@\x00") || strings.HasPrefix(a.Host, "-") {
			t.Errorf("%q has the host %q", s, a.Host)
		}
	})
}

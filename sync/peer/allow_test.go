package peer

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAllowList(t *testing.T) {
	a, b, c := newID(1), newID(2), newID(3)
	text := fmt.Sprintf("# peers\n\n%v read\n\t%s  write  ann's   laptop # old\r\n%v write#\n", a,
		strings.ToUpper(b.String()), c)
	want := AllowList{a: {Read, ""}, b: {Write, "ann's laptop"}, c: {Write, ""}}
	path := filepath.Join(t.TempDir(), "allow")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := ReadAllowList(path)
	if err != nil || !maps.Equal(l, want) {
		t.Errorf("it is read as %v, %v; want %v", l, err, want)
	}
	if _, err := ReadAllowList(path + "x"); !errors.Is(err, ErrAllow) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: error %v", err)
	}
}

func TestAllowListSlips(t *testing.T) {
	good := newID(1).String() + " read\n"
	var many strings.Builder
	for i := range allowPeers + 1 {
		fmt.Fprintf(&many, "%v read\n", ID{byte(i), byte(i >> 8)})
	}
	for text, want := range map[string]string{
		good + good:                       "line 2",
		good + newID(2).String():          "line 2",
		newID(2).String() + " admin":      `"admin"`,
		newID(2).String() + " Read":       "must be read or write",
		"x read":                          "line 1",
		"read " + newID(2).String():       "line 1",
		newID(2).String() + " read \xff":  "UTF-8",
		good + strings.Repeat("#", 5_000): "after 1 peers",
		many.String():                     "more than",
	} {
		l, err := ParseAllowList(strings.NewReader(text))
		if !errors.Is(err, ErrAllow) || !strings.Contains(err.Error(), want) || l != nil {
			t.Errorf("%.80q is %d peers, %v; want ErrAllow with %q", text, len(l), err, want)
		}
	}
}

func TestGrant(t *testing.T) {
	id := newID(9)
	if got, g, err := ParseGrant(id.String() + "=write"); got != id || g != (Grant{Write, ""}) || err != nil {
		t.Errorf("got %v %v, %v", got, g, err)
	}
	for _, s := range []string{"", "=", id.String(), id.String() + "=", id.String() + "=read ", "x=read",
		id.String() + " read"} {
		if _, _, err := ParseGrant(s); !errors.Is(err, ErrAllow) {
			t.Errorf("%q: error %v, want ErrAllow", s, err)
		}
	}
}

func FuzzAllowList(f *testing.F) {
	f.Add("# a\n" + newID(1).String() + " read ann\n" + newID(2).String() + " write")
	f.Fuzz(func(t *testing.T, s string) {
		l, err := ParseAllowList(strings.NewReader(s))
		if err != nil {
			if !errors.Is(err, ErrAllow) {
				t.Error(err)
			}
			return
		}
		var again strings.Builder
		for id, g := range l {
			fmt.Fprintln(&again, id, g.Access, g.Name)
		}
		if l2, err := ParseAllowList(strings.NewReader(again.String())); err != nil || !maps.Equal(l, l2) {
			t.Errorf("%q is %v, which is read as %v, %v", s, l, l2, err)
		}
	})
}

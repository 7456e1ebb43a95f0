package tree_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

// A header has 11 bytes, or 10 without the mode; one of any other length is none.
func TestHeaderLength(t *testing.T) {
	whole := []byte("okra\x03\x10\x00\x00\x00\x20\x01and more of it")
	for n := range len(whole) {
		f, err := tree.DecodeHeader(whole[:n])
		switch {
		case n == 10 && (err != nil || f != tree.Format{K: 16, Q: 32}):
			t.Errorf("10 bytes give %s (%v)", f, err)
		case n == 11 && (err != nil || f != tree.Format{K: 16, Q: 32, Mode: tree.Store}):
			t.Errorf("11 bytes give %s (%v)", f, err)
		case n != 10 && n != 11 && !errors.Is(err, tree.ErrNotOkra):
			t.Errorf("%d bytes give %s (%v), want ErrNotOkra", n, f, err)
		}
	}
}

func TestHeaderContent(t *testing.T) {
	cases := []struct {
		name, header string
		err          error
	}{
		{"least", "okra\x03\x04\x00\x00\x00\x02\x00", nil},
		{"greatest", "okra\x03\x20\xff\xff\xff\xff\x01", nil},
		{"other magic", "Okra\x03\x10\x00\x00\x00\x20\x01", tree.ErrNotOkra},
		{"version 2", "okra\x02\x10\x00\x00\x00\x20\x01", tree.ErrFormat},
		{"version 4", "okra\x04\x10\x00\x00\x00\x20\x01", tree.ErrFormat},
		{"K of 0", "okra\x03\x00\x00\x00\x00\x20\x01", tree.ErrFormat},
		{"K of 3", "okra\x03\x03\x00\x00\x00\x20\x01", tree.ErrFormat},
		{"K of 33", "okra\x03\x21\x00\x00\x00\x20\x01", tree.ErrFormat},
		{"Q of 0", "okra\x03\x10\x00\x00\x00\x00\x01", tree.ErrFormat},
		{"Q of 1", "okra\x03\x10\x00\x00\x00\x01\x01", tree.ErrFormat},
		{"mode 2", "okra\x03\x10\x00\x00\x00\x20\x02", tree.ErrFormat},
	}
	for _, c := range cases {
		if _, err := tree.DecodeHeader([]byte(c.header)); !errors.Is(err, c.err) {
			t.Errorf("%s gives %v, want %v", c.name, err, c.err)
		}
	}
}

// A tree opens in its own format and in what leaves fields open; anything else is an error
// that shows both sides.
func TestM15OpenInAnotherFormat(t *testing.T) {
	m, f := create(t, tree.Format{K: 20, Q: 7, Mode: tree.Index})
	before := slices.Clone(m.Records())
	cases := []struct {
		want  tree.Format
		shown string // of the error, "" for none
	}{
		{tree.Format{}, ""},
		{f, ""},
		{tree.Format{Q: 7}, ""},
		{tree.Format{K: 16}, "asked for K=16 Q=7 mode=index"},
		{tree.Format{Q: 32}, "asked for K=20 Q=32 mode=index"},
		{tree.Format{Mode: tree.Store}, "asked for K=20 Q=7 mode=store"},
		{tree.Format{K: 3}, "K is 3"},
		{tree.Format{K: 33}, "K is 33"},
		{tree.Format{K: -1}, "K is -1"},
		{tree.Format{Q: 1}, "Q is 1"},
		{tree.Format{Mode: 3}, "mode 3"},
	}
	for _, c := range cases {
		for name, open := range map[string]func(tree.Storage, tree.Format) (tree.Format, error){
			"Open": tree.Open, "Create": tree.Create,
		} {
			got, err := open(m, c.want)
			switch {
			case c.shown == "" && (err != nil || got != f):
				t.Errorf("%s as %+v gives %s (%v)", name, c.want, got, err)
			case c.shown == "":
			case !errors.Is(err, tree.ErrFormat) || !strings.Contains(err.Error(), c.shown):
				t.Errorf("%s as %+v gives %v, want ErrFormat with %q", name, c.want, err, c.shown)
			case strings.HasPrefix(c.shown, "asked") && !strings.Contains(err.Error(), f.String()):
				t.Errorf("%s as %+v gives %v, which does not show %s", name, c.want, err, f)
			}
		}
	}
	if !slices.EqualFunc(before, m.Records(), sameRecord) {
		t.Error("opening has changed the records")
	}
}

// A header of 10 bytes is of the mode asked for, of store mode by default; Create completes
// it and Open does not.
func TestHeaderWithoutMode(t *testing.T) {
	for _, ask := range []tree.Mode{tree.AnyMode, tree.Store, tree.Index} {
		want := ask
		if ask == tree.AnyMode {
			want = tree.Store
		}
		m, f := create(t, tree.Format{Mode: want})
		whole := tree.EncodeHeader(f)
		m.Set([]byte{0xff}, whole[:10])
		got, err := tree.Open(m, tree.Format{Mode: ask})
		if err != nil || got != f {
			t.Errorf("Open as %s gives %s (%v)", ask, got, err)
		}
		if v, _, _ := m.Get(0xff, nil); len(v) != 10 {
			t.Errorf("Open has written the header %x", v)
		}
		got, err = tree.Create(m, tree.Format{Mode: ask})
		if err != nil || got != f {
			t.Errorf("Create as %s gives %s (%v)", ask, got, err)
		}
		if v, _, _ := m.Get(0xff, nil); string(v) != string(whole) {
			t.Errorf("Create leaves the header %x, want %x", v, whole)
		}
	}
}

// Records without a header are not taken for a tree, nor overwritten by one.
func TestCreateAmongOtherRecords(t *testing.T) {
	m := &treetest.Memory{}
	if _, err := tree.Open(m, tree.Format{}); !errors.Is(err, tree.ErrNotOkra) {
		t.Errorf("Open of nothing gives %v, want ErrNotOkra", err)
	}
	m.Set([]byte("user"), []byte("data"))
	_, err := tree.Create(m, tree.Format{})
	if !errors.Is(err, tree.ErrNotOkra) || !strings.Contains(err.Error(), "1 other record") {
		t.Errorf("Create beside another record gives %v, want ErrNotOkra", err)
	}
	if len(m.Records()) != 1 {
		t.Errorf("there are %d records", len(m.Records()))
	}
}

// The calls of one mode in a tree of the other, and in a tree that only reads.
func TestModes(t *testing.T) {
	hash := tree.EmptyHash(16)
	short := tree.EmptyHash(8)
	cases := []struct {
		name string
		mode tree.Mode
		buf  *tree.Buffers
		call func(*tree.Tree) error
		err  error
	}{
		{"PutHash in store mode", tree.Store, &tree.Buffers{},
			func(tr *tree.Tree) error { return tr.PutHash([]byte("k"), hash) }, tree.ErrMode},
		{"PutHash of another length", tree.Index, &tree.Buffers{},
			func(tr *tree.Tree) error { return tr.PutHash([]byte("k"), short) }, tree.ErrHashSize},
		{"PutHash of the zero Hash", tree.Index, &tree.Buffers{},
			func(tr *tree.Tree) error { return tr.PutHash([]byte("k"), tree.Hash{}) }, tree.ErrHashSize},
		{"PutHash", tree.Index, &tree.Buffers{},
			func(tr *tree.Tree) error { return tr.PutHash([]byte("k"), hash) }, nil},
		{"Get in index mode", tree.Index, &tree.Buffers{},
			func(tr *tree.Tree) error { _, err := tr.Get([]byte("k")); return err }, tree.ErrNoValues},
		{"Put when reading", tree.Store, nil,
			func(tr *tree.Tree) error { return tr.Put([]byte("k"), nil) }, tree.ErrReadOnly},
		{"PutHash when reading", tree.Index, nil,
			func(tr *tree.Tree) error { return tr.PutHash([]byte("k"), hash) }, tree.ErrReadOnly},
		{"Delete when reading", tree.Store, nil,
			func(tr *tree.Tree) error { return tr.Delete([]byte("k")) }, tree.ErrReadOnly},
		{"Flush when reading", tree.Store, nil, func(tr *tree.Tree) error { return tr.Flush() }, nil},
	}
	for _, c := range cases {
		m, f := create(t, tree.Format{Mode: c.mode})
		tr := tree.New(m, f, c.buf)
		if err := c.call(tr); !errors.Is(err, c.err) {
			t.Errorf("%s gives %v, want %v", c.name, err, c.err)
		}
		if tr.Writable() != (c.buf != nil) || tr.Format() != f {
			t.Errorf("%s: Writable is %t, Format %s", c.name, tr.Writable(), tr.Format())
		}
		if err := tr.Flush(); err != nil {
			t.Errorf("%s: the transaction has failed: %v", c.name, err)
		}
	}
}

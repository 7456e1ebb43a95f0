package dump_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/okradb/okra-go/okra/dump"
	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

// tableText returns the text that mdb_dump makes of the table of a tree with these entries.
func tableText(t *testing.T, f tree.Format, entries []dump.Entry) string {
	t.Helper()
	var m treetest.Memory
	f, err := tree.Create(&m, f)
	if err != nil {
		t.Fatal(err)
	}
	tr := tree.New(&m, f, &tree.Buffers{})
	for _, e := range entries {
		if err := tr.Put(e.Key, e.Value); err != nil {
			t.Fatal(err)
		}
	}
	if err := tr.Flush(); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("VERSION=3\nformat=bytevalue\ntype=btree\nmapsize=1048576\nmaxreaders=126\n" +
		"db_pagesize=4096\nHEADER=END\n")
	for _, r := range m.Records() {
		fmt.Fprintf(&b, " %x\n %x\n", r.Key, r.Value)
	}
	return b.String() + "DATA=END\n"
}

// The text of a tree's own table is taken for the entries of the tree, with their root.
func TestMDBTextOfTree(t *testing.T) {
	for _, entries := range [][]dump.Entry{nil, oddEntries(), randomEntries(2000)} {
		for _, f := range []tree.Format{store, index, {K: 32, Q: 32, Mode: tree.Store}} {
			h, got, trailer, err := read([]byte(tableText(t, f, entries)), dump.Auto)
			if err != nil {
				t.Fatalf("%s: %v", f, err)
			}
			want := entries
			if f.Mode == tree.Index {
				want = inIndexMode(entries, f.K)
			}
			for i := range got {
				if f.Mode == tree.Store {
					got[i].Hash = tree.Hash{}
				}
			}
			if err := sameEntries(got, want); err != nil {
				t.Errorf("%s: %v", f, err)
			}
			if want := wantTrailer(f, want); trailer != want || h.Format != f {
				t.Errorf("read %s of %s, want %s of %s", trailer, h.Format, want, f)
			}
		}
	}
}

// A tree that the reference emptied keeps an anchor too many. Section 8 of FORMAT.md.
func TestMDBTextOfEmptiedTree(t *testing.T) {
	text := tableText(t, store, nil)
	text = strings.Replace(text, " ff\n", " 01\n 6c5483c477697c881f6b03dc23a52c7f\n ff\n", 1)
	_, got, trailer, err := read([]byte(text), dump.Auto)
	if want := wantTrailer(store, nil); err != nil || len(got) > 0 || trailer != want {
		t.Errorf("read %d entries, %s, %v; want %s", len(got), trailer, err, want)
	}
}

// Any leaf or anchor of the text that is not what it was is noticed, and so is a cut.
func TestMDBTextOfTreeIsChecked(t *testing.T) {
	whole := tableText(t, store, oddEntries())
	lines := strings.SplitAfter(whole, "\n")
	top := lines[len(lines)-6]
	for i := 7; i < len(lines)-2; i += 2 {
		key, err := hex.DecodeString(strings.TrimSpace(lines[i]))
		if err != nil {
			t.Fatal(err)
		}
		if key[0] != 0 && lines[i] != top {
			continue // a reader passes over it
		}
		without := strings.Join(lines[:i], "") + strings.Join(lines[i+2:], "")
		if _, got, _, err := read([]byte(without), dump.Auto); err == nil && len(got) == len(lines) {
			t.Errorf("without %q: no error", lines[i])
		}
		value := []byte(lines[i+1])
		value[len(value)/2] ^= 1
		changed := strings.Join(lines[:i+1], "") + string(value) + strings.Join(lines[i+2:], "")
		_, _, trailer, err := read([]byte(changed), dump.Auto)
		if err == nil && trailer == wantTrailer(store, oddEntries()) {
			t.Errorf("with %q changed: no error", lines[i])
		}
	}
	for n := 0; n < len(whole)-1; n += 13 {
		if _, _, _, err := read([]byte(whole[:n]), dump.Auto); !errors.Is(err, dump.ErrCut) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
	}
}

// What cannot be read twice is said to be so, before it is read.
func TestMDBTextOfTreeNeedsSeek(t *testing.T) {
	text := tableText(t, store, oddEntries())
	if !dump.NeedsSeek([]byte(text)) || !dump.NeedsSeek([]byte(text[:400])) {
		t.Error("NeedsSeek is false for the text of a tree")
	}
	if _, err := dump.NewReader(io.MultiReader(strings.NewReader(text)), dump.Auto); !errors.Is(err,
		dump.ErrSeek) {
		t.Errorf("error %v", err)
	}
	for _, kind := range kinds {
		b := write(t, kind, dump.Header{Format: store}, oddEntries())
		if dump.NeedsSeek(b) {
			t.Errorf("NeedsSeek is true for %s", kind)
		}
		if _, err := dump.NewReader(io.MultiReader(bytes.NewReader(b)), dump.Auto); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if dump.NeedsSeek(nil) {
		t.Error("NeedsSeek is true for nothing")
	}
}

const mdbHead = "VERSION=3\nformat=print\ntype=btree\nHEADER=END\n"

// A bad line is refused with its number and a reason.
func TestMDBRefused(t *testing.T) {
	long := strings.Repeat("k", 511)
	for _, c := range []struct {
		text string
		want error
		says string
	}{
		{mdbHead + " a\n \\zz\nDATA=END\n", dump.ErrSyntax, "line 6: "},
		{mdbHead + " a\n \\a\nDATA=END\n", dump.ErrSyntax, "mdb_dump -p"},
		{mdbHead + " a\n b\nc\n d\nDATA=END\n", dump.ErrSyntax, "line 7: "},
		{mdbHead + " " + long + "\n b\nDATA=END\n", tree.ErrKeyTooLong, "line 5: "},
		{mdbHead + " \n b\nDATA=END\n", tree.ErrKeyEmpty, "line 5: "},
		{mdbHead + " a\nDATA=END\n\n", dump.ErrSyntax, "line 6: "},
		{mdbHead + "DATA=END\nVERSION=3\n", dump.ErrSyntax, "mdb_dump -s NAME"},
		{"VERSION=3\nformat=bytevalue\nHEADER=END\n 6\n 66\nDATA=END\n", dump.ErrSyntax, "line 4: "},
		{"VERSION=4\n\n", dump.ErrVersion, "line 1: "},
		{"VERSION=3\nformat=xml\n\n", dump.ErrSyntax, "line 2: "},
		{"VERSION=3\ntype=hash\n\n", dump.ErrSyntax, "line 2: "},
		{"VERSION=3\nmapsize=big\n\n", dump.ErrSyntax, "line 2: "},
		{"VERSION=3\nduplicates=1\n\n", dump.ErrSyntax, "several values"},
		{"VERSION=3\nwhat\n\n", dump.ErrSyntax, "line 2: "},
		{strings.Repeat("VERSION=3\n", 100), dump.ErrSyntax, "no HEADER=END"},
		{"VERSION=3" + strings.Repeat(" ", 5000), dump.ErrSyntax, "longer than"},
	} {
		_, _, _, err := read([]byte(c.text), dump.Auto)
		if !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%.60q: %v, want %v, %s", c.text, err, c.want, c.says)
		}
	}
	_, err := dump.NewWriter(io.Discard, dump.MDB, dump.Header{Format: store, Table: "a\nb"})
	if !errors.Is(err, dump.ErrSyntax) {
		t.Errorf("a table's name of two lines: %v", err)
	}
}

// Both ways to write a backslash are read.
func TestMDBBackslash(t *testing.T) {
	_, got, _, err := read([]byte(mdbHead+" a\\\\b\n c\\5cd\\00\nDATA=END\n"), dump.Auto)
	want := []dump.Entry{{Key: []byte(`a\b`), Value: []byte("c\\d\x00")}}
	if err != nil {
		t.Fatal(err)
	}
	if err := sameEntries(got, want); err != nil {
		t.Error(err)
	}
}

package dump_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/okradb/okra-go/okra/dump"
	"github.com/okradb/okra-go/tree"
)

// Every format gives back what was written, odd bytes and empty values included.
func TestC5_RoundTrip(t *testing.T) {
	size := 10 << 20
	if testing.Short() {
		size = 1 << 20
	}
	big := []dump.Entry{
		{Key: []byte("big"), Value: bytes.Repeat([]byte("\x00\xffbig\n"), size/6)},
		{Key: []byte("empty"), Value: []byte{}},
	}
	sets := map[string][]dump.Entry{
		"none": nil, "one": randomEntries(1), "odd": oddEntries(), "many": randomEntries(3000),
		"big": big,
	}
	formats := []tree.Format{store, {K: 32, Q: 2, Mode: tree.Store}, {K: 4, Q: 300, Mode: tree.Store}}
	for name, entries := range sets {
		for _, kind := range kinds {
			for _, f := range formats {
				if name == "big" && f != store {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", name, kind, f), func(t *testing.T) {
					b := write(t, kind, dump.Header{Format: f, Table: "t", MapSize: 1 << 20}, entries)
					_, got, trailer, err := read(b, dump.Auto)
					if err != nil {
						t.Fatal(err)
					}
					if err := sameEntries(got, entries); err != nil {
						t.Error(err)
					}
					want := wantTrailer(f, entries)
					if kind == dump.MDB || kind == dump.MDBPrint {
						want.Root = tree.Root{}
					}
					if trailer != want {
						t.Errorf("read %s, want %s", trailer, want)
					}
				})
			}
		}
	}
}

func TestC5_RoundTripIndexMode(t *testing.T) {
	entries := inIndexMode(oddEntries(), 16)
	for _, kind := range []dump.Kind{dump.Binary, dump.JSONLines} {
		h, got, trailer, err := read(write(t, kind, dump.Header{Format: index}, entries), kind)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if err := sameEntries(got, entries); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if want := wantTrailer(index, entries); trailer != want || h.Format != index {
			t.Errorf("%s: read %s of %s, want %s", kind, trailer, h.Format, want)
		}
	}
	for _, kind := range []dump.Kind{dump.MDB, dump.MDBPrint} {
		_, err := dump.NewWriter(io.Discard, kind, dump.Header{Format: index})
		if !errors.Is(err, dump.ErrValues) {
			t.Errorf("%s of a tree without values: %v", kind, err)
		}
	}
}

// A dump that lacks any number of bytes at its end is refused. Only the last newline of a text
// may be missing.
func TestC5_CutIsNoticed(t *testing.T) {
	entries := oddEntries()
	for _, kind := range kinds {
		whole := write(t, kind, dump.Header{Format: store, Table: "t", MapSize: 1 << 20}, entries)
		ends := len(whole)
		if kind != dump.Binary {
			ends--
		}
		for n := 0; n < ends; n += everyByte() {
			_, _, _, err := read(whole[:n], kind)
			if !errors.Is(err, dump.ErrCut) {
				t.Fatalf("%s cut to %d of %d bytes: %v", kind, n, len(whole), err)
			}
			if _, _, _, err := read(whole[:n], dump.Auto); !errors.Is(err, dump.ErrCut) {
				t.Fatalf("kind to be found out, %s cut to %d bytes: %v", kind, n, err)
			}
		}
	}
}

// everyByte is the step of tests that go through all bytes of a dump, except in short ones.
func everyByte() int {
	if testing.Short() {
		return 11
	}
	return 1
}

// No bit of a binary dump can change unnoticed, and nothing can follow a dump.
func TestC5_EveryBitCounts(t *testing.T) {
	for _, entries := range [][]dump.Entry{nil, oddEntries(), inIndexMode(oddEntries(), 16)} {
		f := store
		if len(entries) > 0 && entries[0].Value == nil {
			f = index
		}
		whole := write(t, dump.Binary, dump.Header{Format: f}, entries)
		for i := 0; i < len(whole); i += everyByte() {
			for bit := range 8 {
				b := bytes.Clone(whole)
				b[i] ^= 1 << bit
				_, _, trailer, err := read(b, dump.Binary)
				if !refused(err) {
					t.Fatalf("byte %d, bit %d flipped: %s, %v", i, bit, trailer, err)
				}
			}
		}
		if _, _, _, err := read(append(whole, 0), dump.Binary); !errors.Is(err, dump.ErrSyntax) {
			t.Errorf("a byte after the end: %v", err)
		}
	}
}

// An entry taken away, changed or added between others is noticed by the root.
func TestC5_RootIsChecked(t *testing.T) {
	whole := string(write(t, dump.JSONLines, dump.Header{Format: store}, randomEntries(20)))
	lines := strings.SplitAfter(whole, "\n")
	lines = lines[:len(lines)-1]
	for i := 1; i < len(lines)-1; i++ {
		without := strings.Join(lines[:i], "") + strings.Join(lines[i+1:], "")
		if _, _, _, err := read([]byte(without), dump.Auto); !errors.Is(err, dump.ErrMismatch) {
			t.Errorf("without line %d: %v", i+1, err)
		}
		other := strings.Replace(lines[i], `"value":"`, `"value":"AAAA`, 1)
		changed := strings.Join(lines[:i], "") + other + strings.Join(lines[i+1:], "")
		if _, _, _, err := read([]byte(changed), dump.Auto); !errors.Is(err, dump.ErrMismatch) {
			t.Errorf("with line %d changed: %v", i+1, err)
		}
		twice := strings.Join(lines[:i+1], "") + lines[i] + strings.Join(lines[i+1:], "")
		if _, _, _, err := read([]byte(twice), dump.Auto); !errors.Is(err, dump.ErrOrder) {
			t.Errorf("with line %d twice: %v", i+1, err)
		}
	}
}

// A length that is not true costs no memory.
func TestFalseLengths(t *testing.T) {
	for _, text := range []string{
		"okradump\x01\x10\x00\x00\x00\x04\x01\x01\x00k\xdf\xff\xff\xff\x0f1234567890",
		"okradump\x01\x10\x00\x00\x00\x04\x01\xff\xff\xff\xff\x0f\x00k",
		"okradump\x01\x10\x00\x00\x00\x04\x01\x01\xff\xff\xff\xff\x0fk",
		"okradump\x01\x10\x00\x00\x00\x04\x01\x01\x00k\xff\xff\xff\xff\x7f1234567890",
		"okradump\x01\x10\x00\x00\x00\x04\x01\x01\x00k\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, _, err := read([]byte(text), dump.Binary)
		runtime.ReadMemStats(&after)
		if !refused(err) {
			t.Errorf("%q: %v", text, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
			t.Errorf("%q: %d bytes allocated", text, used)
		}
	}
}

func TestWriterRefuses(t *testing.T) {
	open := func() *dump.Writer {
		w, err := dump.NewWriter(io.Discard, dump.Binary, dump.Header{Format: store})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(dump.Entry{Key: []byte("m")}); err != nil {
			t.Fatal(err)
		}
		return w
	}
	other := tree.LeafHash(16, []byte("n"), []byte("other"))
	for _, c := range []struct {
		e    dump.Entry
		want error
	}{
		{dump.Entry{Key: []byte("m")}, dump.ErrOrder},
		{dump.Entry{Key: []byte("a")}, dump.ErrOrder},
		{dump.Entry{}, tree.ErrKeyEmpty},
		{dump.Entry{Key: bytes.Repeat([]byte("x"), 511)}, tree.ErrKeyTooLong},
		{dump.Entry{Key: []byte("n"), Value: []byte("value"), Hash: other}, tree.ErrCorrupt},
	} {
		if err := open().Write(c.e); !errors.Is(err, c.want) {
			t.Errorf("%.10q: %v, want %v", c.e.Key, err, c.want)
		}
	}
	w, err := dump.NewWriter(io.Discard, dump.Binary, dump.Header{Format: index})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(dump.Entry{Key: []byte("m")}); !errors.Is(err, tree.ErrHashSize) {
		t.Errorf("an entry without a hash in index mode: %v", err)
	}
	for _, h := range []dump.Header{{}, {Format: tree.Format{K: 16, Q: 4}},
		{Format: tree.Format{K: 3, Q: 4, Mode: tree.Store}}} {
		if _, err := dump.NewWriter(io.Discard, dump.Binary, h); !errors.Is(err, tree.ErrFormat) {
			t.Errorf("header %+v: %v", h, err)
		}
	}
	if _, err := dump.NewWriter(io.Discard, dump.Auto, dump.Header{Format: store}); err == nil {
		t.Error("Auto was written")
	}
}

// A stream that fails gives its error, wherever it fails.
func TestWriterFails(t *testing.T) {
	entries := randomEntries(3000)
	for _, kind := range kinds {
		whole := write(t, kind, dump.Header{Format: store}, entries)
		for room := 0; room < len(whole); room += len(whole)/7 + 1 {
			w, err := dump.NewWriter(&fullDisk{room}, kind, dump.Header{Format: store})
			for i := 0; err == nil && i < len(entries); i++ {
				err = w.Write(entries[i])
			}
			if err == nil {
				_, err = w.Close()
			}
			if !errors.Is(err, errDisk) {
				t.Errorf("%s, full after %d bytes: %v", kind, room, err)
			}
		}
	}
}

var errDisk = errors.New("disk full")

type fullDisk struct{ room int }

func (d *fullDisk) Write(b []byte) (int, error) {
	if len(b) > d.room {
		return 0, errDisk
	}
	d.room -= len(b)
	return len(b), nil
}

func TestParseKind(t *testing.T) {
	for _, k := range append(kinds, dump.Auto) {
		if got, err := dump.ParseKind(k.String()); got != k || err != nil {
			t.Errorf("%s: %v, %v", k, got, err)
		}
	}
	if _, err := dump.ParseKind("xml"); !errors.Is(err, dump.ErrUnknown) {
		t.Errorf("xml: %v", err)
	}
}

package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/okradb/okra-go/okra"
	"github.com/okradb/okra-go/okra/dump"
)

// dumpFile writes a dump of n entries and returns its name.
func dumpFile(t *testing.T, n int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "dump")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	format := okra.Format{K: 16, Q: 32, Mode: okra.Store}
	w, err := dump.NewWriter(f, dump.Binary, dump.Header{Format: format})
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range numbered(n) {
		if err == nil {
			err = w.Write(dump.Entry{Key: e.Key, Value: e.Value})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err = w.Close()
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return name
}

// A store that has to grow begins its transaction again: a file is then read again, and what
// cannot be read again is an error.
func TestL6_DumpIsReadAgain(t *testing.T) {
	name := dumpFile(t, 5000)
	c := cli.NewContext(newApp(), flag.NewFlagSet("", flag.ContinueOnError), nil)
	c.Context = context.Background()
	s, err := openDump(c, name)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, most := range []int{0, 1, 4999, 6000, 6000} {
		n := 0
		for _, err := range s.Entries() {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n >= most {
				break
			}
		}
		if want := min(max(most, 1), 5000); n != want {
			t.Errorf("%d entries, want %d", n, want)
		}
	}
	if s.Trailer().Count != 5000 {
		t.Errorf("the end says %s", s.Trailer())
	}

	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		w.Write(data)
		w.Close()
	}()
	stdin := os.Stdin
	os.Stdin = r
	defer func() { os.Stdin = stdin }()
	p, err := openDump(c, "-")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for i := range 2 {
		n := 0
		for _, err = range p.Entries() {
			if err == nil {
				n++
			}
		}
		switch {
		case i == 0 && (n != 5000 || err != nil):
			t.Errorf("%d entries, %v", n, err)
		case i == 1 && (n != 0 || err == nil || !strings.Contains(err.Error(), "--map-size")):
			t.Errorf("read again: %d entries, %v", n, err)
		}
	}
}

// What is kept aside to be read again is the same in memory and in a file.
func TestSpool(t *testing.T) {
	for _, size := range []int64{0, 1, spoolMemory - 1, spoolMemory, spoolMemory + 1} {
		again, done, err := spool(io.LimitReader(counting{}, size))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := again.Seek(0, io.SeekStart); err != nil {
				t.Fatal(err)
			}
			if n, err := io.Copy(io.Discard, again); n != size || err != nil {
				t.Errorf("%d bytes of %d, %v", n, size, err)
			}
		}
		done()
	}
}

// counting is bytes without end.
type counting struct{}

func (counting) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(i)
	}
	return len(b), nil
}

// A pump passes on what it reads, and gives up when its context ends.
func TestPump(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	text := strings.Repeat("0123456789", pumpSize/5)
	got, err := io.ReadAll(newPump(ctx, strings.NewReader(text)))
	if string(got) != text || err != nil {
		t.Errorf("%d bytes of %d, %v", len(got), len(text), err)
	}
	r, w := io.Pipe()
	defer w.Close()
	p := newPump(ctx, r)
	go func() {
		w.Write([]byte("abc"))
		cancel()
	}()
	if got, err := io.ReadAll(p); !errors.Is(err, context.Canceled) {
		t.Errorf("%q, %v", got, err)
	}
}

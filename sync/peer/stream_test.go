package peer

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	okrasync "github.com/okradb/okra-go/sync"
)

var (
	_ okrasync.Conn = (*Stream)(nil)
	_ okrasync.Conn = (*Process)(nil)
)

// A Stream has all that is written, in both directions, before it is closed.
func TestStreamCarriesAll(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789"), 100_000)
	var w bytes.Buffer
	s := NewStream(bytes.NewReader(data), &w)
	var both sync.WaitGroup
	both.Go(func() {
		if n, err := s.Write(data); n != len(data) || err != nil {
			t.Errorf("wrote %d bytes, %v", n, err)
		}
	})
	got, err := io.ReadAll(s)
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("read %d bytes, %v; want %d", len(got), err, len(data))
	}
	both.Wait()
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if !bytes.Equal(w.Bytes(), data) {
		t.Errorf("the writer has %d bytes, want %d", w.Len(), len(data))
	}
}

// Pipes that block and have no deadlines of their own get some.
func TestStreamDeadlines(t *testing.T) {
	r, feed := io.Pipe()
	defer feed.Close()
	sink, w := io.Pipe()
	defer sink.Close()
	s := NewStream(r, w)
	soon := time.Now().Add(20 * time.Millisecond)
	if err := errors.Join(s.SetReadDeadline(soon), s.SetWriteDeadline(soon)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read: %v, want a timeout", err)
	}
	if n, err := s.Write(make([]byte, 1<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("wrote %d bytes, %v; want a timeout", n, err)
	}
	if err := s.SetDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	go feed.Write([]byte("later"))
	b := make([]byte, 10)
	if n, err := s.Read(b); string(b[:n]) != "later" || err != nil {
		t.Errorf("read %q, %v", b[:n], err)
	}
}

type brokenReader struct{ err error }

func (b brokenReader) Read([]byte) (int, error) { return 0, b.err }

func TestStreamErrors(t *testing.T) {
	broken := errors.New("broken")
	var w failingWriter
	s := NewStream(brokenReader{broken}, w)
	if _, err := s.Read(make([]byte, 1)); !errors.Is(err, broken) {
		t.Errorf("read: %v, want the reader's error", err)
	}
	var err error
	for i := 0; i < 100 && err == nil; i++ {
		_, err = s.Write([]byte(strings.Repeat("x", 100_000)))
	}
	if err == nil {
		t.Error("writing goes on when the writer has failed")
	}
	if err := s.Close(); !errors.Is(err, errFailing) {
		t.Errorf("close: %v, want the writer's error", err)
	}
}

var errFailing = errors.New("failing")

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errFailing }

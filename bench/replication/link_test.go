package replication

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
	"time"
)

func TestLinkDelays(t *testing.T) {
	a, b := Link{RoundTrip: 40 * time.Millisecond, Bandwidth: 8e6}.Pipe()
	sent := bytes.Repeat([]byte("okra"), 5000) // 20 ms at 1 MB/s
	start := time.Now()
	if _, err := a.Write(sent); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(sent))
	if _, err := io.ReadFull(b, got); err != nil || !bytes.Equal(got, sent) {
		t.Fatal("what was read is not what was sent: ", err)
	}
	if took := time.Since(start); took < 40*time.Millisecond {
		t.Errorf("20 kB arrived after %v: sooner than half a round trip and 20 ms", took)
	}
}

func TestLinkDeadlinesAndClose(t *testing.T) {
	a, b := Link{}.Pipe()
	if err := a.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read after the deadline: %v", err)
	}
	// As much as may be under way is written without a deadline, however long that takes.
	if n, err := a.Write(make([]byte, window)); n != window || err != nil {
		t.Errorf("write of what may be under way: %d, %v", n, err)
	}
	if err := a.SetWriteDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := a.Write(make([]byte, window)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("write of more than may be under way: %d, %v", n, err)
	}
	a.Close()
	if n, err := io.Copy(io.Discard, b); n != window || err != nil {
		t.Errorf("after Close %d bytes arrived, %v", n, err)
	}
	if _, err := b.Write([]byte{1}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("write after Close: %v", err)
	}
}

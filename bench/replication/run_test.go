package replication

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"
)

// TestRun measures small replicas. That each session changed as many entries as differ, and that
// the roots are equal after it, Run checks itself.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	report, err := Run(context.Background(), Config{Entries: 3000, Differences: []int{1, 40}, Repetitions: 2,
		Link: Link{RoundTrip: time.Millisecond, Bandwidth: 1e9}, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("%v is left, %v", left, err)
	}
	if want := 2 + 2*5; len(report.Cells) != want {
		t.Fatalf("%d cells, want %d", len(report.Cells), want)
	}
	for _, c := range report.Cells {
		if c.Discovery <= 0 || c.RoundTrips <= 0 || c.Bytes < c.Discovery || c.Sessions != 2 {
			t.Errorf("%+v", c)
		}
		entries := int64(c.Differences) * 40 // bytes that entries take at least
		if c.Kind != Equal && c.Bytes < entries {
			t.Errorf("%s: %d bytes for %d entries", c.Kind, c.Bytes, c.Differences)
		}
		switch c.Kind {
		case Equal, Append, Empty:
			if c.RoundTrips != 1 || c.Discovery > 500 {
				t.Errorf("%s: %d round trips and %d bytes", c.Kind, c.RoundTrips, c.Discovery)
			}
		default:
			if c.RoundTrips > 5 {
				t.Errorf("%s: %d round trips", c.Kind, c.RoundTrips)
			}
		}
	}
	var out bytes.Buffer
	if err := WriteJSON(&out, report); err != nil || !json.Valid(out.Bytes()) {
		t.Errorf("JSON: %v", err)
	}
	if lines := report.Tables()[0].Lines; len(lines) != len(report.Cells)+1 {
		t.Errorf("table of %d lines", len(lines))
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	report, err := Run(ctx, Config{Entries: 1000, Differences: []int{1}, Repetitions: 2, Dir: dir,
		Link: Link{RoundTrip: time.Microsecond},
		Progress: func(cell string, done, total int) {
			if cell == "append, 1 differences" {
				cancel()
			}
		}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if len(report.Cells) != 2 {
		t.Errorf("%d cells are kept, want those of equal and uniform", len(report.Cells))
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("%v is left, %v", left, err)
	}
}

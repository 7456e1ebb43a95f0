package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// runBenchCommand runs okra bench with args and returns its standard output.
func runBenchCommand(ctx context.Context, args ...string) (string, error) {
	var out bytes.Buffer
	app := newApp()
	app.Writer, app.ErrWriter = &out, io.Discard
	err := app.RunContext(ctx, append([]string{"okra", "bench"}, args...))
	return out.String(), err
}

// emptyDir returns a folder that must be empty when the test ends.
func emptyDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() {
		left, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %q, %v", left, err)
		}
	})
	return dir
}

func TestBenchFormats(t *testing.T) {
	small := []string{"--entries", "100,1_0", "--rows", "load,get 1,iterate,set 100", "--iterations", "2",
		"--no-sync", "--dir", emptyDir(t)}

	text, err := runBenchCommand(t.Context(), small...)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Processor", "commits not synced", "100 entries", "10 entries", "load",
		"get random 1 entry", "iterate over all entries", "set random 100 entries", "okra", "lmdb"} {
		if !strings.Contains(text, want) {
			t.Errorf("the tables do not have %q:\n%s", want, text)
		}
	}

	markdown, err := runBenchCommand(t.Context(), append(small, "--markdown")...)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(markdown, "| load | okra | 2 |") {
		t.Errorf("no row of load in:\n%s", markdown)
	}

	out, err := runBenchCommand(t.Context(), append(small, "--csv")...)
	if err != nil {
		t.Fatal(err)
	}
	// A line of names, then 2 sizes, 4 rows and 2 sides.
	if records, err := csv.NewReader(strings.NewReader(out)).ReadAll(); err != nil || len(records) != 17 {
		t.Errorf("%d records, %v, in:\n%s", len(records), err, out)
	}
}

func TestBenchComparesWithItsJSON(t *testing.T) {
	small := []string{"--entries", "100", "--rows", "get 100", "--iterations", "3", "--dir", emptyDir(t)}
	out, err := runBenchCommand(t.Context(), append(small, "--json")...)
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Env     map[string]any
		Results []struct {
			Entries, Iterations int
			Row                 string
			Ratio               float64
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Results) != 1 || report.Results[0].Row != "get random 100 entries" ||
		report.Results[0].Iterations != 3 || report.Results[0].Ratio <= 0 {
		t.Errorf("results %+v", report.Results)
	}

	old := filepath.Join(t.TempDir(), "old.json")
	if err := os.WriteFile(old, []byte(out), 0o644); err != nil {
		t.Fatal(err)
	}
	text, err := runBenchCommand(t.Context(), append(small, "--compare", old)...)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "verdict") {
		t.Errorf("no comparison in:\n%s", text)
	}
	other := append(small, "--compare", old, "--value-size", "9")
	if _, err := runBenchCommand(t.Context(), other...); err == nil {
		t.Error("runs with values of other sizes were compared")
	}
}

// The optional rows have sizes of their own, and lines that go into every format.
func TestBenchOptionalRows(t *testing.T) {
	dir := emptyDir(t)
	out, err := runBenchCommand(t.Context(), "--rows", "wide node", "--iterations", "1", "--json",
		"--no-sync", "--dir", dir)
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Results []struct {
			Entries int
			Row     string
		}
		Notes []string
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Results) != 3 || report.Results[0].Entries != 100_000 || len(report.Notes) != 2 {
		t.Errorf("got %+v", report)
	}

	small := []string{"--entries", "64", "--iterations", "1", "--dir", dir}
	for _, tc := range []struct{ row, format, want string }{
		{"group", "--markdown", "### Notes\n\n- 64 entries, group commit by 1: Batch is "},
		{"group", "--csv", "64,group commit by 64,update,1,"},
		{"gets", "--json", `"writer_commits_per_s": `},
	} {
		out, err := runBenchCommand(t.Context(), append(small, "--rows", tc.row, tc.format)...)
		if err != nil || !strings.Contains(out, tc.want) {
			t.Errorf("%s: error %v, no %q in:\n%s", tc.format, err, tc.want, out)
		}
	}
}

func TestBenchUsage(t *testing.T) {
	dir := emptyDir(t)
	for _, tc := range []struct{ args, want string }{
		{"--json --csv", "exclude each other"},
		{"--csv --markdown", "exclude each other"},
		{"--csv --compare old.json", "exclude each other"},
		{"--entries 0", "2^32"},
		{"--entries 4294967297", "2^32"},
		{"--entries 1k,x", "is no number such as 1000"},
		{"--rows delete", "set random 50k entries"},
		{"--rows group --no-sync", "flush to disk"},
		{"--value-size 0", "--value-size"},
		{"--value-size x", "--value-size"},
		{"--iterations 0", "--iterations"},
		{"--iterations x", "iterations"},
		{"--no-such-flag", "no-such-flag"},
		{"surplus", "surplus"},
	} {
		args := append([]string{"--dir", dir}, strings.Fields(tc.args)...)
		out, err := runBenchCommand(t.Context(), args...)
		if err == nil || codeOf(err) != exitUsage || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v with code %d, want %q with 2", tc.args, err, codeOf(err), tc.want)
		}
		if out != "" {
			t.Errorf("%s: printed %q", tc.args, out)
		}
	}
}

func TestBenchFailures(t *testing.T) {
	notJSON := filepath.Join(t.TempDir(), "old.json")
	if err := os.WriteFile(notJSON, []byte("no json"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"--compare", filepath.Join(t.TempDir(), "none.json")},
		{"--compare", notJSON},
		{"--dir", filepath.Join(t.TempDir(), "none")},
	} {
		out, err := runBenchCommand(t.Context(), args...)
		if err == nil || codeOf(err) != exitFailed || out != "" {
			t.Errorf("%q: error %v, output %q", args, err, out)
		}
	}
}

func TestBenchHelp(t *testing.T) {
	out, err := runBenchCommand(t.Context(), "--help")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"okra bench --entries 50k --rows set", "--compare", "--no-sync"} {
		if !strings.Contains(out, want) {
			t.Errorf("the help does not have %q", want)
		}
	}
}

// Cancelling, as a signal does, ends the run early and leaves no folder.
func TestBenchCancel(t *testing.T) {
	dir := emptyDir(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		defer cancel()
		for ctx.Err() == nil {
			found, err := filepath.Glob(filepath.Join(dir, "okra-bench-*"))
			if err != nil || len(found) > 0 {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	// Far more iterations than fit in the time a test may take.
	out, err := runBenchCommand(ctx, "--entries", "100", "--rows", "get 1", "--iterations", "1000000000",
		"--no-sync", "--dir", dir)
	if codeOf(err) != exitInterrupted {
		t.Errorf("error %v", err)
	}
	if out != "" {
		t.Errorf("printed %q", out)
	}
}

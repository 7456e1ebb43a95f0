package bench

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// sampleReport has figures of all widths, rows of all kinds, three sizes, notes and a comparison.
func sampleReport() Report {
	summary := func(ms, ops float64) Summary {
		return Summary{Min: ms * 0.5, Median: ms, Max: ms * 20, Mean: ms * 1.25, Std: ms * 0.25, Ops: ops}
	}
	beside := Result{Entries: 50_000, Row: "gets by 16 and a writer", Iterations: 500, Ops: 32_000,
		Okra: summary(0.125, 6.4e6), LMDB: summary(0.25, 3.2e6),
		Ratio: 0.5, RatioLow: 0.4, RatioHigh: 0.6, Goroutines: 16, Unit: "gets"}
	beside.Okra.Commits, beside.LMDB.Commits = 1000, 2000.5
	return Report{
		Env: Environment{
			Machine: Machine{
				Processor:  "Example CPU",
				Cores:      2,
				RAM:        16 << 30,
				OS:         "linux debian 12.1",
				Kernel:     "6.1.0",
				FileSystem: "ext4",
				Go:         "go1.26.0",
				LMDB:       "0.9.33",
				Okra:       "v0.1.0",
			},
			Sync: true, Seed: 1, ValueSize: 8,
		},
		Results: []Result{
			{Entries: 1000, Row: "get random 1 entry", Iterations: 5000, Ops: 1,
				Okra: summary(0.003, 266_666.7), LMDB: summary(0.0025, 320_000),
				Ratio: 1.2, RatioLow: 1.1, RatioHigh: 1.25},
			{Entries: 1000, Row: "iterate over all entries", Iterations: 500, Ops: 1000,
				Okra: summary(0.125, 6.4e6), LMDB: summary(0.25, 3.2e6),
				Ratio: 0.5, RatioLow: 0.4, RatioHigh: 0.6},
			{Entries: 1_000_000, Row: "load", Iterations: 3, Ops: 1_000_000,
				Okra: summary(4000, 200_000), LMDB: summary(2000, 400_000),
				Ratio: 2, RatioLow: 1.9, RatioHigh: 2.1},
			{Entries: 50_000, Row: "group commit by 64", Iterations: 50, Ops: 512,
				Okra: summary(12.5, 40_000), LMDB: summary(100, 5000),
				Update: &Other{Summary: summary(125, 4000), Ratio: 0.1, RatioLow: 0.05, RatioHigh: 0.2},
				Ratio:  0.125, RatioLow: 0.1, RatioHigh: 0.15, Goroutines: 64, Unit: "durable writes"},
			beside,
		},
		Notes: []string{"50k entries, a remark", "50k entries, another"},
		Comparison: []Comparison{
			{Entries: 1000, Row: "get random 1 entry",
				Old: Spread{1.25, 1.2, 1.3}, New: Spread{1.2, 1.1, 1.25},
				Change: 0.96, Verdict: VerdictSame},
			{Entries: 1000, Row: "iterate over all entries",
				Old: Spread{1, 0.9, 1.1}, New: Spread{0.5, 0.4, 0.6},
				Change: 0.5, Verdict: VerdictFaster},
			{Entries: 1_000_000, Row: "load", New: Spread{2, 1.9, 2.1}, Verdict: VerdictNew},
		},
	}
}

func TestFormats(t *testing.T) {
	for name, write := range map[string]func(io.Writer, Report) error{
		"report.txt": WriteText, "report.md": WriteMarkdown, "report.csv": WriteCSV,
		"report.json": WriteJSON,
	} {
		var out bytes.Buffer
		if err := write(&out, sampleReport()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		// A checkout may have turned line ends into those of Windows.
		want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))
		if !bytes.Equal(out.Bytes(), want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, out.Bytes(), want)
		}
	}
}

func TestTextFitsTheScreen(t *testing.T) {
	var out bytes.Buffer
	if err := WriteText(&out, sampleReport()); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestJSONIsReadBack(t *testing.T) {
	var out bytes.Buffer
	if err := WriteJSON(&out, sampleReport()); err != nil {
		t.Fatal(err)
	}
	got, err := ReadJSON(&out)
	if err != nil {
		t.Fatal(err)
	}
	if want := sampleReport(); !reflect.DeepEqual(*got, want) {
		t.Errorf("got %+v, want %+v", *got, want)
	}
	for _, s := range []string{"", "{}", "[]", `{"results":[]}`, "no json"} {
		if _, err := ReadJSON(strings.NewReader(s)); err == nil {
			t.Errorf("%q: want an error", s)
		}
	}
}

// The names are what other programs read.
func TestJSONNames(t *testing.T) {
	var out bytes.Buffer
	if err := WriteJSON(&out, sampleReport()); err != nil {
		t.Fatal(err)
	}
	var object struct {
		Env     map[string]any
		Results []map[string]any
	}
	if err := json.Unmarshal(out.Bytes(), &object); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"entries", "row", "iterations", "okra", "lmdb", "ratio"} {
		if _, ok := object.Results[0][name]; !ok {
			t.Errorf("a result has no %q", name)
		}
	}
	side, ok := object.Results[0]["okra"].(map[string]any)
	if !ok {
		t.Fatal("okra is no object")
	}
	for _, name := range []string{"min_ms", "median_ms", "max_ms", "mean_ms", "std_ms", "ops_per_s"} {
		if _, ok := side[name]; !ok {
			t.Errorf("a side has no %q", name)
		}
	}
}

func TestFormatMS(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0.00000", 0.0031234: "0.00312", 0.5: "0.5000", 1.25: "1.250", 12.345: "12.35",
		123.45: "123.5", 4000: "4000", 80000.4: "80000",
	} {
		if got := FormatFigure(x); got != want {
			t.Errorf("FormatFigure(%v) = %q, want %q", x, got, want)
		}
	}
}

// failingWriter refuses every write.
type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestFormatsReportFailedWrites(t *testing.T) {
	for i, write := range []func(io.Writer, Report) error{WriteText, WriteMarkdown, WriteCSV, WriteJSON} {
		if err := write(failingWriter{}, sampleReport()); err == nil {
			t.Errorf("format %d: no error", i)
		}
	}
}

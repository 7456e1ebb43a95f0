package suite

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/okradb/okra-go/bench"
)

// resultOf returns a cell with the values of two sides.
func resultOf(name string, higher bool, okra, lmdb []float64) Result {
	measured := make([][]Measurement, 2)
	for i, values := range [][]float64{okra, lmdb} {
		for _, v := range values {
			measured[i] = append(measured[i], Measurement{Value: v, Ops: 1, PeakMemory: 3 << 20, FileSize: 4096})
		}
	}
	c := Cell{Group: "Gets", Name: name, Unit: "µs", Higher: higher, Ops: 1, DataSize: 1 << 30,
		Params: []Param{{"entries", "1M"}, {"order", name}}, Sides: []Side{{Name: "okra"}, {Name: "lmdb"}}}
	machine := bench.Machine{Processor: "Example", Cores: 2, RAM: 4 << 30}
	r := runner{suite: Suite{Name: "test"}, options: Options{Repetitions: len(okra), Seed: 1}, machine: machine}
	return r.newResult(c, measured)
}

func TestFileIsAddedTo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.jsonl")
	want := []Result{
		resultOf("a", false, []float64{1, 2, 3}, []float64{4, 5, 6}),
		resultOf("b", true, []float64{1}, []float64{4}),
	}
	for _, r := range want {
		file, err := Append(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(file.Add(r), file.Close()); err != nil {
			t.Fatal(err)
		}
		// What a machine that went down may leave; the next Append removes it.
		cut, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cut.WriteString(`{"version":1,"suite":"te`); err != nil {
			t.Fatal(err)
		}
		cut.Close()
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(bytes.NewReader(data))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v, want %+v", got, err, want)
	}
	if !strings.HasPrefix(string(data), lineBegin) {
		t.Errorf("a line begins with %.20s", data)
	}
}

// A file that is no file of results stays as it is.
func TestFileOfOtherThings(t *testing.T) {
	var line bytes.Buffer
	if err := WriteJSON(&line, []Result{resultOf("a", false, []float64{1}, []float64{4})}); err != nil {
		t.Fatal(err)
	}
	good := line.String()
	for name, text := range map[string]string{
		"no end":          "my only notes",
		"text":            "my notes\nand more\n",
		"another object":  "{}\n",
		"another version": strings.Replace(good, `"version":1`, `"version":2`, 1),
		"in the middle":   good + "{\n" + good,
		"empty line":      good + "\n",
		"no figures":      strings.Replace(good, `"median":1`, `"median":0`, 1),
		"no measurements": strings.Replace(good, `"measurements":[{`, `"measurements":[],"x":[{`, 1),
		"no sides":        good[:strings.Index(good, `"sides":`)] + `"sides":[]}` + "\n",
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Append(path); !errors.Is(err, ErrResults) {
			t.Errorf("%s: error %v", name, err)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != text {
			t.Errorf("%s: the file has changed, %v", name, err)
		}
		if name == "no end" {
			continue // for a reader it is a last line that was cut
		}
		if _, err := Read(strings.NewReader(text)); !errors.Is(err, ErrResults) {
			t.Errorf("%s: read gives %v", name, err)
		}
	}
	if _, err := Append(t.TempDir()); err == nil {
		t.Error("a folder was opened")
	}
}

// zeros is a line that never ends.
type zeros struct{ read int }

func (z *zeros) Read(p []byte) (int, error) {
	clear(p)
	z.read += len(p)
	return len(p), nil
}

func TestReadHasLimits(t *testing.T) {
	line := &zeros{}
	if _, err := Read(line); !errors.Is(err, ErrResults) {
		t.Errorf("error %v", err)
	}
	if line.read > maxLine+1<<20 {
		t.Errorf("%d bytes read", line.read)
	}
}

func FuzzRead(f *testing.F) {
	var line bytes.Buffer
	if err := WriteJSON(&line, []Result{resultOf("a", true, []float64{1, 2}, []float64{4, 5})}); err != nil {
		f.Fatal(err)
	}
	f.Add(line.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		results, err := Read(bytes.NewReader(data))
		if err != nil && !errors.Is(err, ErrResults) {
			t.Fatal(err)
		}
		// What was read can be shown.
		var out bytes.Buffer
		if err := errors.Join(WriteText(&out, Suite{}, results), WriteMarkdown(&out, Suite{}, results)); err != nil {
			t.Fatal(err)
		}
	})
}

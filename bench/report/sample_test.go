package report

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"github.com/okradb/okra-go/bench"
	"github.com/okradb/okra-go/bench/suite"
)

// evil is a name that would be markup, break a table or a line, or run a script.
const evil = "<script>alert(1)</script> | `x` *b* [a](javascript:x) \x1b[31m\nnext \u202e\" '"

var machine = bench.Machine{Processor: "Example CPU", Cores: 2, RAM: 16 << 30, OS: "linux debian 12.1",
	Kernel: "6.1.0", FileSystem: "ext4", Go: "go1.26.0", LMDB: "0.9.33", Okra: "v0.1.0"}

// side returns the result of a side that has measured values.
func side(name string, values ...float64) suite.SideResult {
	stats := bench.Statistics(values)
	s := suite.SideResult{Name: name, Median: stats.Median, Min: stats.Min, Max: stats.Max, Mean: stats.Mean,
		Std: stats.Std, PeakMemory: 11 << 20, FileSize: 1 << 20}
	for _, v := range values {
		s.Measurements = append(s.Measurements, suite.Measurement{Value: v, Ops: 10, FileSize: 1 << 20})
	}
	return s
}

func absent(name, why string) suite.SideResult { return suite.SideResult{Name: name, Absent: why} }

// cell returns a result, with the verdicts that a run would give.
func cell(group, name string, higher bool, params []suite.Param, sides ...suite.SideResult) suite.Result {
	r := suite.Result{Version: suite.Version, Suite: "sample", Group: group, Name: name, Params: params,
		Unit: "µs/write", Higher: higher, Ops: 10, DataSize: 1 << 30, Repetitions: 3, Seed: 1,
		Finished: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Machine: machine, Sides: sides}
	for i := range sides {
		first, s := &r.Sides[0], &r.Sides[i]
		if i == 0 || first.Absent != "" || s.Absent != "" {
			continue
		}
		a, b := first, s
		if higher {
			a, b = s, first
		}
		s.Ratio = a.Median / b.Median
		s.Verdict = bench.Judge(bench.Spread{Mid: b.Median, Low: b.Min, High: b.Max},
			bench.Spread{Mid: a.Median, Low: a.Min, High: a.Max})
	}
	return r
}

func params(pairs ...string) []suite.Param {
	var all []suite.Param
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, suite.Param{Name: pairs[i], Value: pairs[i+1]})
	}
	return all
}

// timeline returns side s with a timeline of n seconds in each measurement.
func timeline(s suite.SideResult, n int) suite.SideResult {
	for i := range s.Measurements {
		m := &s.Measurements[i]
		m.TimelineStep = 1
		for k := range n {
			m.Timeline = append(m.Timeline, m.Value*(1+0.3*math.Sin(float64(k))))
		}
	}
	return s
}

// sampleResults are of all kinds: several sizes, several rivals, timelines, an absent side, one
// repetition, long names and evil ones.
func sampleResults() []suite.Result {
	var all []suite.Result
	for i, rows := range []string{"100", "1,600", "100k", "2M"} {
		for k, name := range []string{"memory", "durable"} {
			x := math.Pow(8, float64(i)) * float64(1+9*k)
			all = append(all, cell("Puts", name, false, params("rows", rows, "value", "100 B"),
				side("okra", 3*x, 3.2*x, 4*x), side("lmdb", x, 1.1*x, 2*x)))
		}
	}
	all = append(all,
		cell("Group commit", "durable writes", true, params("writers", "64"),
			side("okra", 900, 1000, 1100), side("okra Update", 90, 100, 110), side("lmdb", 50, 60, 70)),
		cell("Dump", "export", false, params("keys", "200", "format", "mdb_dump"),
			side("okra", 5, 5.1, 5.3), absent("mdb_dump", "mdb_dump is not installed")),
		cell("Once", "one repetition", false, nil, side("okra", 5), side("lmdb", 1)),
		cell("Once", evil, false, params(evil, evil), side(evil, 1, 2, 3), side("lmdb", 1, 2, 3), side("lmdb "+evil, 4, 5, 6)),
		cell("Once", "a name that goes on and on "+string(bytes.Repeat([]byte("longer"), 40)), false, nil,
			side("okra", 1e-9, 1e-9, 1e-9), side("lmdb", 1e9, 1e9, 1e9)),
		cell("YCSB-E", "scans and inserts", true, params("value", "1 KiB", "goroutines", "16"),
			timeline(side("okra", 5000, 5200, 5400), 60), timeline(side("lmdb", 4000, 4300, 4400), 60)),
	)
	return all
}

// benchRun reads the run of okra bench that package bench keeps.
func benchRun(t testing.TB) Input {
	t.Helper()
	data, err := os.ReadFile("../testdata/report.json")
	if err != nil {
		t.Fatal(err)
	}
	input, err := Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return input
}

// sampleSuites has the suite of the results, with a table of what follows from them.
func sampleSuites() []suite.Suite {
	return []suite.Suite{{Name: "sample", Usage: "what a report can show",
		Derive: func(results []suite.Result) []bench.Table {
			return []bench.Table{{Title: "Winners", Labels: 1, Lines: [][]string{
				{"cell", "verdict"}, {"Puts", "LOSE 3.20"}, {"cells", fmt.Sprintf("WIN of %d", len(results))},
			}}}
		}}}
}

func sampleReport(t testing.TB) *Report {
	t.Helper()
	written := new(bytes.Buffer)
	if err := suite.WriteJSON(written, sampleResults()); err != nil {
		t.Fatal(err)
	}
	input, err := Read(written)
	if err != nil {
		t.Fatal(err)
	}
	r, err := New([]Input{input, benchRun(t)}, sampleSuites())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

package suite

import (
	"time"

	"github.com/okradb/okra-go/bench"
)

// Version is that of the format of results. [Read] reads no other.
const Version = 1

// Result is a finished cell.
type Result struct {
	Version     int           `json:"version"`
	Suite       string        `json:"suite"`
	Group       string        `json:"group"`
	Name        string        `json:"name"`
	Params      []Param       `json:"params"`
	Unit        string        `json:"unit"`
	Higher      bool          `json:"higher_is_better"`
	Ops         int64         `json:"ops"` // of each measurement
	DataSize    int64         `json:"data_size_bytes"`
	Quick       bool          `json:"quick"`
	Repetitions int           `json:"repetitions"`
	Seed        uint64        `json:"seed"`
	Started     time.Time     `json:"started,omitzero"` // when its run began: what tells runs apart
	Cells       int           `json:"cells,omitempty"`  // that its run was to measure; 0 if it does not say
	Finished    time.Time     `json:"finished"`
	Machine     bench.Machine `json:"machine"`
	Sides       []SideResult  `json:"sides"` // in the order of the cell, at least one is present
}

// SideResult is one side of a [Result]: statistics of its measurements, and these.
type SideResult struct {
	Name   string `json:"name"`
	Absent string `json:"absent,omitempty"` // why there is nothing else

	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	Mean   float64 `json:"mean"`
	Std    float64 `json:"std"`

	P50        float64 `json:"p50_us,omitempty"` // medians of the measurements'
	P99        float64 `json:"p99_us,omitempty"`
	PeakMemory int64   `json:"peak_memory_bytes"` // the most of the measurements'
	FileSize   int64   `json:"file_size_bytes"`

	// Ratio is the cost of the first side over that of this one, below 1 if the first is better:
	// of the medians where lower values are better, and the other way around where higher are.
	// Verdict says what that is worth, as [Result.Judge] does. The first side itself, and one that
	// is absent or beside an absent first, have 0 and "".
	Ratio   float64 `json:"ratio,omitempty"`
	Verdict string  `json:"verdict,omitempty"`

	Measurements []Measurement `json:"measurements"` // in the order of the repetitions
}

// Side returns the side of that name, if it is present.
func (r Result) Side(name string) (SideResult, bool) {
	for _, s := range r.Sides {
		if s.Name == name && s.Absent == "" {
			return s, true
		}
	}
	return SideResult{}, false
}

// Param returns the value of the parameter of that name, or "".
func (r Result) Param(name string) string {
	for _, p := range r.Params {
		if p.Name == name {
			return p.Value
		}
	}
	return ""
}

func (r *runner) newResult(c Cell, measured [][]Measurement) Result {
	o := r.options
	result := Result{
		Version: Version, Suite: r.suite.Name, Group: c.Group, Name: c.Name, Params: c.Params,
		Unit: c.Unit, Higher: c.Higher, Ops: c.Ops, DataSize: c.DataSize,
		Quick: o.Quick, Repetitions: o.Repetitions, Seed: o.Seed,
		Started: r.started, Cells: r.cells, Finished: time.Now().UTC().Truncate(time.Second), Machine: r.machine,
	}
	for i, side := range c.Sides {
		result.Sides = append(result.Sides, newSideResult(side, measured[i]))
	}
	result.judge()
	return result
}

// newSideResult requires at least one measurement of a side that is present.
func newSideResult(side Side, measured []Measurement) SideResult {
	s := SideResult{Name: side.Name, Absent: side.Absent, Measurements: measured}
	if side.Absent != "" {
		return s
	}
	of := func(figure func(Measurement) float64) []float64 {
		var all []float64
		for _, m := range measured {
			all = append(all, figure(m))
		}
		return all
	}
	stats := bench.Statistics(of(func(m Measurement) float64 { return m.Value }))
	s.Median, s.Min, s.Max, s.Mean, s.Std = stats.Median, stats.Min, stats.Max, stats.Mean, stats.Std
	s.P50 = bench.Statistics(of(func(m Measurement) float64 { return m.P50 })).Median
	s.P99 = bench.Statistics(of(func(m Measurement) float64 { return m.P99 })).Median
	for _, m := range measured {
		s.PeakMemory = max(s.PeakMemory, m.PeakMemory)
		s.FileSize = max(s.FileSize, m.FileSize)
	}
	return s
}

// judge sets the ratios and verdicts of r.
func (r *Result) judge() {
	first := r.Sides[0]
	for i := range r.Sides {
		s := &r.Sides[i]
		if i == 0 || first.Absent != "" || s.Absent != "" {
			continue
		}
		s.Ratio, s.Verdict = r.Judge(first, *s)
	}
}

// minRepetitions is how many measurements of each side make a range: one value, or two, overlap
// with nothing by chance.
const minRepetitions = 3

// Judge returns the cost of side over that of rival, two sides of r that are present, and what that
// is worth: [bench.VerdictFaster], [bench.VerdictSlower] or [bench.VerdictSame], of side. Fewer
// than three measurements of either are worth nothing, which is the same.
func (r Result) Judge(side, rival SideResult) (ratio float64, verdict string) {
	before, after := rival.spread(), side.spread()
	if r.Higher {
		before, after = after, before
	}
	ratio = after.Mid / before.Mid
	if min(len(side.Measurements), len(rival.Measurements)) < minRepetitions {
		return ratio, bench.VerdictSame
	}
	return ratio, bench.Judge(before, after)
}

func (s SideResult) spread() bench.Spread {
	return bench.Spread{Mid: s.Median, Low: s.Min, High: s.Max}
}

package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Report is a run: where it ran, and what it measured.
type Report struct {
	Env        Environment  `json:"env"`
	Results    []Result     `json:"results"`
	Notes      []string     `json:"notes,omitempty"`      // remarks of rows on their results
	Comparison []Comparison `json:"comparison,omitempty"` // with the baseline, if there was one
}

// Result is one row at one size.
type Result struct {
	Entries    int     `json:"entries"` // in the store
	Row        string  `json:"row"`
	Iterations int     `json:"iterations"` // timed ones
	Ops        int     `json:"ops"`        // entries touched by an iteration
	Okra       Summary `json:"okra"`
	LMDB       Summary `json:"lmdb"`
	Update     *Other  `json:"update,omitempty"` // see [Row]; nil if the row has none

	// Ratio is the median time of okra over that of lmdb: below 1 okra is faster. Iterations are
	// run in pairs, one of each side; RatioLow and RatioHigh are the quartiles of the ratios of
	// the pairs.
	Ratio     float64 `json:"ratio"`
	RatioLow  float64 `json:"ratio_low"`
	RatioHigh float64 `json:"ratio_high"`

	Goroutines int    `json:"goroutines,omitempty"` // that did the work; 0 if the row uses none
	Unit       string `json:"unit,omitempty"`       // of Ops, if not entries
}

// Other is the statistics of okra's other way to do the work of a row, and the ratio of the time
// of okra's first way to its own: below 1 the first is faster.
type Other struct {
	Summary
	Ratio     float64 `json:"ratio"`
	RatioLow  float64 `json:"ratio_low"`
	RatioHigh float64 `json:"ratio_high"`
}

// series is what one side did in the timed iterations of a row.
type series struct {
	times   []time.Duration
	commits int // of the writer beside it, during the times
}

// newResult requires at least one time of each side, and as many of one as of the others.
func newResult(entries int, row Row, all []series) Result {
	ops := row.Ops(entries)
	okra, lmdb := all[0], all[1]
	r := Result{
		Entries:    entries,
		Row:        row.Name,
		Iterations: len(okra.times),
		Ops:        ops,
		Okra:       summarize(okra.times, ops),
		LMDB:       summarize(lmdb.times, ops),
		Goroutines: row.Goroutines,
		Unit:       row.Unit,
	}
	r.Ratio = ratio(r.Okra.Median, r.LMDB.Median)
	r.RatioLow, r.RatioHigh = ratioRange(okra.times, lmdb.times)
	r.Okra.Commits, r.LMDB.Commits = okra.rate(), lmdb.rate()
	if len(all) > 2 {
		other := Other{Summary: summarize(all[2].times, ops)}
		other.Ratio = ratio(r.Okra.Median, other.Median)
		other.RatioLow, other.RatioHigh = ratioRange(okra.times, all[2].times)
		r.Update = &other
	}
	return r
}

// rate returns commits per second.
func (s series) rate() float64 {
	var sum time.Duration
	for _, t := range s.times {
		sum += t
	}
	return float64(s.commits) / max(sum, 1).Seconds()
}

// ReadJSON reads a report that [WriteJSON] wrote.
func ReadJSON(r io.Reader) (*Report, error) {
	var report Report
	if err := json.NewDecoder(r).Decode(&report); err != nil {
		return nil, fmt.Errorf("read benchmark report: %w", err)
	}
	if len(report.Results) == 0 {
		return nil, errors.New("read benchmark report: it has no results")
	}
	return &report, nil
}

// WriteJSON writes report as one JSON object. Field names carry the units.
func WriteJSON(w io.Writer, report Report) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(report)
}

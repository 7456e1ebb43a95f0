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

	// Ratio is the median time of okra over that of lmdb: below 1 okra is faster. Iterations are
	// run in pairs, one of each side; RatioLow and RatioHigh are the quartiles of the ratios of
	// the pairs.
	Ratio     float64 `json:"ratio"`
	RatioLow  float64 `json:"ratio_low"`
	RatioHigh float64 `json:"ratio_high"`
}

// newResult requires at least one time of each side, and as many of one as of the other.
func newResult(entries int, row Row, times [2][]time.Duration) Result {
	ops := row.Ops(entries)
	r := Result{
		Entries:    entries,
		Row:        row.Name,
		Iterations: len(times[0]),
		Ops:        ops,
		Okra:       summarize(times[0], ops),
		LMDB:       summarize(times[1], ops),
	}
	r.Ratio = ratio(r.Okra.Median, r.LMDB.Median)
	r.RatioLow, r.RatioHigh = ratioRange(times[0], times[1])
	return r
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

package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/okradb/okra-go/bench"
	"github.com/okradb/okra-go/bench/suite"
)

// The limits of what is read.
const (
	maxFile   = 64 << 20 // bytes
	maxCells  = 10_000   // of a report
	maxFigure = 1e15     // of what is measured, in its unit
	maxParts  = 32       // parameters or sides of a cell, and parameters of all cells of a section
)

// Input is what a file holds: results of suites, or a run of okra bench.
type Input struct {
	Name    string // of the file, for notes on it; may be "". Read leaves it so
	Cut     bool   // its last line was cut, and is left out
	Results []suite.Result
	Bench   *bench.Report // nil if there are Results
}

// Read reads what okra bench SUITE --results or okra bench --json has written. A last result of a
// suite that was cut, as by a full disk, is left out. A file without a whole result, that is too
// large, or is something else, or has figures that no table can show, gives an error that wraps
// [suite.ErrResults].
func Read(r io.Reader) (Input, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	switch {
	case err != nil:
		return Input{}, err
	case len(data) > maxFile:
		return Input{}, wrong("larger than %d MiB", maxFile>>20)
	case len(bytes.TrimSpace(data)) == 0:
		return Input{}, wrong("the file is empty: no cell of its run was finished")
	case bytes.HasPrefix(data, []byte(`{"version":`)):
		return readResults(data)
	}
	return readBench(data)
}

// wrong returns an error that wraps suite.ErrResults.
func wrong(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{suite.ErrResults}, args...)...)
}

func readResults(data []byte) (Input, error) {
	results, err := suite.Read(bytes.NewReader(data))
	if err != nil {
		return Input{}, err
	}
	if len(results) == 0 {
		return Input{}, wrong("its only line is cut: no cell of its run was finished")
	}
	for i, r := range results {
		if len(r.Params) > maxParts || len(r.Sides) > maxParts {
			return Input{}, wrong("line %d: a cell of more than %d parameters or sides", i+1, maxParts)
		}
		for _, s := range r.Sides {
			if s.Absent == "" && !shown(append(measured(s), s.Min, s.Median, s.Max, s.Mean, s.Std, s.P50, s.P99, s.Ratio)...) {
				return Input{}, wrong("line %d: side %q has a figure below 0 or above %g", i+1, s.Name, maxFigure)
			}
		}
	}
	return Input{Results: results, Cut: data[len(data)-1] != '\n'}, nil
}

// measured returns the figures of all measurements of s.
func measured(s suite.SideResult) []float64 {
	var all []float64
	for _, m := range s.Measurements {
		all = append(append(all, m.Value, m.P50, m.P99), m.Timeline...)
	}
	return all
}

// shown is whether a table has a place for each of figures.
func shown(figures ...float64) bool {
	for _, x := range figures {
		if !(x >= 0 && x <= maxFigure) {
			return false
		}
	}
	return true
}

func readBench(data []byte) (Input, error) {
	if !json.Valid(data) {
		return Input{}, wrong("neither lines of JSON from a suite nor one object from okra bench --json; it may be cut")
	}
	run, err := bench.ReadJSON(bytes.NewReader(data))
	if err != nil {
		return Input{}, wrong("%v", err)
	}
	for i, r := range run.Results {
		if err := checkRow(r); err != nil {
			return Input{}, wrong("result %d: %v", i+1, err)
		}
	}
	return Input{Bench: run}, nil
}

// checkRow returns an error unless r is what a run could have measured.
func checkRow(r bench.Result) error {
	if r.Row == "" || r.Entries < 1 || r.Iterations < 1 {
		return errors.New("a row without name, entries or iterations")
	}
	sides := []bench.Summary{r.Okra, r.LMDB}
	ratios := []bench.Spread{{Mid: r.Ratio, Low: r.RatioLow, High: r.RatioHigh}}
	if r.Update != nil {
		sides = append(sides, r.Update.Summary)
		ratios = append(ratios, bench.Spread{Mid: r.Update.Ratio, Low: r.Update.RatioLow, High: r.Update.RatioHigh})
	}
	for _, s := range sides {
		if !(s.Min <= s.Median && s.Median <= s.Max) || !shown(s.Min, s.Max, s.Mean, s.Std, s.Ops) {
			return fmt.Errorf("row %q without sound figures", r.Row)
		}
	}
	for _, s := range ratios {
		if !(s.Mid > 0 && s.Low > 0 && s.Low <= s.High) || !shown(s.Mid, s.High) {
			return fmt.Errorf("row %q without a sound ratio", r.Row)
		}
	}
	return nil
}

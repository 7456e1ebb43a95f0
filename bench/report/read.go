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
	maxFile  = 64 << 20 // bytes
	maxCells = 10_000   // of a report
	maxParts = 32       // parameters or sides of a cell, and parameters of all cells of a section
)

// Input is what a file holds: results of suites, or a run of okra bench.
type Input struct {
	Results []suite.Result
	Bench   *bench.Report // nil if there are Results
}

// Read reads what okra bench SUITE --results or okra bench --json has written. A file that is
// empty, cut, too large or something else gives an error that wraps [suite.ErrResults].
func Read(r io.Reader) (Input, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	switch {
	case err != nil:
		return Input{}, err
	case len(data) > maxFile:
		return Input{}, wrong("larger than %d MiB", maxFile>>20)
	case len(bytes.TrimSpace(data)) == 0:
		return Input{}, wrong("the file is empty")
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
	if data[len(data)-1] != '\n' {
		return Input{}, wrong("the last line is cut; remove it, or let a run with --results add to the file")
	}
	results, err := suite.Read(bytes.NewReader(data))
	if err != nil {
		return Input{}, err
	}
	for i, r := range results {
		if len(r.Params) > maxParts || len(r.Sides) > maxParts {
			return Input{}, wrong("line %d: a cell of more than %d parameters or sides", i+1, maxParts)
		}
	}
	return Input{Results: results}, nil
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
		if !(s.Min >= 0 && s.Min <= s.Median && s.Median <= s.Max) {
			return fmt.Errorf("row %q without sound figures", r.Row)
		}
	}
	for _, s := range ratios {
		if !(s.Mid > 0 && s.Low > 0 && s.Low <= s.High) {
			return fmt.Errorf("row %q without a sound ratio", r.Row)
		}
	}
	return nil
}

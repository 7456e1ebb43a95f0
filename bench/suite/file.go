package suite

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/okradb/okra-go/bench"
)

// The limits of a file of results.
const (
	maxLine    = 64 << 20 // bytes
	maxResults = 100_000
)

// ErrResults is the error of a file that does not hold results.
var ErrResults = errors.New("no benchmark results")

// Read returns the results that [Append] has written, in order. A last line that was cut, as when
// the machine went down, is left out. Anything else that is no result gives ErrResults.
func Read(r io.Reader) ([]Result, error) {
	results, _, err := read(r)
	return results, err
}

// read also returns the number of bytes up to where the last whole line ends.
func read(r io.Reader) (results []Result, whole int64, err error) {
	lines := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		line, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			return results, whole, nil // of a last line without an end nothing is known
		}
		if err != nil {
			return nil, 0, fmt.Errorf("line %d: %w", n, err)
		}
		if len(results) == maxResults {
			return nil, 0, fmt.Errorf("%w: more than %d lines", ErrResults, maxResults)
		}
		var result Result
		if err := json.Unmarshal(line, &result); err != nil {
			return nil, 0, fmt.Errorf("%w: line %d: %v", ErrResults, n, err)
		}
		if err := result.check(); err != nil {
			return nil, 0, fmt.Errorf("%w: line %d: %v", ErrResults, n, err)
		}
		results = append(results, result)
		whole += int64(len(line))
	}
}

// readLine returns the next line with its end, or io.EOF if there is none that has an end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			return nil, fmt.Errorf("%w: longer than %d bytes", ErrResults, maxLine)
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// check returns an error unless r is what a run could have measured, so that nobody who reads it
// divides by nothing.
func (r Result) check() error {
	switch {
	case r.Version != Version:
		return fmt.Errorf("format version %d, this program reads %d", r.Version, Version)
	case r.Suite == "" || r.Group == "" || r.Name == "":
		return errors.New("a cell without suite, group or name")
	case len(r.Sides) == 0 || r.Ops < 1:
		return errors.New("a cell without sides or operations")
	}
	for _, s := range r.Sides {
		present := s.Absent == ""
		if s.Name == "" || present != (len(s.Measurements) > 0) ||
			present && !(s.Min > 0 && s.Min <= s.Median && s.Median <= s.Max) {
			return fmt.Errorf("side %q without sound figures", s.Name)
		}
		switch s.Verdict {
		case "":
		case bench.VerdictFaster, bench.VerdictSlower, bench.VerdictSame:
			if !(s.Ratio > 0) || !present || r.Sides[0].Absent != "" {
				return fmt.Errorf("side %q with a verdict on nothing", s.Name)
			}
		default:
			return fmt.Errorf("side %q with the verdict %q", s.Name, s.Verdict)
		}
		for _, m := range s.Measurements {
			if !(m.Value > 0) {
				return fmt.Errorf("side %q has measured %v", s.Name, m.Value)
			}
		}
	}
	return nil
}

// File is a file of results that is added to.
type File struct{ file *os.File }

// Append opens the file of results at path, or makes it, to add to it. A last line that was cut
// is removed. A file that holds something else gives ErrResults and stays as it is.
func Append(path string) (*File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open results: %w", err)
	}
	if err := mend(file); err != nil {
		return nil, errors.Join(fmt.Errorf("add to %s: %w", path, err), file.Close())
	}
	return &File{file}, nil
}

// mend removes what stands after the last whole line of file, if it is the begin of a result.
func mend(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: not a regular file", ErrResults)
	}
	_, whole, err := read(file)
	if err != nil || whole == info.Size() {
		return err
	}
	begin := make([]byte, min(int64(len(lineBegin)), info.Size()-whole))
	if _, err := file.ReadAt(begin, whole); err != nil {
		return err
	}
	if string(begin) != lineBegin[:len(begin)] {
		return fmt.Errorf("%w: its last line is no result", ErrResults)
	}
	return file.Truncate(whole)
}

// lineBegin is how each line begins.
const lineBegin = `{"version":`

// Add writes result as a line, at once.
func (f *File) Add(result Result) error {
	if err := WriteJSON(f.file, []Result{result}); err != nil {
		return fmt.Errorf("keep result: %w", err)
	}
	return nil
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// WriteJSON writes results as JSON, a line for each, as [Read] reads them.
func WriteJSON(w io.Writer, results []Result) error {
	encoder := json.NewEncoder(w) // makes one write of each line
	for _, result := range results {
		if err := encoder.Encode(result); err != nil {
			return err
		}
	}
	return nil
}

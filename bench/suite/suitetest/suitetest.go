// Package suitetest is what the tests of the suites share.
package suitetest

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/okradb/okra-go/bench"
	"github.com/okradb/okra-go/bench/suite"
)

// EmptyAtEnd fails t if anything is in dir when t has ended.
func EmptyAtEnd(t *testing.T, dir string) {
	t.Helper()
	t.Cleanup(func() {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}

// Want has the check of a side fail, too, if what is left is not what want returns for the
// repetition.
func Want(side *suite.Side, want func(*suite.Rep) (bench.Contents, error)) {
	check := side.Check
	side.Check = func(r *suite.Rep) (bench.Contents, error) {
		got, err := check(r)
		if err != nil {
			return got, err
		}
		wanted, err := want(r)
		if err == nil && got != wanted {
			err = fmt.Errorf("it holds %+v, want %+v", got, wanted)
		}
		return got, err
	}
}

// Timed has a side of c fail, too, if its value is not a time of its work: longer than Run took, or
// shorter than half of its operations.
func Timed(c suite.Cell, side *suite.Side) {
	const rounding = time.Microsecond
	run := side.Run
	side.Run = func(r *suite.Rep) (suite.Measurement, error) {
		start := time.Now()
		m, err := run(r)
		most := time.Since(start)
		if err != nil {
			return m, err
		}
		took, err := timeOf(c.Unit, m)
		least := time.Duration(m.P50 * float64(time.Microsecond))
		if err == nil && (took > most+rounding || took < least-rounding) {
			err = fmt.Errorf("%v %s of %d operations are %v, not between %v and %v", m.Value, c.Unit, m.Ops, took, least, most)
		}
		return m, err
	}
}

// timeOf returns what a value in unit says of the time of all operations of m.
func timeOf(unit string, m suite.Measurement) (time.Duration, error) {
	ops := float64(m.Ops)
	switch {
	case unit == "ms":
		return time.Duration(m.Value * float64(time.Millisecond)), nil
	case strings.HasPrefix(unit, "µs/"):
		return time.Duration(m.Value * ops * float64(time.Microsecond)), nil
	case strings.HasSuffix(unit, "/s"):
		return time.Duration(ops / m.Value * float64(time.Second)), nil
	}
	return 0, fmt.Errorf("no time is known in %q", unit)
}

// LastTransaction returns the number of the last write transaction in the store in dir.
func LastTransaction(t *testing.T, dir string) int64 {
	t.Helper()
	p, err := bench.OpenPlain(dir, bench.StoreOptions{MapSize: 1 << 30, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	info, err := p.Env.Info()
	if err != nil {
		t.Fatal(err)
	}
	return info.LastTxnID
}

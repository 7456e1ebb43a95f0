// Package suitetest is what the tests of the suites share.
package suitetest

import (
	"fmt"
	"os"
	"testing"

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

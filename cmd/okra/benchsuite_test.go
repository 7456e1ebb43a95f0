package main

import (
	"testing"
	"time"

	"github.com/okradb/okra-go/bench/suite"
)

// What is announced on a usual disk keeps the words of the help: each suite with --quick takes
// under a minute, and all of them in full under an hour.
func TestSuitesKeepTheirTime(t *testing.T) {
	var full time.Duration
	for _, s := range benchSuites() {
		for _, quick := range []bool{true, false} {
			o, _, err := suite.Plan(s, suite.Options{Quick: quick, Dir: emptyDir(t)}, nil)
			if err != nil {
				t.Fatal(err)
			}
			o.SyncTime = 2 * time.Millisecond
			cells, err := s.Cells(o)
			if err != nil {
				t.Fatal(err)
			}
			estimate := suite.Estimate(o, cells)
			if quick && (estimate < time.Second || estimate > time.Minute) {
				t.Errorf("%s --quick: about %v", s.Name, estimate)
			}
			if !quick {
				full += estimate
			}
		}
	}
	if full < 10*time.Minute || full > time.Hour {
		t.Errorf("all in full: about %v", full)
	}
}

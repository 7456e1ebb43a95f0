//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/okradb/okra-go/bench/suite"
)

// stopVariable has the signal and the look of a [stopping] context.
const stopVariable = "OKRA_TEST_STOP"

// A stopping context is one in which work, when it looks for the nth time whether it is to end,
// sends its own process a signal: amid the work on a machine of any speed.
type stopping struct {
	context.Context
	sig   syscall.Signal
	n     int64
	looks atomic.Int64
}

func (s *stopping) Err() error {
	s.look()
	return s.Context.Err()
}

func (s *stopping) Done() <-chan struct{} {
	s.look()
	return s.Context.Done()
}

func (s *stopping) look() {
	if s.looks.Add(1) != s.n {
		return
	}
	if err := syscall.Kill(os.Getpid(), s.sig); err != nil {
		panic(err)
	}
	<-s.Context.Done() // which SIGKILL never lets happen
}

func init() { programs["okra-stopped"] = stoppedMain }

// stoppedMain is main in the context that the environment describes.
func stoppedMain() {
	suite.Serve(benchSuites()...)
	s := &stopping{Context: signalContext()}
	if _, err := fmt.Sscan(os.Getenv(stopVariable), &s.sig, &s.n); err != nil {
		panic(err)
	}
	os.Exit(runIn(s, os.Args))
}

// stopAt runs okra with args, with a signal when it looks for the nth time whether it is to end,
// and wants that to end it: SIGINT in order, and SIGKILL at once.
func stopAt(t *testing.T, sig syscall.Signal, n int, args ...string) {
	t.Helper()
	cmd := exec.Command("okra-stopped", args...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d", stopVariable, sig, n))
	out, err := cmd.CombinedOutput()
	want := -1 // killed
	if sig == syscall.SIGINT {
		want = exitInterrupted
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != want {
		t.Errorf("%q, stopped by %v at look %d, ended with %v, want exit code %d: %s", args, sig, n, err, want, out)
	}
}

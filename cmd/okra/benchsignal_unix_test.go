//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// SIGHUP and SIGTERM end a benchmark in order, also when they come again while it removes its folder.
func TestBenchSignals(t *testing.T) {
	suite := []string{"bench", "durability", "--rows", "1m", "--only", "puts durable"}
	for _, tc := range []struct {
		sig     syscall.Signal
		args    []string
		working string // what is in the folder when it is at work
	}{
		{syscall.SIGHUP, suite, "okra-bench-*/repetition"},
		{syscall.SIGTERM, suite, "okra-bench-*/repetition"},
		{syscall.SIGHUP, []string{"bench", "--entries", "50k", "--iterations", "1000000"}, "okra-bench-*/*"},
		{syscall.SIGHUP, []string{"bench", "sync", "--entries", "50k", "--repetitions", "1000000"}, "okra-bench-*/*"},
	} {
		sig, dir := tc.sig, emptyDir(t)
		cmd := exec.Command("okra", append(tc.args, "--dir", dir)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		end := time.Now().Add(time.Minute)
		for time.Now().Before(end) {
			if found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(tc.working))); err == nil && len(found) > 0 {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		for range 3 {
			if err := cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
			t.Errorf("%v %v: ended with %v, want exit code %d", tc.args, sig, err, exitInterrupted)
		}
	}
}

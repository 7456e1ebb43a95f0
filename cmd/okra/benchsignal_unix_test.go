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

// SIGHUP and SIGTERM end a suite in order, also when they come again while it removes its folder.
func TestBenchSuiteSignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM} {
		dir := emptyDir(t)
		cmd := exec.Command("okra", "bench", "durability", "--rows", "1m", "--only", "puts durable", "--dir", dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		end := time.Now().Add(time.Minute)
		for time.Now().Before(end) {
			if found, err := filepath.Glob(filepath.Join(dir, "okra-bench-*", "repetition")); err == nil && len(found) > 0 {
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
			t.Errorf("%v: ended with %v, want exit code %d", sig, err, exitInterrupted)
		}
	}
}

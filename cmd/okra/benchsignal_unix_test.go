//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// startBench starts cmd, which is killed when the test ends, and returns what gives how it ended.
func startBench(t *testing.T, cmd *exec.Cmd) (ended <-chan error) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	gone := make(chan struct{})
	go func() {
		done <- cmd.Wait()
		close(gone)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-gone
	})
	return done
}

// working reports whether there is a file of that pattern in a benchmark's folder in dir.
func working(dir, pattern string) bool {
	found, err := filepath.Glob(filepath.Join(dir, "okra-bench-*", pattern))
	return err == nil && len(found) > 0
}

// awaitWork waits until is is true. It fails t if the program ends before.
func awaitWork(t *testing.T, ended <-chan error, is func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); !is(); {
		select {
		case err := <-ended:
			t.Fatalf("it ended before the signal: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
		if time.Now().After(end) {
			t.Fatal("it does not begin")
		}
	}
}

// SIGHUP and SIGTERM end a benchmark in order, also when they come again and again until it has ended.
func TestBenchSignals(t *testing.T) {
	suite := []string{"bench", "durability", "--rows", "1m", "--only", "puts durable"}
	for _, tc := range []struct {
		sig  syscall.Signal
		args []string
		work string // what is in the folder when it is at work
	}{
		{syscall.SIGHUP, suite, "repetition"},
		{syscall.SIGTERM, suite, "repetition"},
		{syscall.SIGHUP, []string{"bench", "--entries", "50k", "--iterations", "1000000"}, "*"},
		{syscall.SIGHUP, []string{"bench", "sync", "--entries", "50k", "--repetitions", "1000000"}, "*"},
	} {
		// Were it ignored here, as under nohup, it would be by what is started, too.
		caught := make(chan os.Signal, 1)
		signal.Notify(caught, tc.sig)
		defer signal.Stop(caught)

		dir := emptyDir(t)
		cmd := exec.Command("okra", append(tc.args, "--dir", dir)...)
		ended := startBench(t, cmd)
		awaitWork(t, ended, func() bool { return working(dir, tc.work) })
		var err error
		for sent, done := 0, false; !done; sent++ {
			if err := cmd.Process.Signal(tc.sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Fatal(err)
			}
			select {
			case err = <-ended:
				done = true
			case <-time.After(time.Millisecond):
			}
			if sent == 300_000 {
				t.Fatalf("%v does not end it", tc.sig)
			}
		}
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
			t.Errorf("%v %v: ended with %v, want exit code %d", tc.args, tc.sig, err, exitInterrupted)
		}
	}
}

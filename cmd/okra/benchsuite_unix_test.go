//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/okradb/okra-go/bench/suite"
)

// readResults returns the results in the file at path, none if there is no file yet.
func readResults(t *testing.T, path string) []suite.Result {
	t.Helper()
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	results, err := suite.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// Ctrl-C in the middle of a suite leaves what was measured, in the file and on standard output, and
// no folder behind.
func TestBenchSuiteInterrupt(t *testing.T) {
	dir := emptyDir(t)
	kept := filepath.Join(t.TempDir(), "kept.jsonl")
	// The second cell is more durable writes than fit in the time a test may take.
	cmd := exec.Command("okra", "bench", "durability", "--rows", "5,1m", "--only", "puts durable",
		"--value-size", "8", "--dir", dir, "--results", kept)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	ended := startBench(t, cmd)
	awaitWork(t, ended, func() bool { return len(readResults(t, kept)) > 0 && working(dir, "repetition") })
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := <-ended; !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Errorf("ended with %v, want exit code %d", err, exitInterrupted)
	}
	if !strings.HasSuffix(stderr.String(), "okra: interrupted\n") {
		t.Errorf("stderr %q", stderr.String())
	}
	if results := readResults(t, kept); len(results) != 1 || results[0].Ops != 5 {
		t.Errorf("%d results are kept", len(results))
	}
	if !strings.Contains(stdout.String(), "durable  okra") {
		t.Errorf("no finished cell in:\n%s", stdout.String())
	}
}

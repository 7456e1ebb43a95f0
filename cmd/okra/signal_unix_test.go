//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/okradb/okra-go/okra"
)

// interrupt runs okra with args and a standard input that never ends, sends it the signal of
// Ctrl-C and wants it to say so and to exit with 130.
func interrupt(t *testing.T, args []string) {
	t.Helper()
	cmd := exec.Command("okra", args...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// Nothing tells when the program has begun to wait. It must end well whenever the signal
	// comes, except before it listens for signals.
	time.Sleep(500 * time.Millisecond)
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Errorf("ended with %v, want exit code %d", err, exitInterrupted)
	}
	if got, want := stderr.String(), "okra: interrupted\n"; got != want {
		t.Errorf("stderr %q, want %q", got, want)
	}
	if stdout.Len() > 0 {
		t.Errorf("stdout %q, want nothing", stdout.String())
	}
}

// TestInterruptWaitingForWriter checks that Ctrl-C ends a put that waits for another writer.
func TestInterruptWaitingForWriter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kv")
	db, err := okra.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Update(func(*okra.Tx) error {
		interrupt(t, []string{"put", dir, "key", "value"})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPipe checks that a reader of standard output that goes away ends okra without a word.
func TestPipe(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kv")
	db, err := okra.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *okra.Tx) error {
		_, err := tx.Load(numbered(20_000))
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"scan", dir}, {"scan", dir, "--json"}, {"tree", dir, "--rows", "0"},
	} {
		cmd := exec.Command("okra", args...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdout = w
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		if _, err := r.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		r.Close()
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitPipe {
			t.Errorf("%v ended with %v, want exit code %d", args[0], err, exitPipe)
		}
		if stderr.Len() > 0 {
			t.Errorf("%v: stderr %q, want nothing", args[0], stderr.String())
		}
	}
}

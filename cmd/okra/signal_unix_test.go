//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/okradb/okra-go/okra"
)

// interrupt runs okra with args, has it read much of its standard input, so that it is known to
// run, calls then, sends it the signal of Ctrl-C and wants it to say so and to exit with 130.
func interrupt(t *testing.T, args []string, then func(stdin io.Closer)) {
	t.Helper()
	cmd := exec.Command("okra", args...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(stdin, strings.Repeat("key\n", 64<<10)); err != nil {
		t.Fatal(err)
	}
	then(stdin)
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Errorf("ended with %v, want exit code %d", err, exitInterrupted)
	}
	if !strings.HasSuffix(stderr.String(), "okra: interrupted\n") {
		t.Errorf("stderr %.300q, want okra: interrupted", stderr.String())
	}
}

// TestInterrupt checks that a signal ends a wait for input, with exit code 130 and no change.
func TestInterrupt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kv")
	if out, err := exec.Command("okra", "init", dir).CombinedOutput(); err != nil {
		t.Fatalf("init: %v\n%s", err, out)
	}
	before, err := os.ReadFile(filepath.Join(dir, "data.mdb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"put", dir, "key", "-"},
		{"get", dir, "--keys-from", "-"},
		{"delete", dir, "--keys-from", "-"},
	} {
		t.Run(args[0], func(t *testing.T) {
			interrupt(t, args, func(io.Closer) {})
			after, err := os.ReadFile(filepath.Join(dir, "data.mdb"))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(before, after) {
				t.Error("data.mdb has changed")
			}
		})
	}
}

// TestInterruptWaitingForWriter checks that a signal ends a put that waits for another writer.
func TestInterruptWaitingForWriter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kv")
	db, err := okra.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Update(func(*okra.Tx) error {
		interrupt(t, []string{"put", dir, "key", "-"}, func(stdin io.Closer) {
			stdin.Close()
			// Time to come to the wait; without it the test passes too, but tests less.
			time.Sleep(200 * time.Millisecond)
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(func(tx *okra.Tx) error {
		if has, err := tx.Has([]byte("key")); has || err != nil {
			t.Errorf("put was interrupted, has key: %v, %v", has, err)
		}
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

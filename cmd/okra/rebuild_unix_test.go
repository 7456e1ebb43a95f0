//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/okradb/okra-go/okra"
)

// TestC6RebuildInterrupted checks that a rebuild that is stopped leaves nothing under the name of
// the new store, whole or half, and the old one as it was.
func TestC6RebuildInterrupted(t *testing.T) {
	dir := t.TempDir()
	source, target := filepath.Join(dir, "kv"), filepath.Join(dir, "new")
	partial := target + ".partial"
	storeToRebuild(t, source, 200_000)
	before, err := os.ReadFile(filepath.Join(source, "data.mdb"))
	if err != nil {
		t.Fatal(err)
	}
	for signal, code := range map[os.Signal]int{os.Interrupt: exitInterrupted, os.Kill: -1} {
		if err := os.RemoveAll(partial); err != nil {
			t.Fatal(err)
		}
		if got := stopRebuild(t, source, target, signal); got != code {
			t.Errorf("%s: exit code %d, want %d", signal, got, code)
		}
		if _, err := os.Stat(target); !os.IsNotExist(err) {
			t.Errorf("%s: there is a store (%v)", signal, err)
		}
		if _, err := os.Stat(partial); os.IsNotExist(err) != (signal == os.Interrupt) {
			t.Errorf("%s: of the partial store: %v", signal, err)
		}
	}
	if err := os.Mkdir(partial, 0o755); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	if out, err := exec.Command("okra", "rebuild", source, target).CombinedOutput(); err == nil {
		t.Errorf("a second rebuild takes over what is there: %s", out)
	}
	if err := os.RemoveAll(partial); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("okra", "rebuild", source, target).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	after, err := os.ReadFile(filepath.Join(source, "data.mdb"))
	if err != nil || string(after) != string(before) {
		t.Errorf("the source has changed (%v)", err)
	}
}

// stopRebuild sends a signal to a rebuild that has begun to write, and returns its exit code. A
// rebuild that is done before the signal comes is begun again.
func stopRebuild(t *testing.T, source, target string, signal os.Signal) int {
	t.Helper()
	for range 10 {
		cmd := exec.Command("okra", "rebuild", source, target)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waitForOne(t, filepath.Join(target+".partial", "data.mdb"), target)
		_ = cmd.Process.Signal(signal) // fails if it is done
		var exit *exec.ExitError
		err := cmd.Wait()
		if errors.As(err, &exit) {
			return exit.ExitCode()
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(target); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("no signal comes in time")
	return 0
}

func storeToRebuild(t *testing.T, dir string, n int) {
	t.Helper()
	db, err := okra.Open(dir, &okra.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *okra.Tx) error {
		_, err := tx.Load(numbered(n))
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// waitForOne waits until there is one of the files.
func waitForOne(t *testing.T, paths ...string) {
	t.Helper()
	for range 6000 {
		for _, path := range paths {
			if _, err := os.Stat(path); err == nil {
				return
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("there is none of %q", paths)
}

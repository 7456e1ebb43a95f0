//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestC6RebuildInterrupted checks that a rebuild that is stopped leaves nothing under the name of
// the new store, whole or half, and the old one as it was.
func TestC6RebuildInterrupted(t *testing.T) {
	dir := t.TempDir()
	source, target := filepath.Join(dir, "kv"), filepath.Join(dir, "new")
	partial := target + ".partial"
	const n = 20_000
	fillStore(t, source, n)
	before, err := os.ReadFile(filepath.Join(source, "data.mdb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, sig := range bothSignals {
		// At the beginning, and while it writes.
		for _, look := range []int{1, n / 2, n} {
			if err := os.RemoveAll(partial); err != nil {
				t.Fatal(err)
			}
			stopAt(t, sig, look, "rebuild", source, target)
			if _, err := os.Stat(target); !os.IsNotExist(err) {
				t.Errorf("%v: there is a store (%v)", sig, err)
			}
			if _, err := os.Stat(partial); os.IsNotExist(err) != (sig == syscall.SIGINT) {
				t.Errorf("%v: of the partial store: %v", sig, err)
			}
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

//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/okradb/okra-go/okra"
	"github.com/okradb/okra-go/okra/dump"
)

// fillStore makes a store with n entries key00000 and so on.
func fillStore(t *testing.T, dir string, n int) dump.Trailer {
	t.Helper()
	db, err := okra.Open(dir, nil)
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
	return trailerOf(t, dir)
}

func trailerOf(t *testing.T, dir string) dump.Trailer {
	t.Helper()
	got, err := readTrailer(dir, &okra.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// sound fails t unless the store in dir is as verify wants it, and has what want says.
func sound(t *testing.T, dir string, want dump.Trailer) {
	t.Helper()
	if code, out := okraRun(t, "verify", dir); code != exitDone {
		t.Errorf("verify %s: exit code %d: %s", dir, code, out)
	}
	if got := trailerOf(t, dir); got != want {
		t.Errorf("%s has %s, want %s", dir, got, want)
	}
}

// okraRun runs okra and returns its exit code and what it wrote.
func okraRun(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	cmd := exec.Command("okra", args...)
	b, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(b)
}

// stop runs okra with args, sends it sig when ready is true or after the time that the work
// usually takes, and returns its exit code, -1 if the signal killed it.
func stop(t *testing.T, sig syscall.Signal, ready func() bool, args ...string) int {
	t.Helper()
	cmd := exec.Command("okra", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for done := false; !done && !ready(); {
		select {
		case <-ended:
			done = true
			ended <- nil
		case <-time.After(100 * time.Microsecond):
		}
	}
	// To have ended by itself is no failure.
	if err := cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	<-ended
	code := cmd.ProcessState.ExitCode()
	// It may also have come before the program knew of signals.
	if sig == syscall.SIGINT && code != exitDone && code != exitInterrupted && code != -1 {
		t.Errorf("%v ended with %d: %s", args, code, stderr.String())
	}
	return code
}

// appears returns a function that is true when a file matches pattern and has at least n bytes.
func appears(pattern string, n int64) func() bool {
	return func() bool {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			if info, err := os.Stat(name); err == nil && info.Size() >= n {
				return true
			}
		}
		return false
	}
}

// rounds returns how many of something a test does, by whether it is a short one.
func rounds(short, long int) int {
	if testing.Short() {
		return short
	}
	return long
}

// leftovers returns the names in dir that contain part.
func leftovers(dir, part string) []string {
	names, _ := filepath.Glob(filepath.Join(dir, "*"+part+"*"))
	return names
}

var bothSignals = []syscall.Signal{syscall.SIGINT, syscall.SIGKILL}

// An export that is interrupted or killed leaves no file under the final name, or a whole one.
func TestC6_ExportStopped(t *testing.T) {
	dir := t.TempDir()
	kv := filepath.Join(dir, "kv")
	n := rounds(20_000, 100_000)
	want := fillStore(t, kv, n)
	for _, sig := range bothSignals {
		check := func() {
			t.Helper()
			if left := leftovers(dir, "partial"); sig == syscall.SIGINT && len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		}
		for _, look := range []int{1, n / 2, n - 1} {
			file := filepath.Join(dir, fmt.Sprintf("%d-look%d.okra", sig, look))
			stopAt(t, sig, look, "export", kv, file)
			if _, err := os.Stat(file); !os.IsNotExist(err) {
				t.Errorf("export was stopped amid the entries, and there is a file: %v", err)
			}
			check()
		}
		for i := range rounds(2, 10) {
			file := filepath.Join(dir, fmt.Sprintf("%d-%d.okra", sig, i))
			ready := appears(file+".*.partial", rand.Int64N(900_000))
			code := stop(t, sig, ready, "export", kv, file)
			if _, err := os.Stat(file); err == nil {
				again := filepath.Join(t.TempDir(), "again")
				if code, out := okraRun(t, "import", again, file); code != exitDone {
					t.Fatalf("export was stopped, and the file is not whole: %s", out)
				}
				sound(t, again, want)
			} else if code == exitDone {
				t.Error("export ended well without a file")
			}
			check()
		}
	}
}

// A backup that is interrupted or killed leaves no directory under the final name, or a copy.
func TestL24_BackupStopped(t *testing.T) {
	dir := t.TempDir()
	kv := filepath.Join(dir, "kv")
	want := fillStore(t, kv, rounds(20_000, 100_000))
	for _, sig := range bothSignals {
		check := func() {
			t.Helper()
			if left := leftovers(dir, "partial"); sig == syscall.SIGINT && len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		}
		// It looks while LMDB copies, and then at each batch of records that it verifies.
		for _, look := range []int{1, 2, 10} {
			copied := filepath.Join(dir, fmt.Sprintf("%d-look%d", sig, look))
			stopAt(t, sig, look, "backup", kv, copied)
			if _, err := os.Stat(copied); !os.IsNotExist(err) {
				t.Errorf("backup was stopped before it had verified, and there is a copy: %v", err)
			}
			check()
		}
		for i := range rounds(2, 10) {
			copied := filepath.Join(dir, fmt.Sprintf("%d-%d", sig, i))
			ready := appears(copied+".partial/store/data.mdb", rand.Int64N(8<<20))
			code := stop(t, sig, ready, "backup", kv, copied)
			if _, err := os.Stat(copied); err == nil {
				sound(t, copied, want)
			} else if code == exitDone {
				t.Error("backup ended well without a copy")
			}
			check()
		}
	}
	sound(t, kv, want)
}

// A compact that is interrupted or killed leaves the old file or the new one, whole.
func TestL23_CompactStopped(t *testing.T) {
	kv := filepath.Join(t.TempDir(), "kv")
	fillStore(t, kv, rounds(10_000, 50_000))
	part := filepath.Join(kv, compactDir, "store", "data.mdb")
	for _, sig := range bothSignals {
		put := func(key string) dump.Trailer {
			t.Helper()
			if code, out := okraRun(t, "put", kv, key, "1"); code != 0 {
				t.Fatal(out)
			}
			return trailerOf(t, kv)
		}
		check := func(want dump.Trailer) {
			t.Helper()
			sound(t, kv, want)
			if left := leftovers(kv, "partial"); sig == syscall.SIGINT && len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		}
		for _, look := range []int{1, 2, 10} {
			want := put(fmt.Sprintf("look %d %d", sig, look))
			stopAt(t, sig, look, "compact", kv)
			check(want)
		}
		for i := range rounds(2, 40) {
			want := put(fmt.Sprintf("new %d %d", sig, i))
			begin := time.Now()
			after := time.Duration(rand.Int64N(int64(60 * time.Millisecond)))
			seen := appears(part, 1)
			stop(t, sig, func() bool {
				// Half the time the stop is at a time, else when the copy is there.
				return time.Since(begin) > after && (i%2 == 0 || seen())
			}, "compact", kv)
			check(want)
		}
	}
	want := trailerOf(t, kv)
	if code, out := okraRun(t, "compact", kv); code != exitDone {
		t.Errorf("compact after it was killed: %s", out)
	}
	sound(t, kv, want)
}

// An import that is interrupted or killed leaves all entries or none, and can be begun again.
func TestC6_ImportStopped(t *testing.T) {
	dir := t.TempDir()
	kv, file := filepath.Join(dir, "kv"), filepath.Join(dir, "kv.okra")
	n := rounds(20_000, 100_000)
	want := fillStore(t, kv, n)
	if code, out := okraRun(t, "export", kv, file); code != exitDone {
		t.Fatal(out)
	}
	none := dump.Trailer{Root: okra.Root{Hash: mustHash(t, emptyRoot)}}
	for _, sig := range bothSignals {
		for _, look := range []int{1, n / 2, n - 1} {
			to := filepath.Join(t.TempDir(), "to")
			stopAt(t, sig, look, "import", to, file)
			if _, err := os.Stat(to); sig == syscall.SIGINT && !os.IsNotExist(err) {
				t.Errorf("import was interrupted amid the entries, and there is a store: %v", err)
			}
			if sig == syscall.SIGKILL && look > 1 {
				sound(t, to, none)
			}
			if code, out := okraRun(t, "import", to, file); code != exitDone {
				t.Errorf("import again: %s", out)
			}
			sound(t, to, want)
		}
		for range rounds(2, 10) {
			to := filepath.Join(t.TempDir(), "to")
			begin := time.Now()
			after := time.Duration(rand.Int64N(int64(150 * time.Millisecond)))
			made := appears(filepath.Join(to, "data.mdb"), 1)
			ready := func() bool { return made() && time.Since(begin) > after }
			code := stop(t, sig, ready, "import", to, file)
			if _, err := os.Stat(to); err == nil && code != exitDone {
				// The signal may also come when all is committed, while the disk is waited for.
				if sig == syscall.SIGINT && trailerOf(t, to) != want {
					t.Error("import was interrupted and left a part of a store")
				}
				// Killed before the header was written the file is no store yet.
				if code, _ := okraRun(t, "root", to); code == exitDone {
					left := none
					if got := trailerOf(t, to); got.Count > 0 {
						left = want
					}
					sound(t, to, left)
				}
			}
			if code != exitDone {
				if code, out := okraRun(t, "import", to, file); code != exitDone &&
					!strings.Contains(out, "entries; give another DIR") {
					t.Errorf("import again: %s", out)
				}
			}
			sound(t, to, want)
		}
	}
}

const emptyRoot = "af1349b9f5f9a1a6a0404dea36dcc949"

func mustHash(t *testing.T, s string) okra.Hash {
	t.Helper()
	h, err := okra.ParseHash(s)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// A signal ends the wait for an input that does not come, and nothing has changed.
func TestC6_WaitForInputStopped(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kv")
	want := fillStore(t, dir, 10)
	t.Run("batch", func(t *testing.T) { interrupt(t, []string{"batch", dir}, noMore) })
	sound(t, dir, want)

	// When so much is written, entries have been read: it is in its transaction.
	var begun strings.Builder
	begun.WriteString(`{"okra":"dump","version":1,"k":16,"q":32,"mode":"store"}` + "\n")
	for i := 0; begun.Len() < moreThanWaits; i++ {
		fmt.Fprintf(&begun, `{"key":"new%05d","value":"%s"}`+"\n", i, strings.Repeat("x", 100))
	}
	for _, into := range []string{dir, filepath.Join(t.TempDir(), "new")} {
		cmd := exec.Command("okra", "import", into, "--into-existing")
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer stdin.Close()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(stdin, begun.String()); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
			t.Errorf("import ended with %d", code)
		}
		if _, err := os.Stat(into); into != dir && err == nil {
			t.Errorf("import was interrupted and left %s", into)
		}
	}
	sound(t, dir, want)
}

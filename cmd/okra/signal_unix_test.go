//go:build unix

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/okradb/okra-go/okra"
)

// moreThanWaits is more bytes than are on the way from a program to one that does not read: what a
// pipe holds, which is 1 MiB where pages are large, and what okra's pump reads ahead.
const moreThanWaits = 2 << 20

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
	line := strings.Repeat("k", 499) + "\n"
	if _, err := io.WriteString(stdin, strings.Repeat(line, moreThanWaits/len(line))); err != nil {
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
			awaitWaiter(t, filepath.Join(dir, "lock.mdb"))
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

// awaitWaiter waits until somebody waits for a mutex in LMDB's lock file that this process holds.
func awaitWaiter(t *testing.T, lockFile string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		time.Sleep(time.Second) // the lock does not tell; without a wait less is tested
		return
	}
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(time.Millisecond) {
		// Had this process opened and closed the file, it would have lost its locks of it.
		data, err := exec.Command("cat", lockFile).Output()
		if err != nil {
			t.Fatal(err)
		}
		// The mutexes come first. A word of each has the thread that holds it in its lower 30 bits,
		// and in the highest one whether others wait: FUTEX_WAITERS, see futex(2).
		for word := range slices.Chunk(data[:min(len(data), 256)&^3], 4) {
			w := binary.NativeEndian.Uint32(word)
			if _, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", w&(1<<30-1))); w>>31 == 1 && err == nil {
				return
			}
		}
	}
	t.Fatal("nobody waits for the writer")
}

// TestPipe checks that a reader of standard output that goes away ends okra without a word.
func TestPipe(t *testing.T) {
	dir := storeOf(t, 100_000, 20) // of which all that is printed is more than moreThanWaits
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

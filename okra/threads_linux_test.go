package okra_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/okradb/okra-go/okra"
)

// The function of a write transaction stays on one thread, of its own, through whatever makes
// goroutines move.
func TestL12OneThread(t *testing.T) {
	db := newStore(t, okra.Options{})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 20 {
				thread := 0
				here := func(tx *okra.Tx) error {
					if id := syscall.Gettid(); thread == 0 {
						thread = id
					} else if id != thread {
						return fmt.Errorf("thread %d has become %d", thread, id)
					}
					return tx.Put(number(i), nil)
				}
				err := db.Update(func(tx *okra.Tx) error {
					for range 20 {
						if err := here(tx); err != nil {
							return err
						}
						other := make(chan int)
						go func() { other <- syscall.Gettid() }()
						if id := <-other; id == thread {
							return fmt.Errorf("another goroutine runs on thread %d", id)
						}
						runtime.Gosched()
					}
					return here(tx)
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// A program that a process starts does not get the store's files, which it could write to.
func TestL17FilesAreNotInherited(t *testing.T) {
	dir := t.TempDir()
	db := storeIn(t, dir, okra.Options{})
	updateOK(t, db, put("a", "1"))
	s := snapshotsOf(t, db, 1)[0]
	if len(filesOf(t, "/proc/self/fd", dir)) == 0 {
		t.Error("this process does not have the files open: the test sees nothing")
	}
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Skipf("no program to start: %v", err)
	}
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	if got := filesOf(t, fmt.Sprintf("/proc/%d/fd", cmd.Process.Pid), dir); len(got) > 0 {
		t.Errorf("the program has %q open", got)
	}
	wantIs(t, "Close", s.Close(), nil)
}

// filesOf returns those of the open files listed in fds that are in dir.
func filesOf(t *testing.T, fds, dir string) (paths []string) {
	t.Helper()
	for _, fd := range inside(t, fds) {
		if path, err := os.Readlink(filepath.Join(fds, fd)); err == nil && strings.HasPrefix(path, dir) {
			paths = append(paths, path)
		}
	}
	return paths
}

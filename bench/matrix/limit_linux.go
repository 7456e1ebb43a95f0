package matrix

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/okradb/okra-go/bench/suite"
)

// limitable returns nil if [limitMemory] can limit the memory of processes that work in dir, and
// their stores are not in memory anyway. Else the error says why not.
func limitable(dir string) error {
	if dir == "" {
		dir = os.TempDir()
	}
	if err := suite.Cold(dir); err != nil {
		return err
	}
	// Who may not make a cgroup notices it here only.
	group, err := newCgroup("/proc", 64<<20)
	if err != nil {
		return err
	}
	return os.Remove(group)
}

// limitMemory puts a process into a cgroup of its own, with so many bytes of memory and no swap.
// The cgroup is removed by done, when the process has ended, however it ended.
func limitMemory(limit int64) func(pid int) (done func(), err error) {
	return func(pid int) (func(), error) {
		group, err := newCgroup("/proc", limit)
		if err != nil {
			return nil, err
		}
		if err := setCgroup(group, "cgroup.procs", fmt.Sprint(pid)); err != nil {
			return nil, errors.Join(fmt.Errorf("put a process into a cgroup: %w", err), os.Remove(group))
		}
		return func() { removeCgroup(group) }, nil
	}
}

// newCgroup makes a cgroup and returns its folder: of version 2, or of version 1 where those have
// no limits of memory. proc is where the proc file system is.
func newCgroup(proc string, limit int64) (string, error) {
	var why []string
	for _, version := range []cgroupVersion{version2, version1} {
		group, err := version.make(proc, limit)
		if err == nil {
			return group, nil
		}
		why = append(why, fmt.Sprintf("%s: %v", version.name, err))
	}
	return "", fmt.Errorf("%w: %s", ErrNoLimit, strings.Join(why, "; "))
}

// make makes a cgroup with a limit, and leaves none behind if that fails.
func (v cgroupVersion) make(proc string, limit int64) (string, error) {
	parent, err := v.parent(proc)
	if err != nil {
		return "", err
	}
	group, err := os.MkdirTemp(parent, "okra-bench-")
	if err != nil {
		return "", err
	}
	if err := v.limit(group, limit); err != nil {
		return "", errors.Join(err, os.Remove(group))
	}
	return group, nil
}

// limit sets the limits of a new cgroup.
func (v cgroupVersion) limit(group string, limit int64) error {
	if err := setCgroup(group, v.memory, fmt.Sprint(limit)); err != nil {
		return err
	}
	swap := int64(0)
	if v.swapWithMemory {
		swap = limit
	}
	err := setCgroup(group, v.swap, fmt.Sprint(swap))
	if errors.Is(err, os.ErrNotExist) {
		return nil // the kernel does without swap
	}
	return err
}

// setCgroup writes to a file that the kernel has made.
func setCgroup(group, file, value string) error {
	f, err := os.OpenFile(filepath.Join(group, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// removeCgroup ends what is left in the cgroup, and removes it. The kernel lets go of it a little
// after the last process has ended.
func removeCgroup(group string) {
	const tries, pause = 200, 10 * time.Millisecond
	for range tries {
		if err := os.Remove(group); err == nil || errors.Is(err, os.ErrNotExist) {
			return
		}
		_ = setCgroup(group, "cgroup.kill", "1") // version 1 and older kernels do not have it
		time.Sleep(pause)
	}
}

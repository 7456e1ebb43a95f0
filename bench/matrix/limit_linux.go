package matrix

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/okradb/okra-go/bench/suite"
)

// ErrNoLimit is the error where the memory of a process cannot be limited.
var ErrNoLimit = errors.New("memory cannot be limited")

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

// limitMemory has a command run in a cgroup of its own, with so many bytes of memory and no swap.
// The cgroup is removed by done, when the command has ended, however it ended.
func limitMemory(limit int64) func(*exec.Cmd) (done func(), err error) {
	return func(cmd *exec.Cmd) (func(), error) {
		group, err := newCgroup("/proc", limit)
		if err != nil {
			return nil, err
		}
		folder, err := os.Open(group)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open cgroup: %w", err), os.Remove(group))
		}
		if cmd.SysProcAttr == nil {
			cmd.SysProcAttr = &syscall.SysProcAttr{}
		}
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(folder.Fd())
		return func() {
			_ = folder.Close() // it was only read
			removeCgroup(group)
		}, nil
	}
}

// newCgroup makes a cgroup and returns its folder. proc is where the proc file system is.
func newCgroup(proc string, limit int64) (string, error) {
	parent, err := cgroupParent(proc)
	if err != nil {
		return "", err
	}
	group, err := os.MkdirTemp(parent, "okra-bench-")
	if err != nil {
		return "", fmt.Errorf("%w: %v", ErrNoLimit, err)
	}
	err = setCgroup(group, "memory.max", fmt.Sprint(limit))
	if err == nil {
		err = setCgroup(group, "memory.swap.max", "0")
		if errors.Is(err, os.ErrNotExist) {
			err = nil // the kernel does without swap
		}
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("%w: %w", ErrNoLimit, err), os.Remove(group))
	}
	return group, nil
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
		_ = setCgroup(group, "cgroup.kill", "1") // older kernels do not have it
		time.Sleep(pause)
	}
}

// cgroupParent returns the folder of a cgroup that gives limits of memory to its children: that
// of this process, or the next one above it.
func cgroupParent(proc string) (string, error) {
	mount, root, err := cgroupMount(filepath.Join(proc, "self", "mountinfo"))
	if err != nil {
		return "", err
	}
	own, err := ownCgroup(filepath.Join(proc, "self", "cgroup"))
	if err != nil {
		return "", err
	}
	name, err := filepath.Rel(root, own)
	// What is above the root that this process can see begins with "..".
	if err != nil || !filepath.IsLocal(name) || strings.HasPrefix(own, "/..") {
		return "", fmt.Errorf("%w: the cgroup of this process, %s, is outside of %s", ErrNoLimit, own, mount)
	}
	if !hasMemory(mount, "cgroup.controllers") && !hasMemory(mount, "cgroup.subtree_control") {
		return "", fmt.Errorf("%w: the cgroups at %s (version 2) have no memory controller", ErrNoLimit, mount)
	}
	for ; ; name = filepath.Dir(name) {
		if hasMemory(filepath.Join(mount, name), "cgroup.subtree_control") {
			return filepath.Join(mount, name), nil
		}
		if name == "." {
			return "", fmt.Errorf("%w: no cgroup above this process has memory in its cgroup.subtree_control", ErrNoLimit)
		}
	}
}

// hasMemory reports whether a file that lists controllers has that of memory.
func hasMemory(group, file string) bool {
	list, err := os.ReadFile(filepath.Join(group, file))
	return err == nil && slices.Contains(strings.Fields(string(list)), "memory")
}

// cgroupMount returns where the cgroups of version 2 are mounted, and which of them that shows.
func cgroupMount(mountinfo string) (mount, root string, err error) {
	list, err := os.ReadFile(mountinfo)
	if err != nil {
		return "", "", fmt.Errorf("%w: %v", ErrNoLimit, err)
	}
	for line := range bytes.Lines(list) {
		// proc_pid_mountinfo(5): id, parent, device, root, mount point, options ... - type ...
		before, after, _ := strings.Cut(string(line), " - ")
		fields := strings.Fields(before)
		if strings.HasPrefix(after, "cgroup2 ") && len(fields) > 4 {
			return fields[4], fields[3], nil
		}
	}
	return "", "", fmt.Errorf("%w: cgroups of version 2 are not mounted", ErrNoLimit)
}

// ownCgroup returns the cgroup of version 2 of this process.
func ownCgroup(cgroup string) (string, error) {
	list, err := os.ReadFile(cgroup)
	if err != nil {
		return "", fmt.Errorf("%w: %v", ErrNoLimit, err)
	}
	for line := range bytes.Lines(list) {
		if own, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "0::"); ok {
			return own, nil
		}
	}
	return "", fmt.Errorf("%w: this process has no cgroup of version 2", ErrNoLimit)
}

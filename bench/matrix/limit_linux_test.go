package matrix

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/okradb/okra-go/bench/suite"
)

// machine makes folders that look like /proc and the cgroups of a machine, where this process is
// in the cgroup own and those in memory give limits of memory to their children.
func machine(t *testing.T, own string, controllers string, memory ...string) (proc, mount string) {
	t.Helper()
	dir := t.TempDir()
	mount = filepath.Join(dir, "cgroup")
	write := func(path, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(dir, "self", "cgroup"), "9:memory:/elsewhere\n0::"+own+"\n")
	write(filepath.Join(dir, "self", "mountinfo"), fmt.Sprintf(
		"22 1 8:1 / / rw,relatime - ext4 /dev/vda rw\n31 22 0:27 / %s rw,nosuid shared:4 - cgroup2 cgroup2 rw\n", mount))
	write(filepath.Join(mount, "cgroup.controllers"), controllers)
	write(filepath.Join(mount, own, "cgroup.subtree_control"), "\n")
	for _, group := range memory {
		write(filepath.Join(mount, group, "cgroup.subtree_control"), "cpu memory pids\n")
	}
	return dir, mount
}

func TestCgroupParent(t *testing.T) {
	proc, mount := machine(t, "/user.slice/user-0.slice/session-1.scope", "cpu memory", "/", "/user.slice")
	parent, err := cgroupParent(proc)
	if want := filepath.Join(mount, "user.slice"); err != nil || parent != want {
		t.Errorf("parent %s, %v, want %s", parent, err, want)
	}
	for want, make := range map[string]func() (string, string){
		"no memory controller":      func() (string, string) { return machine(t, "/", "cpu pids") },
		"cgroup.subtree_control":    func() (string, string) { return machine(t, "/a/b", "cpu memory") },
		"is outside of":             func() (string, string) { return machine(t, "/../a", "cpu memory", "/") },
		"no such file or directory": func() (string, string) { return t.TempDir(), "" },
	} {
		proc, _ := make()
		if _, err := cgroupParent(proc); !errors.Is(err, ErrNoLimit) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	proc, _ = machine(t, "/a", "memory", "/")
	if err := os.WriteFile(filepath.Join(proc, "self", "mountinfo"), []byte("1 2 3\n - cgroup2 \n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := cgroupParent(proc); !errors.Is(err, ErrNoLimit) {
		t.Errorf("error %v", err)
	}
}

// A cgroup in which no limit can be set is not left behind.
func TestNewCgroupFails(t *testing.T) {
	proc, mount := machine(t, "/a", "memory", "/")
	if group, err := newCgroup(proc, 1<<20); !errors.Is(err, ErrNoLimit) {
		t.Errorf("%s, %v", group, err)
	}
	if left, err := filepath.Glob(filepath.Join(mount, "okra-bench-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestNotLimitableInMemory(t *testing.T) {
	const shm = "/dev/shm"
	if suite.Cold(shm) == nil {
		t.Skip("/dev/shm is on a disk")
	}
	if err := limitable(shm); !errors.Is(err, suite.ErrNotCold) && !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// A process in a cgroup that takes more memory than it has is killed, and the cgroup is gone.
func TestLimitMemory(t *testing.T) {
	if err := limitable(t.TempDir()); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", "cat /proc/self/cgroup; exec tail /dev/zero")
	done, err := limitMemory(32 << 20)(cmd)
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.Output()
	done()
	if err == nil || ctx.Err() != nil {
		t.Errorf("it could take all memory: %v", ctx.Err())
	}
	_, own, _ := strings.Cut(string(out), "0::")
	if !strings.Contains(own, "okra-bench-") {
		t.Fatalf("it ran in %q", own)
	}
	mount, root, err := cgroupMount("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	name, err := filepath.Rel(root, strings.TrimSpace(own))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(mount, name)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the cgroup is there still: %v", err)
	}
}

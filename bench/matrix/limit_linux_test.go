package matrix

import (
	"bytes"
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

// machine makes folders that look like /proc and the cgroups of a machine. Those of version 2 have
// controllers, this process is in own, and those in memory give limits of memory to their children.
// In version 1 it is in /v1, if there is that.
func machine(t *testing.T, v1 bool, own, controllers string, memory ...string) (proc, mount string) {
	t.Helper()
	dir := t.TempDir()
	mount = filepath.Join(dir, "cgroup")
	write := func(path, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	mounts := "22 1 8:1 / / rw,relatime - ext4 /dev/vda rw\n30 22 0:25 / /cpu rw - cgroup cgroup rw,cpu\n"
	cgroups := "3:cpu,cpuacct:/elsewhere\n0::" + own + "\n"
	if v1 {
		mounts += fmt.Sprintf("31 22 0:26 / %s rw,nosuid shared:4 - cgroup cgroup rw,memory\n", mount+"1")
		cgroups = "9:memory:/v1\n" + cgroups
		write(filepath.Join(mount+"1", "v1", "memory.limit_in_bytes"), "\n")
	}
	mounts += fmt.Sprintf("32 22 0:27 / %s rw,nosuid shared:4 - cgroup2 cgroup2 rw\n", mount)
	write(filepath.Join(dir, "self", "cgroup"), cgroups)
	write(filepath.Join(dir, "self", "mountinfo"), mounts)
	write(filepath.Join(mount, "cgroup.controllers"), controllers)
	write(filepath.Join(mount, own, "cgroup.subtree_control"), "\n")
	for _, group := range memory {
		write(filepath.Join(mount, group, "cgroup.subtree_control"), "cpu memory pids\n")
	}
	return dir, mount
}

func TestCgroupParent(t *testing.T) {
	proc, mount := machine(t, true, "/user.slice/user-0.slice/session-1.scope", "cpu memory", "/", "/user.slice")
	for version, want := range map[cgroupVersion]string{
		version2: filepath.Join(mount, "user.slice"), version1: filepath.Join(mount+"1", "v1"),
	} {
		if parent, err := version.parent(proc); err != nil || parent != want {
			t.Errorf("%s: parent %s, %v, want %s", version.name, parent, err, want)
		}
	}
	for want, make := range map[string]func() (string, string){
		"no memory controller":      func() (string, string) { return machine(t, false, "/", "cpu pids") },
		"cgroup.subtree_control":    func() (string, string) { return machine(t, false, "/a/b", "cpu memory") },
		"is outside of":             func() (string, string) { return machine(t, false, "/../a", "cpu memory", "/") },
		"version 1: not mounted":    func() (string, string) { return machine(t, false, "/", "cpu pids") },
		"no such file or directory": func() (string, string) { return t.TempDir(), "" },
	} {
		proc, _ := make()
		_, err := newCgroup(proc, 1<<20)
		if !errors.Is(err, ErrNoLimit) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "cannot") {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	proc, _ = machine(t, false, "/a", "memory", "/")
	if err := os.WriteFile(filepath.Join(proc, "self", "mountinfo"), []byte("1 2 3\n - cgroup2 \n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := newCgroup(proc, 1<<20); !errors.Is(err, ErrNoLimit) {
		t.Errorf("error %v", err)
	}
}

// A cgroup in which no limit can be set is not left behind. These are tried in both versions, and
// have no files as those that a kernel makes.
func TestNewCgroupFails(t *testing.T) {
	proc, mount := machine(t, true, "/a", "memory", "/")
	if group, err := newCgroup(proc, 1<<20); !errors.Is(err, ErrNoLimit) || strings.Count(err.Error(), "no such file") != 2 {
		t.Errorf("%s, %v", group, err)
	}
	for _, pattern := range []string{"cgroup/okra-bench-*", "cgroup1/v1/okra-bench-*"} {
		left, err := filepath.Glob(filepath.Join(filepath.Dir(mount), pattern))
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
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

// What is larger than memory begins with nothing of the store in memory: a limit would not count
// pages that were there before. Where those cannot be dropped there are no figures.
func TestLimitedBeginsCold(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "okra-test-")
	if err != nil || suite.Cold(dir) == nil {
		t.Skip("/dev/shm is not in memory: ", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	w := work{operation: operations[3], valueSize: 8, goroutines: 1, entries: 300, ops: 20, budget: 1 << 20}
	for _, b := range []backend{backendOkra, backendPlain} {
		r := &suite.Rep{Dir: filepath.Join(dir, b.name), Seed: 1}
		if err := errors.Join(os.Mkdir(r.Dir, 0o755), b.fill(r.Dir, w)); err != nil {
			t.Fatal(err)
		}
		for _, w.limited = range []bool{false, true} {
			if _, err := b.side(w).Run(r); errors.Is(err, suite.ErrNotCold) != w.limited || err != nil && !w.limited {
				t.Errorf("%s, limited %t: %v", b.name, w.limited, err)
			}
		}
	}
}

// A process in a cgroup that takes more memory than it has is killed, and the cgroup is gone.
func TestLimitMemory(t *testing.T) {
	if err := limitable(t.TempDir()); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", "read go; cat /proc/self/cgroup; exec tail /dev/zero")
	var out bytes.Buffer
	cmd.Stdout = &out
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done, err := limitMemory(32 << 20)(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stdin.Write([]byte("go\n")); err != nil {
		t.Error(err)
	}
	err = cmd.Wait()
	done()
	if err == nil || ctx.Err() != nil {
		t.Errorf("it could take all memory: %v", ctx.Err())
	}
	_, name, found := strings.Cut(out.String(), "/okra-bench-")
	if !found {
		t.Fatalf("it ran in %q", out.String())
	}
	name, _, _ = strings.Cut("okra-bench-"+name, "\n")
	for _, version := range []cgroupVersion{version2, version1} {
		parent, err := version.parent("/proc")
		if err != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(parent, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the cgroup is there still: %v", err)
		}
	}
}

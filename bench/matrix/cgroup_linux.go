package matrix

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// cgroupVersion is how a version of cgroups is found and limits memory.
type cgroupVersion struct {
	name string

	fsType     string // of the mount
	controller string // among the options of the mount, and in /proc/self/cgroup; "" in version 2

	memory, swap   string // the files of the limits
	swapWithMemory bool   // the limit of swap is of memory and swap together
}

var (
	version2 = cgroupVersion{
		name: "cgroups version 2", fsType: "cgroup2", memory: "memory.max", swap: "memory.swap.max",
	}
	version1 = cgroupVersion{
		name: "version 1", fsType: "cgroup", controller: "memory",
		memory: "memory.limit_in_bytes", swap: "memory.memsw.limit_in_bytes", swapWithMemory: true,
	}
)

// parent returns the folder of a cgroup that gives limits of memory to its children: that of this
// process or, in version 2, the next one above it that does so.
func (v cgroupVersion) parent(proc string) (string, error) {
	mount, root, err := v.mount(filepath.Join(proc, "self", "mountinfo"))
	if err != nil {
		return "", err
	}
	own, err := v.own(filepath.Join(proc, "self", "cgroup"))
	if err != nil {
		return "", err
	}
	name, err := filepath.Rel(root, own)
	// What is above the root that this process can see begins with "..".
	if err != nil || !filepath.IsLocal(name) || strings.HasPrefix(own, "/..") {
		return "", fmt.Errorf("the cgroup of this process, %s, is outside of %s", own, mount)
	}
	if v.controller != "" {
		return filepath.Join(mount, name), nil
	}
	if !hasMemory(mount, "cgroup.controllers") && !hasMemory(mount, "cgroup.subtree_control") {
		return "", fmt.Errorf("no memory controller at %s", mount)
	}
	for ; ; name = filepath.Dir(name) {
		if hasMemory(filepath.Join(mount, name), "cgroup.subtree_control") {
			return filepath.Join(mount, name), nil
		}
		if name == "." {
			return "", errors.New("no cgroup above this process has memory in its cgroup.subtree_control")
		}
	}
}

// hasMemory reports whether a file that lists controllers has that of memory.
func hasMemory(group, file string) bool {
	list, err := os.ReadFile(filepath.Join(group, file))
	return err == nil && slices.Contains(strings.Fields(string(list)), "memory")
}

// mount returns where the cgroups are mounted, and which of them that shows.
func (v cgroupVersion) mount(mountinfo string) (mount, root string, err error) {
	list, err := os.ReadFile(mountinfo)
	if err != nil {
		return "", "", err
	}
	for line := range bytes.Lines(list) {
		// proc_pid_mountinfo(5): id, parent, device, root, mount point, options ... - type, source,
		// options of the file system.
		before, after, _ := strings.Cut(string(line), " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if len(fields) > 4 && len(kind) > 2 && kind[0] == v.fsType &&
			(v.controller == "" || slices.Contains(strings.Split(kind[2], ","), v.controller)) {
			return fields[4], fields[3], nil
		}
	}
	return "", "", errors.New("not mounted")
}

// own returns the cgroup of this process.
func (v cgroupVersion) own(cgroup string) (string, error) {
	list, err := os.ReadFile(cgroup)
	if err != nil {
		return "", err
	}
	for line := range bytes.Lines(list) {
		// cgroups(7): number of the hierarchy, controllers, path. Version 2 has no controllers.
		fields := strings.SplitN(strings.TrimSpace(string(line)), ":", 3)
		if len(fields) == 3 && slices.Contains(strings.Split(fields[1], ","), v.controller) {
			return fields[2], nil
		}
	}
	return "", errors.New("this process has no such cgroup")
}

//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Three replicas, each with a server, sync in a ring over TLS while all are written to.
func TestRing(t *testing.T) {
	me := filepath.Join(t.TempDir(), "me")
	var dirs, addresses []string
	for i := range 3 {
		dirs = append(dirs, storeOf(t, 100*(i+1), 20))
		addresses = append(addresses, startServer(t, me, dirs[i]).address)
	}
	sync := func(i int) {
		want(t, 0, okraCommand(me, "sync", dirs[i], addresses[(i+1)%3], "--conflict", "larger"))
	}
	for round := range 3 {
		for i := range 3 {
			want(t, 0, exec.Command("okra", "put", dirs[i], fmt.Sprintf("own %d %d", round, i), "v"))
			want(t, 0, exec.Command("okra", "put", dirs[i], "shared", fmt.Sprintf("%d of %d", round, i)))
			sync((i + round) % 3)
		}
	}
	for i := range 6 { // nobody writes any more
		sync(i % 3)
	}
	var roots []string
	for _, dir := range dirs {
		root, _ := want(t, 0, exec.Command("okra", "root", dir))
		roots = append(roots, root)
		want(t, 0, exec.Command("okra", "verify", dir))
	}
	if roots[0] != roots[1] || roots[1] != roots[2] {
		t.Errorf("the roots are %q", roots)
	}
	if count, _ := want(t, 0, exec.Command("okra", "count", dirs[0])); strings.TrimSpace(count) != "310" {
		t.Errorf("%s entries, want 310", count)
	}
}

// Two network namespaces, joined by a pair of virtual cards, with delay and loss where the kernel
// has them. Neither is that of this process, in which others may run the same test.
func TestNamespaces(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("NOT CHECKED: only root can make network namespaces")
	}
	here := fmt.Sprintf("okra-test-%d-here", os.Getpid())
	there := fmt.Sprintf("okra-test-%d-there", os.Getpid())
	run := func(args ...string) error {
		out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%q: %w: %s", args, err, bytes.TrimSpace(out))
		}
		return nil
	}
	t.Cleanup(func() { // the cards go with them
		_ = run("ip", "netns", "del", here)
		_ = run("ip", "netns", "del", there)
	})
	for _, args := range [][]string{
		{"ip", "netns", "add", here},
		{"ip", "netns", "add", there},
		{"ip", "-n", here, "link", "add", "near", "type", "veth", "peer", "name", "far", "netns", there},
		{"ip", "-n", here, "addr", "add", "10.213.77.1/30", "dev", "near"},
		{"ip", "-n", here, "link", "set", "near", "up"},
		{"ip", "-n", there, "addr", "add", "10.213.77.2/30", "dev", "far"},
		{"ip", "-n", there, "link", "set", "far", "up"},
	} {
		if err := run(args...); err != nil {
			t.Skip("NOT CHECKED: no network namespaces here: ", err)
		}
	}
	err := run("tc", "-n", here, "qdisc", "add", "dev", "near", "root", "netem", "delay", "20ms", "5ms", "loss", "2%")
	if err != nil {
		t.Log("NOT CHECKED: delay and loss: ", err)
	}

	far, near := storeOf(t, 5000, 200), filepath.Join(t.TempDir(), "near")
	ids := t.TempDir()
	host, me := filepath.Join(ids, "host"), filepath.Join(ids, "me")
	id, _ := want(t, 0, okraCommand(me, "id"))
	s := startServerBy(t, []string{"ip", "netns", "exec", there}, host, far,
		"--listen", "10.213.77.2:0", "--allow-peer", strings.TrimSpace(id)+"=write")
	client := func(args ...string) *exec.Cmd {
		return exec.Command("ip", append([]string{"netns", "exec", here}, okraCommand(me, args...).Args...)...)
	}
	want(t, 0, client("pull", near, s.address))
	want(t, 0, exec.Command("okra", "put", near, "near", "v"))
	want(t, 0, exec.Command("okra", "put", far, "far", "v"))
	want(t, 1, client("diff", near, s.address))
	want(t, 0, client("sync", near, s.address))
	want(t, 0, client("diff", near, s.address))
	want(t, 0, exec.Command("okra", "diff", near, far))
}

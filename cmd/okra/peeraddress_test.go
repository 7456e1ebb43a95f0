package main

import (
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestParsePeer(t *testing.T) {
	for text, want := range map[string]peerAddress{
		"kv":                        {dir: "kv"},
		"/data/kv:1":                {dir: "/data/kv:1"},
		"-kv":                       {dir: "-kv"},
		"exec:ssh x 'a b'":          {command: "ssh x 'a b'"},
		"ssh://host/data/kv":        {ssh: &sshAddress{host: "host", path: "/data/kv"}},
		"ssh://a.b-c@host:22/kv":    {ssh: &sshAddress{"a.b-c", "host", 22, "/kv"}},
		"ssh://[::1]:2222/~/kv":     {ssh: &sshAddress{"", "::1", 2222, "./kv"}},
		"ssh://host/~ann/k v%25%0A": {ssh: &sshAddress{"", "host", 0, "/~ann/k v%\n"}},
		"ssh://h/~/-rf":             {ssh: &sshAddress{"", "h", 0, "./-rf"}},
	} {
		if got, err := parsePeer(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "exec:", "exec: ", "exec:a\x00", "ssh://", "ssh://host", "ssh://host/",
		"ssh://host/~/", "ssh:///path", "ssh://-host/p", "ssh://-u@host/p", "ssh://u@-host/p", "ssh://@host/p",
		"ssh://u:pw@host/p", "ssh://ho st/p", "ssh://host/%zz", "ssh://host/%00", "ssh://host:0/p", "ssh://a b@h/p",
		"ssh://$(x)@h/p", "okra://", "okra://x@y", "tcp://x/y"} {
		if got, err := parsePeer(text); err == nil {
			t.Errorf("%q is %+v, want an error", text, got)
		}
	}
}

func TestSSHArguments(t *testing.T) {
	a := sshAddress{"ann", "host", 2222, "/kv"}
	if got, want := a.args("x"), []string{"-T", "-p", "2222", "--", "ann@host", "x"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestShellQuote(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	words := []string{"a b", "", "it's", `"$HOME" \ ` + "`id`", "-n", "*", "line\nline", "\x01\xff", "$(id);|&!#~"}
	out, err := exec.Command(sh, "-c", `printf '%s\0' `+shellQuote(words...)).Output()
	if want := strings.Join(words, "\x00") + "\x00"; string(out) != want || err != nil {
		t.Errorf("the shell has %q, %v; want %q", out, err, want)
	}
}

// Whatever is read as an ssh address, ssh is given no options by it.
func FuzzParsePeer(f *testing.F) {
	f.Add("ssh://ann@host:22/data/kv")
	f.Add("ssh://[::1]/~/kv")
	f.Add("okra://x@host")
	f.Add("exec:x")
	f.Fuzz(func(t *testing.T, s string) {
		p, err := parsePeer(s)
		if err != nil || p.ssh == nil {
			return
		}
		args := p.ssh.args("command")
		to := args[len(args)-2]
		if strings.HasPrefix(to, "-") || strings.ContainsAny(to, " \t\n\x00'\"$`") || args[len(args)-3] != "--" {
			t.Errorf("%q gives ssh %q", s, args)
		}
		if !strings.HasPrefix(p.ssh.path, "/") && !strings.HasPrefix(p.ssh.path, "./") {
			t.Errorf("%q has the path %q", s, p.ssh.path)
		}
	})
}

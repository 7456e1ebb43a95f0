//go:build unix

package peer

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func start(t *testing.T, command string) (*Process, *bytes.Buffer) {
	t.Helper()
	stderr := new(bytes.Buffer)
	p, err := StartProcess(background, exec.Command("/bin/sh", "-c", command), stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p, stderr
}

func TestProcessEcho(t *testing.T) {
	p, stderr := start(t, "exec cat")
	if _, err := p.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 5)
	if _, err := io.ReadFull(p, b); string(b) != "hello" || err != nil {
		t.Errorf("read %q, %v", b, err)
	}
	if err := p.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read: %v, want a timeout", err)
	}
	if err := p.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write(make([]byte, 16<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("write: %v, want a timeout", err)
	}
	p.Close()
	if stderr.Len() > 0 {
		t.Errorf("stderr %q", stderr)
	}
}

// The error of a program that fails has its exit code and its last words, and nothing in them or
// in what is passed on that a terminal would obey.
func TestProcessFails(t *testing.T) {
	p, stderr := start(t, `printf 'first\r\n\033[31mno\tsuch\233 h\303\266st\n\n' >&2; exit 7`)
	if _, err := p.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("read: %v, want EOF", err)
	}
	err := p.Close()
	if want := `sh ended with exit status 7: \x1b[31mno\x09such\x9b höst`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if want := "first\n" + `\x1b[31mno\x09such\x9b höst` + "\n\n"; stderr.String() != want {
		t.Errorf("stderr %q, want %q", stderr, want)
	}
	if _, err := StartProcess(background, exec.Command("/nonexistent/program"), io.Discard); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such program: %v", err)
	}
}

// alive reports whether there is a process, which is no zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return syscall.Kill(pid, 0) == nil && !errors.Is(err, os.ErrNotExist)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// A program that does not end with its input is ended, with what it has started.
func TestProcessIsEnded(t *testing.T) {
	if tty, err := os.Open("/dev/tty"); err == nil {
		tty.Close()
		t.Skip("at a terminal programs have no group of their own")
	}
	for name, command := range map[string]string{
		"deaf":      `sleep 1000 & echo $!; wait`,
		"very deaf": `trap '' TERM; sleep 1000 & echo $!; while :; do sleep 1000; done`,
		"gone":      `sleep 1000 & echo $!`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := start(t, command)
			p.endTime, p.killTime = 100*time.Millisecond, 100*time.Millisecond
			b := make([]byte, 20)
			n, err := p.Read(b)
			if err != nil {
				t.Fatal(err)
			}
			child, err := strconv.Atoi(strings.TrimSpace(string(b[:n])))
			if err != nil {
				t.Fatal(err)
			}
			if !alive(child) {
				t.Fatal("the child has not begun")
			}
			p.Close()
			for until := time.Now().Add(longTime); alive(child); time.Sleep(time.Millisecond) {
				if time.Now().After(until) {
					t.Fatalf("the child %d is left behind", child)
				}
			}
		})
	}
}

func TestLongLines(t *testing.T) {
	var out bytes.Buffer
	l := &lines{to: &out}
	io.WriteString(l, strings.Repeat("x", 3*longestLine/2))
	l.flush()
	want := strings.Repeat("x", longestLine) + "\n" + strings.Repeat("x", longestLine/2) + "\n"
	if out.String() != want || l.last() != strings.Repeat("x", longestLine/2) {
		t.Errorf("%d bytes, last %.20q", out.Len(), l.last())
	}
	l.flush()
	if out.String() != want {
		t.Error("a line comes out twice")
	}
}

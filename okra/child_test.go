package okra_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// What a child process is told by its environment: the test and the part of it that it runs,
// and an argument.
const (
	partVar = "OKRA_TEST_PART"
	argVar  = "OKRA_TEST_ARG"
)

// childTime bounds the life of a child, and any other wait: only what hangs takes so long, on a
// machine however slow.
const childTime = 5 * time.Minute

// mark begins each line that a child tells its test; what else it prints is a log.
const mark = "> "

// parts are the parts of a test that run in processes of their own.
type parts map[string]func(t *testing.T, p *parent)

// A parent is the test, as a child process sees it.
type parent struct {
	arg   string
	lines *bufio.Scanner
}

// tell sends the test a line.
func (p *parent) tell(format string, args ...any) {
	fmt.Printf(mark+format+"\n", args...)
}

// hear waits for a line of the test, and returns false when there will be none.
func (p *parent) hear() (string, bool) {
	ok := p.lines.Scan()
	return p.lines.Text(), ok
}

// isChild runs one of the parts if this process was started for that, and reports whether.
func isChild(t *testing.T, all parts) bool {
	test, name, _ := strings.Cut(os.Getenv(partVar), ":")
	if test != t.Name() {
		return false
	}
	all[name](t, &parent{arg: os.Getenv(argVar), lines: bufio.NewScanner(os.Stdin)})
	return true
}

// alone runs fn in a process of its own, for what would kill the process or hang if it failed.
func alone(t *testing.T, fn func(t *testing.T)) {
	t.Helper()
	run := func(t *testing.T, _ *parent) { fn(t) }
	if !isChild(t, parts{"alone": run}) {
		start(t, "alone", "").end()
	}
}

// A child is a process that runs a part of a test.
type child struct {
	t     *testing.T
	part  string
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string // what it tells; closed at its end

	mu  sync.Mutex
	log strings.Builder // what else it prints
}

// start starts a part of the test in a process that ends with the test at the latest.
func start(t *testing.T, part, arg string) *child {
	t.Helper()
	return startAs(t, part, arg, nil)
}

// startAs is start with attributes of the process.
func startAs(t *testing.T, part, arg string, attr *syscall.SysProcAttr) *child {
	t.Helper()
	c := newChild(t, part, arg, attr)
	if err := c.run(); err != nil {
		t.Fatal(err)
	}
	return c
}

func newChild(t *testing.T, part, arg string, attr *syscall.SysProcAttr) *child {
	c := &child{t: t, part: part, lines: make(chan string, 64)}
	c.cmd = exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.timeout="+childTime.String())
	c.cmd.Env = append(os.Environ(), partVar+"="+t.Name()+":"+part, argVar+"="+arg,
		"GORACE=atexit_sleep_ms=0")
	if testing.Short() {
		c.cmd.Args = append(c.cmd.Args, "-test.short")
	}
	c.cmd.SysProcAttr = attr
	return c
}

func (c *child) run() error {
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return err
	}
	c.cmd.Stderr = c
	if err := c.cmd.Start(); err != nil {
		return err
	}
	c.t.Cleanup(c.kill) // nothing, if it has ended
	go func() {
		defer close(c.lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if line, ok := strings.CutPrefix(lines.Text(), mark); ok {
				c.lines <- line
			} else {
				fmt.Fprintln(c, lines.Text())
			}
		}
	}()
	return nil
}

// Write takes what the child prints.
func (c *child) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.Write(p)
}

// text returns what the child has printed, without the list of its goroutines.
func (c *child) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, _, _ := strings.Cut(c.log.String(), "\n\ngoroutine ")
	return text
}

// tell sends the child a line.
func (c *child) tell(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatalf("%s: %v: %s", c.part, err, c.text())
	}
}

// next waits for a line of the child, and returns false at its end.
func (c *child) next() (string, bool) {
	c.t.Helper()
	select {
	case line, ok := <-c.lines:
		return line, ok
	case <-time.After(childTime):
		c.t.Fatalf("%s says nothing: %s", c.part, c.text())
		return "", false
	}
}

// hear demands that the next line of the child is the one wanted.
func (c *child) hear(want string) {
	c.t.Helper()
	if line, ok := c.next(); !ok || line != want {
		c.kill()
		c.t.Fatalf("%s says %q, want %q: %s", c.part, line, want, c.text())
	}
}

// ask sends the child a line and demands the answer "done".
func (c *child) ask(line string) {
	c.t.Helper()
	c.tell(line)
	c.hear("done")
}

// end waits for the child to end well, which it may by hearing no more.
func (c *child) end() {
	c.t.Helper()
	c.in.Close()
	for {
		if _, ok := c.next(); !ok {
			break
		}
	}
	if err := c.cmd.Wait(); err != nil {
		c.t.Errorf("%s: %v: %s", c.part, err, c.text())
	}
}

// kill ends the child at once, by SIGKILL.
func (c *child) kill() {
	c.cmd.Process.Kill()
	for range c.lines {
	}
	c.cmd.Wait()
}

// inside returns the names of the files in dir.
func inside(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		names = append(names, f.Name())
	}
	return names
}

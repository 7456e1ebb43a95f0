package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/okradb/okra-go/bench"
)

// childVariable is set in the environment of processes that [Serve] is for.
const childVariable = "OKRA_BENCH_CHILD"

const (
	maxRequest  = 1 << 20  // bytes
	maxResponse = 64 << 20 // bytes: a timeline may be long
	maxComplain = 4 << 10  // bytes of standard error that are kept
)

// exitBroken is the exit code of a process that could not answer.
const exitBroken = 3

// ErrKilled is the error of a process that was killed.
var ErrKilled = errors.New("process was killed")

// The parts of a repetition that are not helpers.
const (
	partPrepare = "prepare"
	partRun     = "run"
	partCheck   = "check"
)

// request says what a process is to do.
type request struct {
	Suite   string  `json:"suite"`
	Options Options `json:"options"`
	Cell    string  `json:"cell"` // its title
	Side    string  `json:"side"`
	Part    string  `json:"part"`
	Number  int     `json:"number"`
	Dir     string  `json:"dir"`
}

// response is what came of it.
type response struct {
	Measurement Measurement    `json:"measurement"`
	Contents    bench.Contents `json:"contents"`
	Error       string         `json:"error,omitempty"`
}

// Process is a running helper.
type Process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.Reader
	stderr *tail
	cancel context.CancelFunc
}

// start starts a process, which waits for its work. When ctx ends the process is killed. A helper
// belongs to the group of this process; others lead a group of their own, and their helpers are
// killed with them.
func start(ctx context.Context, helper bool) (*Process, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &Process{cmd: exec.CommandContext(ctx, exe), stderr: &tail{}, cancel: cancel}
	p.cmd.Env = append(os.Environ(), childVariable+"=1")
	if helper {
		// The same file: who reads it sees its end only when all helpers have ended, too.
		p.cmd.Stderr = os.Stderr
	} else {
		p.cmd.Stderr = p.stderr
		lead(p.cmd)
	}
	if err := p.begin(); err != nil {
		cancel()
		return nil, fmt.Errorf("start process: %w", err)
	}
	return p, nil
}

// begin starts the process. Its standard input stays open: it ends when that is closed, as it is
// when this process ends.
func (p *Process) begin() error {
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	if p.stdout, err = p.cmd.StdoutPipe(); err != nil {
		return err
	}
	return p.cmd.Start()
}

// send gives the process its work. One that cannot read it says why when it is waited for.
func (p *Process) send(req request) { _ = json.NewEncoder(p.stdin).Encode(req) }

// Wait waits until the process has ended and returns what it measured, its error, or [ErrKilled].
func (p *Process) Wait() (Measurement, error) {
	r, err := p.wait()
	return r.Measurement, err
}

// Kill ends the process as SIGKILL does. Wait must still be called.
func (p *Process) Kill() { p.cancel() }

func (p *Process) wait() (response, error) {
	defer p.cancel()
	var r response
	data, readErr := io.ReadAll(io.LimitReader(p.stdout, maxResponse+1))
	_ = p.stdin.Close() // wakes a process that has more to say than it may
	waitErr := p.cmd.Wait()
	switch {
	case waitErr != nil && killed(p.cmd.ProcessState):
		return r, ErrKilled
	case waitErr != nil:
		return r, fmt.Errorf("process ended with %w: %s", waitErr, p.stderr.String())
	case readErr != nil:
		return r, fmt.Errorf("read what a process measured: %w", readErr)
	case len(data) > maxResponse:
		return r, fmt.Errorf("read what a process measured: more than %d bytes", maxResponse)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("read what a process measured: %w", err)
	}
	if r.Error != "" {
		return r, errors.New(r.Error)
	}
	return r, nil
}

// tail keeps the end of what is written to it.
type tail struct{ bytes.Buffer }

func (t *tail) Write(p []byte) (int, error) {
	n, err := t.Buffer.Write(p)
	if over := t.Len() - maxComplain; over > 0 {
		t.Next(over)
	}
	return n, err
}

func (t *tail) String() string { return strings.TrimSpace(t.Buffer.String()) }

// Serve does the work of a process that [Run] or [Rep.Start] has started, and ends it. In any
// other process it does nothing. It must be called before the program does anything else, with
// the suites that it can run.
func Serve(suites ...Suite) {
	if os.Getenv(childVariable) == "" {
		return
	}
	// The variable is not for programs that a side may start.
	_ = os.Unsetenv(childVariable)
	input := json.NewDecoder(io.LimitReader(os.Stdin, maxRequest))
	var req request
	if err := input.Decode(&req); err != nil {
		fmt.Fprintln(os.Stderr, "read request:", err)
		os.Exit(exitBroken)
	}
	go func() {
		// Nothing more comes: this waits for the end of who has started us.
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(exitBroken)
	}()
	out := os.Stdout
	os.Stdout = os.Stderr // what a side prints must not spoil the response
	r := serve(suites, req)
	if err := json.NewEncoder(out).Encode(r); err != nil {
		fmt.Fprintln(os.Stderr, "send what was measured:", err)
		os.Exit(exitBroken)
	}
	os.Exit(0)
}

// serve does req.
func serve(suites []Suite, req request) response {
	var r response
	side, err := find(suites, req)
	if err == nil {
		rep := &Rep{Dir: req.Dir, Number: req.Number, Seed: req.Options.Seed<<16 + uint64(req.Number), request: req}
		switch req.Part {
		case partPrepare:
			err = side.Prepare(rep)
		case partRun:
			r.Measurement, err = side.Run(rep)
			r.Measurement.PeakMemory = max(r.Measurement.PeakMemory, peakMemory())
		case partCheck:
			r.Contents, err = side.Check(rep)
		default:
			help := side.Helpers[req.Part]
			if help == nil {
				return response{Error: fmt.Sprintf("no helper %q", req.Part)}
			}
			r.Measurement, err = help(rep)
			r.Measurement.PeakMemory = peakMemory()
		}
	}
	if err != nil {
		return response{Error: err.Error()}
	}
	return r
}

// find returns the side that req means.
func find(suites []Suite, req request) (Side, error) {
	for _, s := range suites {
		if s.Name != req.Suite {
			continue
		}
		cells, err := s.Cells(req.Options)
		if err != nil {
			return Side{}, err
		}
		for _, c := range cells {
			if c.title() != req.Cell {
				continue
			}
			if i := slices.IndexFunc(c.Sides, func(s Side) bool { return s.Name == req.Side }); i >= 0 {
				return c.Sides[i], nil
			}
		}
	}
	return Side{}, fmt.Errorf("suite %q has no cell %q with side %q in a new process", req.Suite, req.Cell, req.Side)
}

package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

var errNotTaken = errors.New("the other side does not take what was written")

// How long a program may take to end, after its input has ended and after it was asked to.
const (
	endTime  = 5 * time.Second
	killTime = time.Second

	hurriedTime = 200 * time.Millisecond // for the former, if nobody waits any longer
)

// A Process is a program whose standard input and output are a connection to a peer.
type Process struct {
	ctx    context.Context
	cmd    *exec.Cmd
	in     *os.File // the program reads what is written to it
	out    *os.File
	stderr *lines
	exited chan struct{}
	left   bool // once exited: the program has left others behind

	endTime, killTime time.Duration
	once              sync.Once
	err               error // of Close
}

// StartProcess starts cmd, whose streams must not be set. What it writes to its standard error
// goes to stderr by whole lines, with escapes for what is not printable. Call Close at the end;
// if ctx has ended by then, that has less patience.
func StartProcess(ctx context.Context, cmd *exec.Cmd, stderr io.Writer) (*Process, error) {
	theirIn, ourIn, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ourOut, theirOut, err := os.Pipe()
	if err != nil {
		theirIn.Close()
		ourIn.Close()
		return nil, err
	}
	p := &Process{ctx: ctx, cmd: cmd, in: ourIn, out: ourOut, stderr: &lines{to: stderr},
		exited: make(chan struct{}), endTime: endTime, killTime: killTime}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirIn, theirOut, p.stderr
	cmd.WaitDelay = killTime // for what it has started and left behind with its standard error
	setGroup(cmd)
	err = cmd.Start()
	theirIn.Close()
	theirOut.Close()
	if err != nil {
		ourIn.Close()
		ourOut.Close()
		return nil, fmt.Errorf("start %s: %w", filepath.Base(cmd.Path), err)
	}
	go func() {
		// Of how it ended its state says more.
		p.left = errors.Is(cmd.Wait(), exec.ErrWaitDelay)
		p.stderr.flush()
		close(p.exited)
	}()
	return p, nil
}

// Read reads what the program writes.
func (p *Process) Read(b []byte) (int, error) { return p.out.Read(b) }

// Write writes to the program.
func (p *Process) Write(b []byte) (int, error) { return p.in.Write(b) }

// SetReadDeadline is that of a net.Conn.
func (p *Process) SetReadDeadline(t time.Time) error { return p.out.SetReadDeadline(t) }

// SetWriteDeadline is that of a net.Conn.
func (p *Process) SetWriteDeadline(t time.Time) error { return p.in.SetWriteDeadline(t) }

// Close ends the streams and waits for the program to end; if it does not it is asked to, and
// killed at last. The error says how it ended, with its last words, unless that was well.
func (p *Process) Close() error {
	p.once.Do(func() { p.err = p.end() })
	return p.err
}

func (p *Process) end() error {
	p.in.Close()
	p.out.Close()
	patience := p.endTime
	if p.ctx.Err() != nil {
		patience = min(patience, hurriedTime)
	}
	if !p.wait(patience) {
		terminate(p.cmd)
		if !p.wait(p.killTime) {
			kill(p.cmd)
			<-p.exited
		}
	}
	if p.left {
		kill(p.cmd)
	}
	name, state := filepath.Base(p.cmd.Path), p.cmd.ProcessState
	if state.Success() {
		return nil
	}
	if last := p.stderr.last(); last != "" {
		return fmt.Errorf("%s ended with %s: %s", name, state, last)
	}
	return fmt.Errorf("%s ended with %s", name, state)
}

// wait waits for the program to end, but not for longer than d.
func (p *Process) wait(d time.Duration) bool {
	select {
	case <-p.exited:
		return true
	case <-time.After(d):
		return false
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/okradb/okra-go/okra"
	okrasync "github.com/okradb/okra-go/sync"
	"github.com/okradb/okra-go/sync/peer"
)

// connectFlags are the options about how peers are reached.
func connectFlags() []cli.Flag {
	return []cli.Flag{
		identityFlag(),
		&cli.StringFlag{Name: "ssh", EnvVars: []string{"OKRA_SSH"}, DefaultText: "ssh",
			Usage: "reach ssh:// peers with `COMMAND`, which the shell reads, as 'ssh -i key'"},
		&cli.StringFlag{Name: "remote-okra", Value: "okra",
			Usage: "the `PROGRAM` to run on the machine of an ssh:// peer"},
		&cli.DurationFlag{Name: "timeout", DefaultText: "none",
			Usage: "give up after `DURATION`, as 90s or 1h"},
	}
}

// A connection is a peer that answers.
type connection struct {
	okrasync.Conn
	end    func() error
	served *okrasync.Summary // of a peer served here, once the connection is closed; else nil
}

// close ends the connection, if it has not ended. The error says what the other side, if it was
// started here, has to say about why it did not end well.
func (c *connection) close() error { return c.end() }

// connect reaches a peer, that of a local store already open as db. With write it asks for the
// right to change the peer's tree.
func connect(c *cli.Context, ctx context.Context, p peerAddress, db *okra.DB, write bool) (*connection, error) {
	switch {
	case p.tls != nil:
		me, err := loadIdentity(c)
		if err != nil {
			return nil, err
		}
		conn, err := peer.Dial(ctx, me, *p.tls)
		if err != nil {
			return nil, err
		}
		return &connection{Conn: conn, end: func() error {
			_ = conn.Close() // of a session that failed it would tell only that once more
			return nil
		}}, nil
	case p.ssh != nil:
		return startProgram(c, ctx, sshCommand(c, *p.ssh, write))
	case p.command != "":
		return startProgram(c, ctx, exec.Command("/bin/sh", "-c", p.command))
	}
	limit, err := maxValue(c)
	if err != nil {
		return nil, err
	}
	opts := okrasync.ServeOptions{Write: write, Limits: okrasync.Limits{MaxValue: limit}}
	return serveHere(ctx, p.dir, db, opts), nil
}

func startProgram(c *cli.Context, ctx context.Context, cmd *exec.Cmd) (*connection, error) {
	proc, err := peer.StartProcess(ctx, cmd, c.App.ErrWriter)
	if err != nil {
		return nil, err
	}
	return &connection{Conn: proc, end: proc.Close}, nil
}

// sshCommand returns the program that serves the store at a, here by way of ssh.
func sshCommand(c *cli.Context, a sshAddress, write bool) *exec.Cmd {
	words := []string{c.String("remote-okra"), "serve", "--stdio"}
	if write {
		words = append(words, "--write")
	}
	if table := c.String("table"); table != "" {
		words = append(words, "--table="+table)
	}
	if limit := c.String("max-value"); limit != "" {
		words = append(words, "--max-value="+limit)
	}
	args := a.args(shellQuote(append(words, "--", a.path)...))
	ssh := c.String("ssh")
	if ssh == "" {
		return exec.Command("ssh", args...)
	}
	// The shell finds the words of the option; the rest it is given as they are.
	return exec.Command("/bin/sh", append([]string{"-c", ssh + ` "$@"`, ssh}, args...)...)
}

// serveHere serves db, the store in dir, to the connection that it returns.
func serveHere(ctx context.Context, dir string, db *okra.DB, opts okrasync.ServeOptions) *connection {
	ours, theirs := net.Pipe()
	var sum okrasync.Summary
	ended := make(chan error, 1)
	go func() {
		var err error
		if sum, err = okrasync.Serve(ctx, theirs, db, &opts); err != nil {
			err = peerError{dir, err}
		}
		theirs.Close()
		ended <- err
	}()
	return &connection{ours, sync.OnceValue(func() error {
		ours.Close()
		return <-ended
	}), &sum}
}

// A peerError is an error of a peer's store on this machine. It hides what the error is: the next
// step would be about the other store.
type peerError struct {
	dir string
	err error
}

func (e peerError) Error() string { return fmt.Sprintf("the peer %s: %v", e.dir, e.err) }

// Is reports whether e is an error of the session, of which there is no next step.
func (e peerError) Is(target error) bool {
	return (target == okrasync.ErrPeer || target == okrasync.ErrCut) && errors.Is(e.err, target)
}

// openPeer opens the store of a peer that is a directory, which must not be that of dir. For
// other peers it returns nil.
func openPeer(c *cli.Context, p peerAddress, dir string, write bool) (*okra.DB, error) {
	if p.dir == "" {
		return nil, nil
	}
	if sameStore(dir, p.dir) {
		return nil, usagef(c, "%s and %s are the same store", dir, p.dir)
	}
	db, err := openStore(c, p.dir, !write)
	if err != nil {
		return nil, &exitError{exitFailed, peerError{p.dir, err}}
	}
	return db, nil
}

// sameStore reports whether two paths lead to one directory, or to two with one data file.
func sameStore(a, b string) bool {
	return sameFile(a, b) || sameFile(filepath.Join(a, "data.mdb"), filepath.Join(b, "data.mdb"))
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	two, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, two)
}

// openStore opens the store at dir, which must exist, in the table which c names.
func openStore(c *cli.Context, dir string, readOnly bool) (*okra.DB, error) {
	// A writing open would create what is missing: a mistyped directory or table.
	if err := withReader(c, dir, func(*okra.DB) error { return nil }); err != nil {
		return nil, err
	}
	size, err := mapSize(c)
	if err != nil {
		return nil, err
	}
	return okra.Open(dir, &okra.Options{Table: c.String("table"), ReadOnly: readOnly, MaxSize: size})
}

// withTimeout returns the context of c with the end that --timeout sets.
func withTimeout(c *cli.Context) (context.Context, context.CancelFunc, error) {
	d := c.Duration("timeout")
	if c.IsSet("timeout") && d <= 0 {
		return nil, nil, usagef(c, "--timeout %v must be longer than nothing", d)
	}
	if d == 0 {
		ctx, cancel := context.WithCancel(c.Context)
		return ctx, cancel, nil
	}
	ctx, cancel := context.WithTimeoutCause(c.Context, d, fmt.Errorf("not done within --timeout %v", d))
	return ctx, cancel, nil
}

// session calls talk with a connection to the peer p and closes that. The error, if both fail, is
// of both sides, and has the exit code of a failure, since what fails is not the command line.
func session(c *cli.Context, ctx context.Context, p peerAddress, db *okra.DB, write bool,
	talk func(*connection) error) error {
	err := patiently(ctx, func() error {
		conn, err := connect(c, ctx, p, db, write)
		if err != nil {
			return err
		}
		err = talk(conn)
		if said := conn.close(); err != nil && said != nil && adds(said, err) {
			if conn.served != nil {
				return said // from the store itself: our side has only lost it
			}
			err = fmt.Errorf("%w; %w", err, said)
		}
		return err
	})
	return sessionError(c, ctx, err)
}

// adds reports whether said, of the side that answers, tells more about why a session has failed
// than err, of ours, which often has the reason of the other side or is itself that reason.
func adds(said, err error) bool {
	switch {
	case errors.Is(said, okrasync.ErrPeer), errors.Is(said, okrasync.ErrCut):
		return false // it was we who ended the session
	case errors.Is(err, okrasync.ErrPeer):
		// Of what fails in its store the other side tells us little, but else what it gave up with.
		return !strings.Contains(err.Error(), "it gave up with")
	case errors.Is(err, okrasync.ErrCut):
		return true
	case errors.Is(err, okrasync.ErrTimeout), errors.Is(err, okrasync.ErrProtocol):
		// Perhaps it was not okra, or it is okra and says what we have told it.
		return !strings.Contains(said.Error(), strings.Trim(strconv.QuoteToASCII(err.Error()), `"`))
	}
	return false
}

// endPatience is how long work may go on when its context has ended: a session may wait for the
// lock of another program that writes, which nothing can interrupt.
const endPatience = 10 * time.Second

// patiently runs work, which ends soon when ctx does. If it does not it is left behind, and the
// program must end.
func patiently(ctx context.Context, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(endPatience):
		return ctx.Err()
	}
}

// sessionError gives err, of a session, the exit code of a signal if there was one and else that
// of a failure. Its text, of which the peer may have chosen a part, is for a terminal.
func sessionError(c *cli.Context, ctx context.Context, err error) error {
	var coded *exitError
	switch {
	case err == nil, errors.As(err, &coded):
		return err
	case c.Context.Err() != nil:
		return c.Context.Err()
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		err = context.Cause(ctx)
	}
	return &exitError{exitFailed, printableError{err}}
}

// A printableError is an error with escapes for what is not printable in its text.
type printableError struct{ error }

func (e printableError) Error() string { return peer.Printable([]byte(e.error.Error())) }
func (e printableError) Unwrap() error { return e.error }

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/PowerDNS/lmdb-go/lmdb"
	"github.com/urfave/cli/v2"

	"github.com/okradb/okra-go/okra"
)

// The exit codes. They are part of the command's interface and are listed in its help.
const (
	exitDone        = 0   // everything asked for was done
	exitNo          = 1   // the answer is no: a key was not found, two things differ
	exitUsage       = 2   // bad usage: options, arguments or notation
	exitFailed      = 3   // the work failed
	exitInterrupted = 130 // a signal asked to stop, as shells number it
	exitPipe        = 141 // the reader of standard output went away, as shells number it
)

// An exitError is an error with its exit code.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usagef returns an error with exit code 2 which names the verb of c and its help.
func usagef(c *cli.Context, format string, args ...any) error {
	verb, help := "", "okra --help"
	if c.Command != nil && c.Command.Name != c.App.Name && c.Command.Name != "" {
		name := c.Command.Name
		if above := c.Lineage(); len(above) > 1 && above[1].Command != nil && above[1].Command.Name == "bench" {
			name = "bench " + name
		}
		verb, help = name+": ", "okra "+name+" --help"
	}
	err := fmt.Errorf(format, args...)
	return &exitError{exitUsage, fmt.Errorf("%s%w; see %s", verb, err, help)}
}

// onUsageError replaces the framework's page of help after a bad option by one line.
func onUsageError(c *cli.Context, err error, _ bool) error {
	return usagef(c, "%w", err)
}

// answerNo returns an error with exit code 1.
func answerNo(format string, args ...any) error {
	return &exitError{exitNo, fmt.Errorf(format, args...)}
}

// failed says what was being done to which store when err happened, and the next step where one
// is known. Nil, and usage errors, stay as they are.
func failed(c *cli.Context, dir string, err error) error {
	if err == nil || codeOf(err) == exitUsage && isCoded(err) {
		return err
	}
	verb := c.Command.Name
	if step := nextStep(c, dir, err); step != "" {
		return fmt.Errorf("%s %s: %w; %s", verb, dir, err, step)
	}
	return fmt.Errorf("%s %s: %w", verb, dir, err)
}

func isCoded(err error) bool {
	var e *exitError
	return errors.As(err, &e)
}

// isSession reports whether the verb writes batch by batch, in a session with a peer.
func isSession(c *cli.Context) bool {
	switch c.Command.Name {
	case "pull", "push", "sync", "serve":
		return true
	}
	return false
}

// nextStep returns what the user can do about err, or "".
func nextStep(c *cli.Context, dir string, err error) string {
	var op *lmdb.OpError
	switch {
	case errors.Is(err, okra.ErrNotExist):
		return "create a store with: okra init " + dir
	case errors.Is(err, okra.ErrNoTable):
		return "create a tree in a table with: okra init " + dir + " --table TABLE"
	case errors.Is(err, okra.ErrNotOkra) && c.Command.Name != "init" && !c.IsSet("table"):
		return "if its trees are in named tables, choose one with --table"
	case errors.Is(err, okra.ErrMapFull):
		return "give it more room with --map-size, for example --map-size 64GiB"
	case errors.Is(err, okra.ErrNoValues):
		return "see its keys and hashes with: okra scan " + dir
	case errors.Is(err, okra.ErrCorrupt):
		return "see what is wrong with: okra verify " + dir + ", and save what can be with: okra rebuild " +
			dir + " NEWDIR"
	case errors.Is(err, okra.ErrDiskFull):
		if isSession(c) {
			return "free some space; nothing of the last batch was changed"
		}
		return "free some space; nothing was changed"
	case errors.As(err, &op) && op.Errno == syscall.ENOMEM:
		return "this machine cannot map so much; choose a smaller --map-size"
	case errors.Is(err, okra.ErrPermission) && !strings.Contains(err.Error(), "lock.mdb"):
		return "reading needs write access to lock.mdb, writing to data.mdb too"
	}
	return ""
}

// codeOf returns the exit code for err.
func codeOf(err error) int {
	var coded *exitError
	var framework cli.ExitCoder // says that there is no help on something
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &coded):
		return coded.code
	case errors.As(err, &framework):
		return exitUsage
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, syscall.EPIPE):
		return exitPipe
	case errors.Is(err, okra.ErrNotFound):
		return exitNo
	case errors.Is(err, okra.ErrKeyEmpty), errors.Is(err, okra.ErrKeyTooLong),
		errors.Is(err, okra.ErrValueTooLong), errors.Is(err, okra.ErrOptions):
		return exitUsage
	}
	return exitFailed
}

// report prints err for the user and returns its exit code. A reader of standard output that
// went away is no news to anybody and is not printed.
func report(w io.Writer, err error) int {
	code := codeOf(err)
	switch {
	case code == exitDone || code == exitPipe:
	case err.Error() != "":
		fmt.Fprintf(w, "okra: %s\n", errorText(err))
	}
	return code
}

// errorText returns what is said to the user about err.
func errorText(err error) string {
	if codeOf(err) == exitInterrupted {
		return "interrupted"
	}
	return err.Error()
}

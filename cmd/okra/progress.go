package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

func progressFlag() cli.Flag {
	return &cli.BoolFlag{
		Name:  "progress",
		Usage: "show progress on standard error, also when that is no terminal",
	}
}

// progressEvery is the time between two signs of life.
const progressEvery = time.Second

// A progress says on standard error how far long work has come, about once a second: on one line
// that is written over if standard error is a terminal, as lines with --progress, else not at all.
// It belongs to one goroutine.
type progress struct {
	out   io.Writer // nil: silent
	tty   bool
	what  string // what is counted, with the verb: "entries counted"
	count int64
	next  time.Time
	shown bool // whether a line stands on the terminal
}

func newProgress(c *cli.Context, what string) *progress {
	tty := term.IsTerminal(int(os.Stderr.Fd()))
	p := &progress{tty: tty, what: what, next: time.Now().Add(progressEvery)}
	if tty || c.Bool("progress") {
		p.out = c.App.ErrWriter
	}
	return p
}

// add counts n more.
func (p *progress) add(n int64) {
	before := p.count
	p.count += n
	// The clock is read once in a while only: it costs as much as reading an entry.
	if p.out == nil || before>>10 == p.count>>10 || time.Now().Before(p.next) {
		return
	}
	p.next = time.Now().Add(progressEvery)
	p.show()
}

func (p *progress) show() {
	start, end := "", "\n"
	if p.tty {
		start, end = "\r\x1b[K", ""
	}
	fmt.Fprintf(p.out, "%sokra: %s %s%s", start, humanize.Comma(p.count), p.what, end)
	p.shown = true
}

// end clears the line on a terminal; where lines are kept it writes the final count.
func (p *progress) end() {
	switch {
	case p.out == nil:
	case !p.tty:
		p.show()
	case p.shown:
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

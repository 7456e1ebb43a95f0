package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

func progressFlag() cli.Flag {
	return &cli.BoolFlag{
		Name:  "progress",
		Usage: "show progress on standard error, also when that is no terminal",
	}
}

// progressFlags are those of verbs that end with a line of what was done.
func progressFlags() []cli.Flag {
	return []cli.Flag{
		progressFlag(),
		&cli.BoolFlag{Name: "quiet", Usage: "say nothing on standard error but errors"},
	}
}

// checkProgress returns a usage error for --progress with --quiet.
func checkProgress(c *cli.Context) error {
	if c.Bool("progress") && c.Bool("quiet") {
		return usagef(c, "--progress and --quiet do not fit together")
	}
	return nil
}

// say prints a line on standard error, unless --quiet is given.
func say(c *cli.Context, format string, args ...any) {
	if !c.Bool("quiet") {
		fmt.Fprintf(c.App.ErrWriter, "okra: "+format+"\n", args...)
	}
}

// The time between two signs of life: of lines, and of what is written over on a terminal.
const (
	progressEvery = time.Second
	redrawEvery   = 100 * time.Millisecond
)

// A progress says on standard error how far long work has come: on a line that is written over
// if standard error is a terminal, with a bar if it is known where the work ends; as lines, about
// one a second, with --progress; with --quiet and else not at all. It belongs to one goroutine.
type progress struct {
	out   io.Writer // nil: silent
	tty   bool
	what  string // what is counted, with the verb: "entries counted"
	bytes bool   // bytes are counted
	count int64
	total int64 // 0: not known
	next  time.Time
	shown bool // whether a line stands on the terminal
	bar   *progressbar.ProgressBar
}

func newProgress(c *cli.Context, what string) *progress {
	tty := term.IsTerminal(int(os.Stderr.Fd()))
	p := &progress{tty: tty, what: what, next: time.Now().Add(progressEvery)}
	if (tty || c.Bool("progress")) && !c.Bool("quiet") {
		p.out = c.App.ErrWriter
	}
	return p
}

// upTo returns p with its end known; a total of 0 stands for none. Units are chosen before.
func (p *progress) upTo(total int64) *progress {
	p.total = total
	if p.out != nil && p.tty && total > 0 {
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(p.out),
			progressbar.OptionSetDescription("okra: "+p.what),
			progressbar.OptionSetWidth(20),
			progressbar.OptionShowBytes(p.bytes),
			progressbar.OptionUseIECUnits(true),
			progressbar.OptionShowCount(),
			progressbar.OptionClearOnFinish(),
		)
		p.bar.StartWithoutRender()
	}
	return p
}

// ofBytes returns p counting bytes.
func (p *progress) ofBytes() *progress {
	p.bytes = true
	return p
}

// add counts n more.
func (p *progress) add(n int64) { p.set(p.count + n) }

// set counts to n, which is not below the count before.
func (p *progress) set(n int64) {
	before := p.count
	p.count = n
	// The clock is read once in a while only: it costs as much as reading an entry.
	if p.out == nil || before>>10 == p.count>>10 || time.Now().Before(p.next) {
		return
	}
	p.show()
	p.next = time.Now().Add(progressEvery)
	if p.bar != nil {
		p.next = time.Now().Add(redrawEvery)
	}
}

func (p *progress) show() {
	p.shown = true
	if p.bar != nil {
		_ = p.bar.Set64(min(p.count, p.total)) // not to be able to show is no reason to fail
		return
	}
	start, end := "", "\n"
	if p.tty {
		start, end = "\r\x1b[K", ""
	}
	count := p.number(p.count)
	if p.total > 0 {
		count += " of " + p.number(p.total)
	}
	fmt.Fprintf(p.out, "%sokra: %s %s%s", start, count, p.what, end)
}

func (p *progress) number(n int64) string {
	if p.bytes {
		return humanize.IBytes(uint64(max(n, 0)))
	}
	return humanize.Comma(n)
}

// end clears the line on a terminal; where lines are kept it writes the final count.
func (p *progress) end() {
	switch {
	case p.out == nil:
	case !p.tty:
		p.show()
	case p.bar != nil && p.shown:
		_ = p.bar.Finish()
	case p.shown:
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v2"

	"github.com/okradb/okra-go/okra"
	okrasync "github.com/okradb/okra-go/sync"
)

// peerHelp is what the verbs with a peer have to say about it.
const peerHelp = `PEER is the other store:
  okra://ID@host:port           what "okra serve" has printed
  ssh://[user@]host[:port]/path a store on a machine with okra, reached by ssh
                                (/~/path is one in your home there)
  exec:COMMAND                  the shell runs COMMAND, whose standard input and
                                output speak for it, as "okra serve DIR --stdio"
  DIR                           a directory on this machine`

const syncHelp = `Only what differs is sent. A tree does not tell "deleted here" from "added there",
so nothing is deleted, and a key that was deleted on one side only comes back
from the other. What was written before a failure stays; run it again for the
rest.

A key with different values on both sides is a conflict. --conflict report leaves
both values as they are, mine takes that of DIR, theirs that of PEER, and larger
that whose hash is larger, so that replicas come to the same whatever the order.

Exit code 1 says that conflicts are left or entries were refused.
`

func pullCommand() *cli.Command {
	return &cli.Command{
		Name:      "pull",
		Usage:     "bring what a peer has into a store",
		UsageText: "okra pull DIR PEER [OPTIONS]",
		ArgsUsage: "DIR PEER",
		Description: `Bring the entries that PEER has and DIR has not into DIR. A store that is missing
is made; its Q and K must be those of the peer's tree, so give -q and -k if they
are not the default ones (those of a PEER on this machine are found out). Trees in
index mode cannot be pulled: they have no values.
With --mirror DIR becomes equal to PEER: what only DIR has is deleted, and where
both have a key PEER is right.

` + syncHelp + `
` + peerHelp + `

Examples:
  okra pull /data/copy ssh://ann@host/data/kv
  okra pull /data/copy okra://ID@host:7346 --mirror --dry-run
  okra pull /data/kv /mnt/usb/kv --prefix user/ --conflict theirs`,
		Flags: append([]cli.Flag{
			mirrorFlag("DIR", "PEER"),
			&cli.UintFlag{Name: "q", DefaultText: "32",
				Usage: "mean number of children of a node in a new tree: `Q`"},
			&cli.UintFlag{Name: "k", DefaultText: "16", Usage: "bytes of a hash in a new tree: `K`"},
		}, syncFlags()...),
		Action: onDir(1, 1, func(c *cli.Context, dir string, args []string) error {
			return runSync(c, dir, args[0], pullVerb)
		}),
	}
}

func pushCommand() *cli.Command {
	return &cli.Command{
		Name:      "push",
		Usage:     "bring what a store has to a peer",
		UsageText: "okra push DIR PEER [OPTIONS]",
		ArgsUsage: "DIR PEER",
		Description: `Bring the entries that DIR has and PEER has not to PEER, which must allow writing.
With --mirror PEER becomes equal to DIR: what only PEER has is deleted, and where
both have a key DIR is right.

` + syncHelp + `
` + peerHelp + `

Examples:
  okra push /data/kv ssh://ann@host/data/kv
  okra push /data/kv okra://ID@host:7346 --conflict mine
  okra push /data/kv /mnt/usb/kv --mirror --dry-run`,
		Flags: append([]cli.Flag{mirrorFlag("PEER", "DIR")}, syncFlags()...),
		Action: onDir(1, 1, func(c *cli.Context, dir string, args []string) error {
			return runSync(c, dir, args[0], pushVerb)
		}),
	}
}

func syncCommand() *cli.Command {
	return &cli.Command{
		Name:      "sync",
		Usage:     "make a store and a peer equal, by what either has",
		UsageText: "okra sync DIR PEER [OPTIONS]",
		ArgsUsage: "DIR PEER",
		Description: `Bring the entries that only PEER has to DIR and those that only DIR has to PEER,
which must allow writing.

` + syncHelp + `
` + peerHelp + `

Examples:
  okra sync /data/kv ssh://ann@host/data/kv
  okra sync /data/kv okra://ID@host:7346 --conflict larger
  okra sync /data/kv 'exec:ssh -i key host okra serve --stdio --write /data/kv'`,
		Flags: syncFlags(),
		Action: onDir(1, 1, func(c *cli.Context, dir string, args []string) error {
			return runSync(c, dir, args[0], syncVerb)
		}),
	}
}

func mirrorFlag(target, source string) cli.Flag {
	return &cli.BoolFlag{Name: "mirror", Usage: "make " + target + " equal to " + source + ", deletes included"}
}

func maxValueFlag() cli.Flag {
	return &cli.StringFlag{Name: "max-value", DefaultText: "64MiB",
		Usage: "refuse values above `SIZE`; one is held in memory at a time"}
}

// syncFlags are the options of pull, push and sync.
func syncFlags() []cli.Flag {
	return slices.Concat(boundsFlags(), notationFlags("keys"), []cli.Flag{
		&cli.StringFlag{Name: "conflict", Value: "report",
			Usage: "what becomes of conflicts: `HOW` is report, mine, theirs or larger"},
		&cli.BoolFlag{Name: "dry-run",
			Usage: "only print what would be done, one key a line; whether PEER allows it is not asked"},
		jsonFlag("print the summary, of failures too, as a JSON object, after one a line for each key with --dry-run"),
		maxValueFlag(),
		tableFlag(),
		mapSizeFlag(),
	}, connectFlags(), progressFlags())
}

// maxValue returns the size that --max-value sets, or 0.
func maxValue(c *cli.Context) (int64, error) {
	text := c.String("max-value")
	if text == "" {
		return 0, nil
	}
	size, err := humanize.ParseBytes(text)
	if err != nil || size == 0 || size > 1<<40 {
		return 0, usagef(c, "--max-value %q is not a size; write it as 64MiB", text)
	}
	return int64(size), nil
}

// A syncVerbKind is pull, push or sync.
type syncVerbKind struct {
	run         func(context.Context, okrasync.Conn, *okra.DB, *okrasync.Options) (okrasync.Summary, error)
	here, there bool // which side is written
}

var (
	pullVerb = syncVerbKind{okrasync.Pull, true, false}
	pushVerb = syncVerbKind{okrasync.Push, false, true}
	syncVerb = syncVerbKind{okrasync.Sync, true, true}
)

func runSync(c *cli.Context, dir, peerText string, verb syncVerbKind) error {
	s := &syncing{c: c, verb: verb}
	if err := s.readOptions(); err != nil {
		return err
	}
	p, err := parsePeer(peerText)
	if err != nil {
		return usagef(c, "%w", err)
	}
	return s.finish(s.run(dir, p))
}

// syncing is one pull, push or sync under way.
type syncing struct {
	c         *cli.Context
	verb      syncVerbKind
	notation  notation
	opts      okrasync.Options
	out       *bufio.Writer
	outErr    error
	sum       okrasync.Summary
	sent      atomic.Int64       // changes for the peer's tree
	stop      context.CancelFunc // of the session
	conflicts []string           // the first keys of those that are left
	bar       *progress
}

func (s *syncing) readOptions() (err error) {
	c := s.c
	if err = checkProgress(c); err != nil {
		return err
	}
	if s.notation, err = chosenNotation(c); err != nil {
		return err
	}
	if s.opts.Bounds, err = commonBounds(c, s.notation); err != nil {
		return err
	}
	if s.opts.MaxValue, err = maxValue(c); err != nil {
		return err
	}
	resolvers := []okrasync.Resolver{okrasync.Report, okrasync.Mine, okrasync.Theirs, okrasync.Larger}
	i := slices.IndexFunc(resolvers, func(r okrasync.Resolver) bool { return r.String() == c.String("conflict") })
	if i < 0 {
		return usagef(c, "--conflict %q: it must be report, mine, theirs or larger", c.String("conflict"))
	}
	s.opts.Resolve = resolvers[i]
	s.opts.Mirror = c.Bool("mirror")
	if s.opts.Mirror && c.IsSet("conflict") {
		return usagef(c, "--mirror and --conflict do not fit together: the source is right")
	}
	s.opts.DryRun = c.Bool("dry-run")
	s.out = bufio.NewWriterSize(c.App.Writer, 64<<10)
	s.opts.OnEvent = s.event
	return nil
}

// commonBounds is chosenBounds, and takes options of which no key can satisfy all for an error:
// to have synced nothing looks like having found no difference.
func commonBounds(c *cli.Context, n notation) (okra.Bounds, error) {
	b, err := chosenBounds(c, n)
	if err == nil && c.IsSet("prefix") && b.LT != nil && bytes.Compare(b.GE, b.LT) >= 0 {
		err = usagef(c, "no key that begins with --prefix lies within --from and --to")
	}
	return b, err
}

// run opens the stores that are on this machine and runs the session.
func (s *syncing) run(dir string, p peerAddress) error {
	s.sum.DryRun = s.opts.DryRun
	theirs, err := openPeer(s.c, p, dir, s.verb.there && !s.opts.DryRun)
	if err != nil {
		return err
	}
	err = s.withStore(dir, theirs, func(db *okra.DB) error { return s.talk(p, db, theirs) })
	if theirs != nil {
		err = closing(theirs, err)
	}
	return err
}

// finish prints the summary in JSON, with the error if the work has failed, and returns err or
// that of the output.
func (s *syncing) finish(err error) error {
	code := codeOf(err)
	if !s.c.Bool("json") || s.outErr != nil || code == exitUsage {
		return err
	}
	r := newSummaryRecord(s.sum, s.notation)
	if code != exitDone && code != exitNo {
		r.Error = errorText(err)
	}
	outErr := writeJSON(s.out, r)
	if outErr == nil {
		outErr = s.out.Flush()
	}
	if outErr != nil {
		return outErr
	}
	return err
}

// withStore calls fn with the store in dir, which a pull makes if it is missing; theirs is that
// of the peer, if it is one on this machine. A store that was made is taken away if it is still
// empty after a failure or a dry run.
func (s *syncing) withStore(dir string, theirs *okra.DB, fn func(*okra.DB) error) error {
	isNew := &importPlace{}
	var err error
	if s.c.Command.Name == "pull" {
		if isNew, err = findPlace(dir, s.c.String("table")); err != nil {
			return err
		}
	}
	if !isNew.noTree {
		db, err := openStore(s.c, dir, !s.verb.here || s.opts.DryRun)
		if err != nil {
			return err
		}
		return closing(db, fn(db))
	}
	opts, err := initOptions(s.c)
	if err != nil {
		return err
	}
	if theirs != nil {
		f := theirs.Format()
		if opts.Q == 0 {
			opts.Q = f.Q
		}
		if opts.K == 0 {
			opts.K = f.K
		}
	}
	db, err := okra.Open(dir, &opts)
	if err == nil {
		err = closing(db, fn(db))
	}
	if errors.Is(err, okra.ErrFormat) {
		err = fmt.Errorf("%w; if the peer's Q or K are others, give them with -q and -k", err)
	}
	if err == nil && !s.opts.DryRun {
		return nil
	}
	switch restoreErr := isNew.restore(); {
	case err == nil:
		return restoreErr
	case restoreErr != nil:
		return fmt.Errorf("%w; %w", err, restoreErr)
	}
	return err
}

// closing closes db and returns err or the error of that. What a session has left behind, when a
// signal came, is not waited for.
func closing(db *okra.DB, err error) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if closeErr := db.Shutdown(ctx); err == nil {
		err = closeErr
	}
	return err
}

func (s *syncing) talk(p peerAddress, db, theirs *okra.DB) error {
	ctx, cancel, err := withTimeout(s.c)
	if err != nil {
		return err
	}
	defer cancel()
	s.stop = cancel
	s.bar = newProgress(s.c, "exchanged").ofBytes()
	s.opts.Progress = func(p okrasync.Progress) {
		s.bar.what = "exchanged, " + p.Step
		s.bar.set(p.BytesSent + p.BytesReceived)
	}
	done := make(chan okrasync.Summary, 1) // nothing comes of a session that is left behind
	err = session(s.c, ctx, p, theirs, s.verb.there && !s.opts.DryRun, func(conn *connection) error {
		sum, err := s.verb.run(ctx, conn, db, &s.opts)
		if err != nil && conn.served != nil {
			conn.close()
			sum.There = conn.served.Here // all that it did, also what it could not tell us
		}
		done <- sum
		return err
	})
	s.bar.end()
	select {
	case s.sum = <-done:
	default:
	}
	if s.outErr == nil {
		s.outErr = s.out.Flush()
	}
	if s.outErr != nil {
		return s.outErr
	}
	if err != nil {
		if s.sum.Here.Total()+s.sum.There.Total() > 0 && !s.opts.DryRun {
			say(s.c, "%s, which stays", s.describe(s.sum))
		}
		if n := s.sent.Load() - s.sum.There.Total(); n > 0 && theirs == nil {
			say(s.c, "the peer has not said how many of the last %s it wrote; what it wrote stays", plural(n, "change"))
		}
		return err
	}
	say(s.c, "%s", s.describe(s.sum))
	if s.opts.DryRun && s.verb.there {
		say(s.c, "a dry run does not ask whether the peer allows writing")
	}
	return s.answer(s.sum)
}

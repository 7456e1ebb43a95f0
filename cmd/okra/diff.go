package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/okradb/okra-go/okra"
	okrasync "github.com/okradb/okra-go/sync"
)

func diffCommand() *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "print the keys under which two stores differ",
		UsageText: "okra diff A B [OPTIONS]",
		ArgsUsage: "A B",
		Description: `Print the keys under which A and B differ, in ascending order, one a line:
  + KEY  only B has it
  - KEY  only A has it
  ~ KEY  both have it, with different values
Equal parts of the trees are neither read nor sent. The Q and K of both must be
the same. Nothing is changed on either side.

One of A and B may be a peer; the other is a directory on this machine.
` + peerHelp + `

Exit codes are those of diff: 0 if there is no difference, 1 if there is one, and
2 for trouble of any kind.

Examples:
  okra diff /data/kv /backup/kv
  okra diff /data/kv ssh://host/data/kv --prefix user/
  okra diff /data/kv okra://ID@host:7346 --brief && echo equal`,
		Flags: slices.Concat(boundsFlags(), notationFlags("keys"), []cli.Flag{
			&cli.BoolFlag{Name: "brief", Usage: "only say whether there is a difference"},
			jsonFlag("print one JSON object a line, with the hashes of both sides"),
			tableFlag(),
		}, connectFlags()),
		Action: runDiff,
	}
}

// exitTrouble is the exit code of diff for failures and bad usage, as that of diff(1).
const exitTrouble = 2

func runDiff(c *cli.Context) error {
	different, err := diff(c)
	switch code := codeOf(err); {
	case err == nil && different:
		return &exitError{exitNo, errors.New("")} // the output has said it
	case err == nil, code == exitInterrupted, code == exitPipe, code == exitUsage:
		return err
	default:
		return &exitError{exitTrouble, err}
	}
}

// A difference is a key under which two stores differ. The key is borrowed.
type difference struct {
	change okra.Change // what would make A like B
	key    []byte
	a, b   okra.Hash
}

// diff prints the differences and reports whether there is one.
func diff(c *cli.Context) (different bool, err error) {
	if c.NArg() != 2 {
		return false, usagef(c, "want two stores, %s", c.Command.ArgsUsage)
	}
	n, err := chosenNotation(c)
	if err != nil {
		return false, err
	}
	bounds, err := commonBounds(c, n)
	if err != nil {
		return false, err
	}
	var sides [2]peerAddress
	for i, text := range c.Args().Slice() {
		if sides[i], err = parsePeer(text); err != nil {
			return false, usagef(c, "%w", err)
		}
	}
	out := &differenceWriter{c: c, notation: n, out: bufio.NewWriterSize(c.App.Writer, 64<<10)}
	switch a, b := sides[0].dir, sides[1].dir; {
	case a != "" && b != "":
		err = diffStores(c, a, b, bounds, out)
	case a != "":
		err = diffPeer(c, a, sides[1], bounds, false, out)
	case b != "":
		err = diffPeer(c, b, sides[0], bounds, true, out)
	default:
		return false, usagef(c, "one of the two must be a directory on this machine: pull a peer into one first")
	}
	if out.err == nil {
		out.err = out.out.Flush()
	}
	if out.err != nil {
		return out.any, out.err
	}
	return out.any, err
}

// diffStores compares two stores on this machine.
func diffStores(c *cli.Context, a, b string, bounds okra.Bounds, out *differenceWriter) error {
	ctx, cancel, err := withTimeout(c)
	if err != nil {
		return err
	}
	defer cancel()
	for _, dir := range []string{a, b} {
		if err := withReader(c, dir, func(*okra.DB) error { return nil }); err != nil {
			return failed(c, dir, err)
		}
	}
	if sameStore(a, b) {
		return nil
	}
	err = view(c, a, func(ours *okra.Tx) error {
		return view(c, b, func(theirs *okra.Tx) error {
			return out.all(ctx, func(yield func(difference, error) bool) {
				for d, err := range okra.Diff(ours, theirs, bounds) {
					if !yield(difference{d.Change, d.Key, hashOf(d.Ours), hashOf(d.Theirs)}, err) {
						return
					}
				}
			})
		})
	})
	return failed(c, a+" "+b, err)
}

// hashOf returns the leaf hash of e, or none if there is no entry.
func hashOf(e okra.Entry) okra.Hash {
	if e.Key == nil {
		return okra.Hash{}
	}
	return e.Hash()
}

// diffPeer compares a store on this machine with a peer, which is A if swapped.
func diffPeer(c *cli.Context, dir string, p peerAddress, bounds okra.Bounds, swapped bool,
	out *differenceWriter) error {
	ctx, cancel, err := withTimeout(c)
	if err != nil {
		return err
	}
	defer cancel()
	return failed(c, dir, withReader(c, dir, func(db *okra.DB) error {
		return session(c, ctx, p, nil, false, func(conn *connection) error {
			return out.all(ctx, func(yield func(difference, error) bool) {
				for d, err := range okrasync.Diff(ctx, conn, db, &okrasync.Options{Bounds: bounds}) {
					if !yield(differenceOf(d, swapped), err) {
						return
					}
				}
			})
		})
	}))
}

func differenceOf(d okrasync.Difference, swapped bool) difference {
	if !swapped {
		return difference{d.Change, d.Key, d.Ours, d.Theirs}
	}
	change := d.Change
	switch d.Change {
	case okra.Added:
		change = okra.Removed
	case okra.Removed:
		change = okra.Added
	}
	return difference{change, d.Key, d.Theirs, d.Ours}
}

// A differenceWriter prints differences.
type differenceWriter struct {
	c        *cli.Context
	notation notation
	out      *bufio.Writer
	any      bool  // whether there was one
	err      error // of the output
}

// all prints what differences yields, to its end or to the first with --brief. It returns the
// error of the sequence or the cause of ctx's end.
func (w *differenceWriter) all(ctx context.Context, differences iter.Seq2[difference, error]) error {
	for d, err := range differences {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		w.any = true
		if w.c.Bool("brief") {
			_, w.err = fmt.Fprintf(w.out, "%s and %s differ\n", w.c.Args().Get(0), w.c.Args().Get(1))
			return nil
		}
		if w.err = w.write(d); w.err != nil {
			return nil
		}
	}
	return nil
}

var marks = map[okra.Change]byte{okra.Added: '+', okra.Removed: '-', okra.Changed: '~'}

func (w *differenceWriter) write(d difference) error {
	if !w.c.Bool("json") {
		_, err := fmt.Fprintf(w.out, "%c %s\n", marks[d.change], w.notation.text(d.key))
		return err
	}
	r := differenceRecord{Change: d.change.String()}
	r.Key, r.KeyEncoding = w.notation.jsonText(d.key)
	if d.change != okra.Added {
		r.A = d.a.String()
	}
	if d.change != okra.Removed {
		r.B = d.b.String()
	}
	return writeJSON(w.out, r)
}

// A differenceRecord is a difference in JSON: "added" if only B has the key, "removed" if only A
// has it, or "changed".
type differenceRecord struct {
	Change      string `json:"change"`
	Key         string `json:"key"`
	KeyEncoding string `json:"key_encoding"`
	A           string `json:"a,omitempty"`
	B           string `json:"b,omitempty"`
}

package main

import (
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/okradb/okra-go/okra"
	"github.com/okradb/okra-go/okra/dump"
)

func batchCommand() *cli.Command {
	return &cli.Command{
		Name:      "batch",
		Usage:     "write and remove entries in one transaction",
		UsageText: "okra batch DIR [FILE]",
		ArgsUsage: "DIR [FILE]",
		Description: `Read puts and deletes from FILE, or from standard input if there is no FILE or it
is -, and do them in order in one transaction: all of them or, after an error,
which names the line, none. One JSON object a line:

  {"op":"put","key":"name","value":"Ada"}
  {"op":"put","key":"/w==","key_encoding":"base64","value":"00","value_encoding":"hex"}
  {"op":"delete","key":"name"}

The encodings are those of "okra scan --json": utf-8, which may be left out, base64
and hex. A delete of a key that is not there does nothing. In index mode a put may
have "hash" in place of "value". Empty lines are passed over.

The input is read to its end before the transaction begins, so a slow input keeps
no other writer waiting.

Examples:
  okra batch /data/kv changes.jsonl
  okra scan /data/old --json --prefix a | jq -c '.op="put"' | okra batch /data/kv
  okra scan /data/kv --json --keys-only --prefix tmp/ |
    jq -c '.op="delete"' | okra batch /data/kv`,
		Flags: append([]cli.Flag{
			jsonFlag("print what was done as a JSON object"),
			tableFlag(),
			mapSizeFlag(),
		}, progressFlags()...),
		Action: onDir(0, 1, runBatch),
	}
}

// A batchRecord is what a batch has done, in JSON.
type batchRecord struct {
	Puts    int64      `json:"puts"`
	Deletes int64      `json:"deletes"`
	Entries int64      `json:"entries"` // of the tree, after
	Root    rootRecord `json:"root"`
}

func runBatch(c *cli.Context, dir string, args []string) error {
	if err := checkProgress(c); err != nil {
		return err
	}
	if err := checkDir(dir); err != nil {
		return err
	}
	name := "-"
	if len(args) > 0 {
		name = args[0]
	}
	if len(args) == 0 && term.IsTerminal(int(os.Stdin.Fd())) {
		say(c, "reading from the terminal; Ctrl-D ends it")
	}
	in, err := openInput(c.Context, name)
	if err != nil {
		return err
	}
	defer in.Close()
	ops, done, err := spool(in)
	if err != nil {
		return fmt.Errorf("reading the batch: %w", err)
	}
	defer done()
	var did batchRecord
	err = update(c, dir, func(tx *okra.Tx) error {
		if _, err := ops.Seek(0, io.SeekStart); err != nil {
			return err
		}
		did, err = runOps(c, tx, ops)
		return err
	})
	if err != nil {
		return asFailure(err)
	}
	if c.Bool("json") {
		return writeJSON(c.App.Writer, did)
	}
	say(c, "%d put, %d deleted; the tree has %d entries, root %d %s", did.Puts, did.Deletes,
		did.Entries, did.Root.Level, did.Root.Hash)
	return nil
}

// runOps does the operations that in holds.
func runOps(c *cli.Context, tx *okra.Tx, in io.Reader) (did batchRecord, err error) {
	p := newProgress(c, "operations done")
	defer p.end()
	for op, err := range dump.ReadOps(in) {
		if err == nil {
			err = c.Context.Err()
		}
		if err != nil {
			return did, err
		}
		switch {
		case op.Delete:
			did.Deletes++
			err = tx.Delete(op.Key)
		case op.Value == nil:
			did.Puts++
			err = tx.PutHash(op.Key, op.Hash)
		default:
			did.Puts++
			err = tx.Put(op.Key, op.Value)
		}
		if err != nil {
			return did, fmt.Errorf("line %d: %w", op.Line, err)
		}
		p.add(1)
	}
	if did.Entries, err = tx.Len(); err != nil {
		return did, err
	}
	root, err := tx.Root()
	did.Root = newRootRecord(root)
	return did, err
}

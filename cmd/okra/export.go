package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/okradb/okra-go/okra"
	"github.com/okradb/okra-go/okra/dump"
)

func exportCommand() *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "write all entries to a file",
		UsageText: "okra export DIR [FILE] [--format binary|jsonl|mdb|mdb-print]",
		ArgsUsage: "DIR [FILE]",
		Description: `Write the entries, or those of a range of keys, to FILE, or to standard output if
there is no FILE or it is -. "okra import" reads it on any machine, and notices if
it was cut or changed. The formats:

  binary     okra's own: compact, the same bytes for the same entries, with their
             number and root at the end
  jsonl      one JSON object a line, the encoding named in each; number and root
             in the last line
  mdb        the text of LMDB's mdb_load, keys and values only; it says neither
             number nor root, and has no place for a tree in index mode
  mdb-print  the same with printable bytes as they are

Every entry is hashed again and the root compared, so a damaged store is noticed.
FILE appears when it is whole and on the disk, with the mode of data.mdb. The
export sees one state of the store; while it waits, as for a slow reader of its
output, writers cannot reuse old pages and the file may grow.

Examples:
  okra export /data/kv kv.okra
  okra export /data/kv --format jsonl | gzip >kv.jsonl.gz
  okra export /data/kv users.okra --prefix user/ --force
  okra export /data/kv --format mdb | mdb_load plain
  okra export /data/kv | ssh host okra import /data/kv`,
		Flags: append(append(append(boundsFlags(), notationFlags("keys")...),
			&cli.StringFlag{Name: "format", DefaultText: "binary",
				Usage: "`FORMAT` of the file: binary, jsonl, mdb or mdb-print"},
			&cli.BoolFlag{Name: "force", Usage: "replace FILE if it exists"},
			tableFlag(),
		), progressFlags()...),
		Action: onDir(0, 1, runExport),
	}
}

// An export is what the command line asks for.
type export struct {
	kind   dump.Kind
	bounds okra.Bounds
	file   string // "-": standard output
}

func runExport(c *cli.Context, dir string, args []string) error {
	x, err := newExport(c, args)
	if err != nil {
		return err
	}
	var done dump.Trailer
	err = withReader(c, dir, func(db *okra.DB) error {
		done, err = x.write(c, db)
		return err
	})
	if err != nil {
		return err
	}
	say(c, "exported %s", done)
	return nil
}

func newExport(c *cli.Context, args []string) (*export, error) {
	x := &export{file: "-", kind: dump.Binary}
	if len(args) > 0 {
		x.file = args[0]
	}
	if c.IsSet("format") {
		var err error
		if x.kind, err = dump.ParseKind(c.String("format")); err != nil || x.kind == dump.Auto {
			return nil, usagef(c, "--format %q: it must be binary, jsonl, mdb or mdb-print",
				c.String("format"))
		}
	}
	if c.Bool("force") && x.file == "-" {
		return nil, usagef(c, "--force is for a FILE")
	}
	if err := checkProgress(c); err != nil {
		return nil, err
	}
	if x.file == "-" && x.kind == dump.Binary && term.IsTerminal(int(os.Stdout.Fd())) {
		return nil, usagef(c, "the binary format is not for a terminal: give FILE, or --format jsonl")
	}
	n, err := chosenNotation(c)
	if err != nil {
		return nil, err
	}
	x.bounds, err = chosenBounds(c, n)
	return x, err
}

// write writes the file.
func (x *export) write(c *cli.Context, db *okra.DB) (dump.Trailer, error) {
	if x.file == "-" {
		return x.entries(c, db, c.App.Writer)
	}
	info, err := os.Stat(filepath.Join(db.Path(), "data.mdb"))
	if err != nil {
		return dump.Trailer{}, err
	}
	out, err := createOut(x.file, info.Mode().Perm(), c.Bool("force"))
	if err != nil {
		return dump.Trailer{}, err
	}
	defer out.drop()
	done, err := x.entries(c, db, out)
	if err != nil {
		return done, err
	}
	return done, out.keep()
}

// entries writes the dump to out.
func (x *export) entries(c *cli.Context, db *okra.DB, out io.Writer) (dump.Trailer, error) {
	var done dump.Trailer
	h, err := x.header(c, db)
	if err != nil {
		return done, err
	}
	w, err := dump.NewWriter(out, x.kind, h)
	if err != nil {
		return done, err
	}
	err = db.View(func(tx *okra.Tx) error {
		if done, err = x.copy(c, tx, w); err != nil || x.bounds.GE != nil || x.bounds.LT != nil {
			return err
		}
		// The root of what was written is computed anew; a tree without entries may keep another.
		root, err := tx.Root()
		if err == nil && root != done.Root && done.Count > 0 {
			err = fmt.Errorf("%w: the entries have the root %s, the store says %s; see okra verify",
				okra.ErrCorrupt, done.Root, root)
		}
		return err
	})
	return done, err
}

// header returns what a dump begins with. The map that LMDB's text asks for has room for twice
// the data: a size that every machine can map.
func (x *export) header(c *cli.Context, db *okra.DB) (dump.Header, error) {
	h := dump.Header{Format: db.Format(), Table: c.String("table")}
	if x.kind == dump.MDB || x.kind == dump.MDBPrint {
		s, err := db.Stats()
		if err != nil {
			return h, err
		}
		const mib = 1 << 20
		h.MapSize, h.MaxReaders = (2*s.UsedSize/mib+4)*mib, s.MaxReaders
	}
	return h, nil
}

// copy writes the entries of tx within the bounds to w and ends it.
func (x *export) copy(c *cli.Context, tx *okra.Tx, w *dump.Writer) (dump.Trailer, error) {
	p := newProgress(c, "entries exported")
	if x.bounds.GE == nil && x.bounds.LT == nil {
		total, err := tx.Len()
		if err != nil {
			return dump.Trailer{}, err
		}
		p.upTo(total)
	}
	defer p.end()
	for e, err := range tx.Range(x.bounds) {
		if err = errors.Join(err, c.Context.Err()); err != nil {
			return dump.Trailer{}, err
		}
		if err := w.Write(dump.Entry{Key: e.Key, Value: e.Value, Hash: e.Hash()}); err != nil {
			return dump.Trailer{}, err
		}
		p.add(1)
	}
	return w.Close()
}

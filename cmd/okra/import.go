package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/okradb/okra-go/okra"
	"github.com/okradb/okra-go/okra/dump"
)

func importCommand() *cli.Command {
	return &cli.Command{
		Name:  "import",
		Usage: "read all entries from a file",
		UsageText: "okra import DIR [FILE] [--into-existing]\n" +
			"okra import DIR --from-lmdb SRCDIR [--from-table NAME]",
		ArgsUsage: "DIR [FILE]",
		Description: `Read a dump from FILE, or from standard input if there is no FILE or it is -, into
the store in DIR: what "okra export" writes, or mdb_dump of LMDB, also from okra's
own data file (which is read twice, so a pipe goes to a temporary file first). Its
format is found out. A store that is missing is made, with the Q, K and mode of
the dump unless options say others.

All happens in one transaction: at an error, which names the line or entry, and
if the dump was cut or changed, nothing is changed. The number of entries and the
root are compared with those that the dump names, before the commit. Meanwhile
other writers wait, so feed it from a file if its input comes slowly.

A tree that has entries is left alone, unless --into-existing adds those of the
dump to them, in place of entries with the same keys.

--from-lmdb indexes a table of a plain LMDB database, which is only read. Tables
with several values for a key, and keys longer than 510 bytes, are refused.

Examples:
  okra import /data/kv kv.okra
  zcat kv.jsonl.gz | okra import /data/kv
  mdb_dump plain | okra import /data/kv --mode index -q 64
  okra import /data/kv --from-lmdb plain --from-table users`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "format", DefaultText: "auto",
				Usage: "`FORMAT` of the dump: auto, binary, jsonl or mdb"},
			&cli.BoolFlag{Name: "into-existing", Usage: "add to the entries which are there"},
			&cli.StringFlag{Name: "from-lmdb", Usage: "read the LMDB database in `SRCDIR`"},
			&cli.StringFlag{Name: "from-table", Usage: "read the named table `NAME` of SRCDIR"},
			&cli.UintFlag{Name: "q", DefaultText: "as the dump says, or 32",
				Usage: "mean number of children of a node in a new tree: `Q`"},
			&cli.UintFlag{Name: "k", DefaultText: "as the dump says, or 16",
				Usage: "bytes of a hash in a new tree: `K`"},
			&cli.StringFlag{Name: "mode", DefaultText: "as the dump says, or store",
				Usage: "`MODE` of a new tree: store or index"},
			tableFlag(),
			mapSizeFlag(),
		}, progressFlags()...),
		Action: onDir(0, 1, runImport),
	}
}

func runImport(c *cli.Context, dir string, args []string) error {
	if err := checkProgress(c); err != nil {
		return err
	}
	opts, err := initOptions(c)
	if err != nil {
		return err
	}
	src, err := openSource(c, args)
	if err != nil {
		return asFailure(err)
	}
	im := &importing{c: c, dir: dir, src: src, opts: opts}
	return asFailure(errors.Join(im.run(), src.Close()))
}

// asFailure gives err the exit code 3 where a key or value of the input would make it 2, as if it
// came from the command line.
func asFailure(err error) error {
	for _, usage := range []error{okra.ErrKeyEmpty, okra.ErrKeyTooLong, okra.ErrValueTooLong} {
		if errors.Is(err, usage) {
			return &exitError{exitFailed, err}
		}
	}
	return err
}

// importing is one import under way.
type importing struct {
	c    *cli.Context
	dir  string
	src  entrySource
	opts okra.Options

	was   int64        // entries of the tree before
	after dump.Trailer // what the tree has after
}

func (im *importing) run() error {
	place, err := findPlace(im.dir, im.opts.Table)
	if err != nil {
		return err
	}
	if err := im.chooseFormat(place); err != nil {
		return err
	}
	left, err := inTurn(im.c.Context, func(begin func() error) error {
		return openAndUpdate(im.dir, &im.opts, func(tx *okra.Tx) error {
			if err := begin(); err != nil {
				return err
			}
			return im.load(tx)
		})
	})
	if err != nil && !left {
		err = errors.Join(err, place.restore())
	}
	if err != nil {
		return err
	}
	im.report()
	return nil
}

// chooseFormat fills in what the options leave open in a new tree, and refuses to make values of
// hashes.
func (im *importing) chooseFormat(place *importPlace) error {
	from := im.src.Format()
	to := place.format
	if place.noTree {
		if im.opts.K == 0 {
			im.opts.K = from.K
		}
		if im.opts.Q == 0 {
			im.opts.Q = from.Q
		}
		if im.opts.Mode == okra.AnyMode {
			im.opts.Mode = from.Mode
		}
		to = okra.Format{K: im.opts.K, Q: im.opts.Q, Mode: im.opts.Mode}
	}
	if from.Mode != okra.Index {
		return nil
	}
	if to.Mode != okra.Index {
		return errors.New("the dump has hashes and no values; import it into a tree in index mode")
	}
	if to.K != from.K {
		return fmt.Errorf("the dump has hashes of %d bytes, the tree of %d; they cannot be converted",
			from.K, to.K)
	}
	return nil
}

// load puts all entries and checks what has become of the tree. It may run more than once.
func (im *importing) load(tx *okra.Tx) (err error) {
	if im.was, err = tx.Len(); err != nil {
		return err
	}
	if im.was > 0 && !im.c.Bool("into-existing") {
		return fmt.Errorf("the tree has %d entries; give another DIR, or --into-existing to add to"+
			" them", im.was)
	}
	for e, err := range im.src.Entries() {
		if err == nil {
			err = im.c.Context.Err()
		}
		if err != nil {
			return err
		}
		if e.Value == nil {
			err = tx.PutHash(e.Key, e.Hash)
		} else {
			err = tx.Put(e.Key, e.Value)
		}
		if err != nil {
			return err
		}
	}
	if im.after.Count, err = tx.Len(); err != nil {
		return err
	}
	if im.after.Root, err = tx.Root(); err != nil {
		return err
	}
	return im.check(tx.Format())
}

// check compares the tree with what the source says, where it was empty before.
func (im *importing) check(f okra.Format) error {
	said, from := im.src.Trailer(), im.src.Format()
	if im.was > 0 || said.Count == 0 {
		return nil
	}
	if im.after.Count != said.Count {
		return fmt.Errorf("%w: of %d entries %d have different keys", dump.ErrMismatch, said.Count,
			im.after.Count)
	}
	if from.K == f.K && from.Q == f.Q && im.after.Root != said.Root {
		return fmt.Errorf("%w: the root is %s, the dump says %s", dump.ErrMismatch, im.after.Root,
			said.Root)
	}
	return nil
}

// report says what was done.
func (im *importing) report() {
	said := im.src.Trailer()
	switch {
	case im.was > 0:
		read := dump.Trailer{Count: said.Count}
		say(im.c, "imported %s; the tree has %s", read, im.after)
	case said.Root == okra.Root{} && !im.c.IsSet("from-lmdb"):
		say(im.c, "imported %s; the dump names no root to compare with", im.after)
	default:
		say(im.c, "imported %s", im.after)
	}
}

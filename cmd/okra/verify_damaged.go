package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/okradb/okra-go/okra"
)

// damagedFlags are the options which say the format of a tree whose header is lost.
func damagedFlags() []cli.Flag {
	return []cli.Flag{
		&cli.UintFlag{Name: "q", DefaultText: "that of the header",
			Usage: "mean number of children of a node, whatever the header says: `Q`"},
		&cli.UintFlag{Name: "k", DefaultText: "that of the header",
			Usage: "bytes of a hash, whatever the header says: `K`"},
		&cli.StringFlag{Name: "mode", DefaultText: "that of the header",
			Usage: "store or index, whatever the header says: `MODE`"},
	}
}

// withDamaged is withReader for a tree which may be damaged. Where the options of c say the
// format, they are right and the header may be wrong.
func withDamaged(c *cli.Context, dir string, fn func(*okra.DB) error) error {
	opts, err := initOptions(c)
	if err != nil {
		return err
	}
	if opts.Q == 0 && opts.K == 0 && opts.Mode == okra.AnyMode {
		return headerHint(withReader(c, dir, fn))
	}
	if err := checkDir(dir); err != nil {
		return err
	}
	db, err := okra.OpenDamaged(dir, &opts)
	if err != nil {
		return headerHint(err)
	}
	return errors.Join(fn(db), db.Close())
}

// headerHint says in an error of opening a store what to do if it is one.
func headerHint(err error) error {
	if !errors.Is(err, okra.ErrNotOkra) && !errors.Is(err, okra.ErrFormat) {
		return err // also nil
	}
	return fmt.Errorf("%w; if this is a tree whose header is lost, say its Q, K and mode with"+
		" -q, -k and --mode", err)
}

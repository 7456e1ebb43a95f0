package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/okradb/okra-go/okra"
)

func initCommand() *cli.Command {
	return &cli.Command{
		Name:      "init",
		Usage:     "create a store",
		UsageText: "okra init DIR [-q Q] [-k K] [--mode store|index] [--table TABLE]",
		ArgsUsage: "DIR",
		Description: `Create an empty store in DIR, and the directories which are missing. With --table,
create a tree in that table, beside those in other named tables; a tree in the
unnamed table has the store for itself. A tree which is there already is an
error, and stays as it is; with --if-missing it is none, unless its format is
another than the options ask for.

Q, K and the mode are fixed for the life of the tree. Roots can be compared only
between trees of the same Q, K and mode.

Examples:
  okra init /data/kv
  okra init /data/files --mode index -q 64
  okra init /data/kv --table users --if-missing`,
		Flags: []cli.Flag{
			&cli.UintFlag{Name: "q", DefaultText: "32",
				Usage: "mean number of children of a node, at least 2: `Q`"},
			&cli.UintFlag{Name: "k", DefaultText: "16", Usage: "bytes of a hash, 4 to 32: `K`"},
			&cli.StringFlag{Name: "mode", DefaultText: "store",
				Usage: "keep values (store) or only hashes (index): `MODE`"},
			&cli.BoolFlag{Name: "if-missing", Usage: "leave a store which is there as it is"},
			tableFlag(),
			mapSizeFlag(),
		},
		Action: onDir(0, 0, runInit),
	}
}

func runInit(c *cli.Context, dir string, _ []string) error {
	opts, err := initOptions(c)
	if err != nil {
		return err
	}
	if !c.Bool("if-missing") {
		if err := checkNoStore(c, dir); err != nil {
			return err
		}
	}
	db, err := okra.Open(dir, &opts)
	if err != nil {
		return err
	}
	f := db.Format()
	if err := db.Close(); err != nil {
		return err
	}
	fmt.Fprintf(c.App.ErrWriter, "okra: store in %s: K %d, Q %d, %s mode\n", dir, f.K, f.Q, f.Mode)
	return nil
}

// initOptions returns the options for a new store which the command line asks for.
func initOptions(c *cli.Context) (okra.Options, error) {
	opts := okra.Options{Table: c.String("table")}
	q, k := c.Uint("q"), c.Uint("k")
	if c.IsSet("q") && (q < 2 || q > 1<<32-1) {
		return opts, usagef(c, "-q %d: it must be 2 to %d", q, uint32(1<<32-1))
	}
	if c.IsSet("k") && (k < 4 || k > 32) {
		return opts, usagef(c, "-k %d: it must be 4 to 32", k)
	}
	opts.Q, opts.K = uint32(q), int(k)
	switch mode := c.String("mode"); mode {
	case "":
	case "store":
		opts.Mode = okra.Store
	case "index":
		opts.Mode = okra.Index
	default:
		return opts, usagef(c, "--mode %q: it must be store or index", mode)
	}
	var err error
	opts.MaxSize, err = mapSize(c)
	return opts, err
}

// checkNoStore returns an error if dir holds the tree which c names, or if that cannot be told.
func checkNoStore(c *cli.Context, dir string) error {
	err := withReader(c, dir, func(db *okra.DB) error {
		f := db.Format()
		return fmt.Errorf("there is a store already: K %d, Q %d, %s mode", f.K, f.Q, f.Mode)
	})
	for _, absent := range []error{okra.ErrNotExist, okra.ErrNoTable, okra.ErrNotOkra} {
		if errors.Is(err, absent) {
			return nil
		}
	}
	return err
}

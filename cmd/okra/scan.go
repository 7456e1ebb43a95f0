package main

import (
	"math"

	"github.com/urfave/cli/v2"

	"github.com/okradb/okra-go/okra"
)

func scanCommand() *cli.Command {
	return &cli.Command{
		Name:      "scan",
		Usage:     "print entries in key order",
		UsageText: "okra scan DIR [OPTIONS]",
		ArgsUsage: "DIR",
		Description: `Print the entries, one a line: key, tab, value, both with escapes for what is not
printable. In index mode the leaf's hash stands in the value's place. Each key
can be given back to get, put and delete as it is printed.

--json prints one object a line. It names the encoding of each key and value:
"utf-8", or "base64" where the bytes are not valid UTF-8; with --hex or --base64
that one throughout. --null prints the raw bytes, key and value each ended by a
NUL byte, and fails at an entry which has a NUL byte in it.

The whole scan sees one state of the store. While its output has to wait, as in
a pager, a writer cannot reuse old pages and the file may grow.

Examples:
  okra scan /data/kv --prefix user/
  okra scan /data/kv --from b --to d --limit 10 --reverse
  okra scan /data/kv --keys-only --hex
  okra scan /data/kv --json | jq -r .key
  okra scan /data/kv --keys-only | okra get /data/other --keys-from -`,
		Flags: append(append(boundsFlags(), notationFlags("keys and values")...),
			&cli.Int64Flag{Name: "limit", DefaultText: "all", Usage: "at most `N` entries"},
			&cli.BoolFlag{Name: "reverse", Usage: "from the last key to the first"},
			&cli.BoolFlag{Name: "keys-only", Usage: "print no values"},
			jsonFlag("print one JSON object a line"),
			nullFlag("print raw bytes, each key and value ended by a NUL byte"),
			tableFlag(),
		),
		Action: onDir(0, 0, runScan),
	}
}

func runScan(c *cli.Context, dir string, _ []string) error {
	n, err := notationOrNull(c)
	if err != nil {
		return err
	}
	bounds, err := chosenBounds(c, n)
	if err != nil {
		return err
	}
	if c.Int64("limit") < 0 {
		return usagef(c, "--limit %d is negative", c.Int64("limit"))
	}
	out := newEntryWriter(c, n)
	err = view(c, dir, func(tx *okra.Tx) error { return scan(c, tx, bounds, out) })
	return out.finish(err)
}

// scan prints the entries of tx within bounds, in the order and up to the number which c asks for.
func scan(c *cli.Context, tx *okra.Tx, bounds okra.Bounds, out *entryWriter) error {
	entries := tx.Range(bounds)
	if c.Bool("reverse") {
		entries = tx.Backward(bounds)
	}
	mode := tx.Format().Mode
	limit := int64(math.MaxInt64)
	if c.IsSet("limit") {
		limit = c.Int64("limit")
	}
	var printed int64
	for e, err := range entries {
		if err != nil {
			return err
		}
		if printed == limit {
			return nil
		}
		if err := c.Context.Err(); err != nil {
			return err
		}
		if err := out.write(e, mode); err != nil {
			return err
		}
		printed++
	}
	return nil
}

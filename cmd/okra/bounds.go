package main

import (
	"bytes"

	"github.com/urfave/cli/v2"

	"github.com/okradb/okra-go/okra"
)

// boundsFlags are the options which choose a range of keys.
func boundsFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "prefix", Usage: "only keys which begin with `PREFIX`"},
		&cli.StringFlag{Name: "from", Usage: "only keys from `KEY` upward, KEY included"},
		&cli.StringFlag{Name: "to", Usage: "only keys below `KEY`, KEY not included"},
	}
}

// chosenBounds returns the range which the options of c ask for: all keys if there are none. The
// options hold together: a key must satisfy each of them.
func chosenBounds(c *cli.Context, n notation) (okra.Bounds, error) {
	var b okra.Bounds
	if c.IsSet("prefix") {
		prefix, err := n.parse(c.String("prefix"))
		if err != nil {
			return b, usagef(c, "--prefix %w", err)
		}
		if len(prefix) > 0 {
			b = okra.PrefixBounds(prefix)
		}
	}
	from, err := n.parse(c.String("from"))
	if err != nil {
		return b, usagef(c, "--from %w", err)
	}
	to, err := n.parse(c.String("to"))
	if err != nil {
		return b, usagef(c, "--to %w", err)
	}
	if c.IsSet("to") && len(to) == 0 {
		return b, usagef(c, "--to is empty and would leave no keys; leave it out for no limit")
	}
	if len(to) > 0 && bytes.Compare(from, to) > 0 {
		return b, usagef(c, "--from is above --to: no key lies within")
	}
	if len(from) > 0 && bytes.Compare(from, b.GE) > 0 {
		b.GE = from
	}
	if len(to) > 0 && (b.LT == nil || bytes.Compare(to, b.LT) < 0) {
		b.LT = to
	}
	return b, nil
}

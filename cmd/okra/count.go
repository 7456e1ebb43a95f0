package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/okradb/okra-go/okra"
)

func countCommand() *cli.Command {
	return &cli.Command{
		Name:      "count",
		Usage:     "print the number of entries",
		UsageText: "okra count DIR [OPTIONS]",
		ArgsUsage: "DIR",
		Description: `Print the number of entries, of all or of a range of keys. The tree's own nodes
are not counted. Of the whole tree only the nodes above the leaves are read; of
a range, every key.

Examples:
  okra count /data/kv
  okra count /data/kv --prefix user/
  okra count /data/kv --json`,
		Flags: append(append(boundsFlags(), notationFlags("keys")...),
			jsonFlag("print a JSON object"),
			progressFlag(),
			tableFlag(),
		),
		Action: onDir(0, 0, runCount),
	}
}

func runCount(c *cli.Context, dir string, _ []string) error {
	n, err := chosenNotation(c)
	if err != nil {
		return err
	}
	bounds, err := chosenBounds(c, n)
	if err != nil {
		return err
	}
	var count int64
	err = view(c, dir, func(tx *okra.Tx) error {
		if bounds.GE == nil && bounds.LT == nil {
			count, err = tx.Len()
			return err
		}
		count, err = countRange(c, tx, bounds)
		return err
	})
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return writeJSON(c.App.Writer, struct {
			Entries int64 `json:"entries"`
		}{count})
	}
	_, err = fmt.Fprintln(c.App.Writer, count)
	return err
}

func countRange(c *cli.Context, tx *okra.Tx, bounds okra.Bounds) (int64, error) {
	var count int64
	p := newProgress(c, "entries counted")
	defer p.end()
	for _, err := range tx.Range(bounds) {
		if err != nil {
			return 0, err
		}
		if err := c.Context.Err(); err != nil {
			return 0, err
		}
		count++
		p.add(1)
	}
	return count, nil
}

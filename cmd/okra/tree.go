package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/okradb/okra-go/okra"
)

func treeCommand() *cli.Command {
	return &cli.Command{
		Name:      "tree",
		Usage:     "draw the tree",
		UsageText: "okra tree DIR [OPTIONS]",
		ArgsUsage: "DIR",
		Description: `Draw the tree, from the root on the left to the leaves on the right. Each line is
a key, and has a dot in each level where that key has a node: a leaf always, and
a node in every level to which the key has risen. A key rises one level where the
hash of its node is a boundary: its first four bytes are below 2^32/Q, which is so
for about one node in Q. A node's children are the nodes of the level below from
its own key to the next key of its level. The first node of each level, its
anchor, is no entry; \anchor stands in its key's place.

A tree of more than --rows leaves is drawn along its two edges: the first and the
last nodes of each level are opened, those between them closed or left out. A
line shows the hash of its leftmost node, and how many children that one has.

--json prints all nodes instead, one JSON object a line, from the leaves up.

Examples:
  okra tree /data/kv
  okra tree /data/kv --level 1
  okra tree /data/kv --rows 0 | less
  okra tree /data/kv --json`,
		Flags: append(notationFlags("keys"),
			&cli.IntFlag{Name: "level", DefaultText: "0", Usage: "draw no level below `LEVEL`"},
			&cli.IntFlag{Name: "rows", Value: 40, Usage: "use about `N` lines; 0 is all it takes"},
			&cli.IntFlag{Name: "width", DefaultText: "those of the terminal, else 100",
				Usage: "cut lines to `N` columns"},
			jsonFlag("print all nodes, one JSON object a line"),
			tableFlag(),
		),
		Action: onDir(0, 0, runTree),
	}
}

func runTree(c *cli.Context, dir string, _ []string) error {
	n, err := chosenNotation(c)
	if err != nil {
		return err
	}
	level, rows := c.Int("level"), c.Int("rows")
	if level < 0 || level > 254 {
		return usagef(c, "--level %d: levels are 0 to 254", level)
	}
	if rows < 0 {
		return usagef(c, "--rows %d is negative", rows)
	}
	if c.Bool("json") && (c.IsSet("rows") || c.IsSet("width")) {
		return usagef(c, "--json does not fit together with --rows or --width")
	}
	width, err := drawingWidth(c)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(c.App.Writer)
	err = view(c, dir, func(tx *okra.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		if level > root.Level {
			return usagef(c, "--level %d: the root is at level %d", level, root.Level)
		}
		if c.Bool("json") {
			return dumpNodes(c, tx, root.Level, nodeWriter{out: out, notation: n, json: true})
		}
		d := drawing{tx: tx, ctx: c.Context, out: out, notation: n, width: width, rows: rows,
			top: root.Level, bottom: level}
		return d.draw(root)
	})
	if flushErr := out.Flush(); err == nil {
		return flushErr
	}
	return err
}

// drawingWidth returns the number of columns for a drawing.
func drawingWidth(c *cli.Context) (int, error) {
	if c.IsSet("width") {
		if c.Int("width") < 20 {
			return 0, usagef(c, "--width %d: it must be at least 20", c.Int("width"))
		}
		return c.Int("width"), nil
	}
	if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && width >= 20 {
		return width, nil
	}
	return 100, nil
}

// dumpNodes prints all nodes from the level which c names up to top, by level and key.
func dumpNodes(c *cli.Context, tx *okra.Tx, top int, out nodeWriter) error {
	for level := c.Int("level"); level <= top; level++ {
		for node, err := range tx.Nodes(level, okra.Bounds{}) {
			if err != nil {
				return err
			}
			if err := c.Context.Err(); err != nil {
				return err
			}
			if err := out.write(tx, node); err != nil {
				return fmt.Errorf("node of level %d: %w", level, err)
			}
		}
	}
	return nil
}

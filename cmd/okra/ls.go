package main

import (
	"bufio"
	"errors"
	"fmt"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/okradb/okra-go/okra"
)

// anchorMark stands for the anchor of a level where a key would stand. It is a key in no notation:
// \a is no escape, and the other two have no backslash.
const anchorMark = `\anchor`

func lsCommand() *cli.Command {
	return &cli.Command{
		Name:      "ls",
		Usage:     "list the children of a node",
		UsageText: "okra ls DIR [KEY] [--level LEVEL]",
		ArgsUsage: "DIR [KEY]",
		Description: `Print the children of a node of the tree, one a line: level, hash, size of the
value, key. A node which is no leaf has "-" for the size, and so has any node in
index mode. The first node of each level, its anchor, is no entry; \anchor stands
in its key's place and may be given as KEY.

Without arguments the node is the root. KEY without --level is the highest node
with that key; --level without KEY is the anchor of that level. A leaf has no
children; the leaf itself is printed.

Examples:
  okra ls /data/kv
  okra ls /data/kv --level 1
  okra ls /data/kv --level 2 user/17
  okra ls /data/kv user/17 --json`,
		Flags: append(notationFlags("keys"),
			&cli.IntFlag{Name: "level", DefaultText: "the highest which has KEY",
				Usage: "the `LEVEL` of the node, 0 for leaves"},
			jsonFlag("print one JSON object a line"),
			tableFlag(),
		),
		Action: onDir(0, 1, runLs),
	}
}

func runLs(c *cli.Context, dir string, args []string) error {
	n, err := chosenNotation(c)
	if err != nil {
		return err
	}
	if level := c.Int("level"); level < 0 || level > 254 {
		return usagef(c, "--level %d: levels are 0 to 254", level)
	}
	var key []byte // nil: an anchor
	if len(args) > 0 && args[0] != anchorMark {
		if key, err = parseKey(c, n, args[0]); err != nil {
			return err
		}
	}
	out := nodeWriter{out: bufio.NewWriter(c.App.Writer), notation: n, json: c.Bool("json")}
	err = view(c, dir, func(tx *okra.Tx) error {
		parent, err := findNode(c, tx, key)
		if errors.Is(err, okra.ErrNotFound) && key != nil {
			return answerNo("no such node: %s", n.text(key))
		}
		if err != nil {
			return err
		}
		return list(c, tx, parent, &out)
	})
	if flushErr := out.out.Flush(); err == nil {
		return flushErr
	}
	return err
}

// findNode returns the node with the given key, nil for an anchor, at the level which c names or
// else at the highest level which has it.
func findNode(c *cli.Context, tx *okra.Tx, key []byte) (okra.Node, error) {
	if c.IsSet("level") {
		return tx.Node(c.Int("level"), key)
	}
	root, err := tx.Root()
	if err != nil {
		return okra.Node{}, err
	}
	for level := root.Level; level > 0; level-- {
		node, err := tx.Node(level, key)
		if !errors.Is(err, okra.ErrNotFound) {
			return node, err
		}
	}
	return tx.Node(0, key)
}

// list prints the children of parent, or parent if it is a leaf.
func list(c *cli.Context, tx *okra.Tx, parent okra.Node, out *nodeWriter) error {
	if parent.Level == 0 {
		return out.write(tx, parent)
	}
	for node, err := range tx.Children(parent.Level, parent.Key) {
		if err != nil {
			return err
		}
		if err := c.Context.Err(); err != nil {
			return err
		}
		if err := out.write(tx, node); err != nil {
			return err
		}
	}
	return nil
}

// A nodeWriter prints nodes, one a line.
type nodeWriter struct {
	out      *bufio.Writer
	notation notation
	json     bool
}

// A nodeRecord is a node in JSON. An anchor has no key.
type nodeRecord struct {
	Level       int    `json:"level"`
	Hash        string `json:"hash"`
	Anchor      bool   `json:"anchor,omitempty"`
	Key         string `json:"key,omitempty"`
	KeyEncoding string `json:"key_encoding,omitempty"`
	ValueSize   *int   `json:"value_size,omitempty"`
}

func (w *nodeWriter) write(tx *okra.Tx, node okra.Node) error {
	r := nodeRecord{Level: node.Level, Hash: node.Hash.String(), Anchor: node.Key == nil}
	size := "-"
	if node.Level == 0 && node.Key != nil && tx.Format().Mode != okra.Index {
		value, err := tx.Get(node.Key)
		if err != nil {
			return err
		}
		n := len(value)
		r.ValueSize, size = &n, strconv.Itoa(n)
	}
	if w.json {
		if node.Key != nil {
			r.Key, r.KeyEncoding = w.notation.jsonText(node.Key)
		}
		return writeJSON(w.out, r)
	}
	_, err := fmt.Fprintf(w.out, "%3d  %s  %9s  %s\n", r.Level, r.Hash, size,
		nodeText(w.notation, node))
	return err
}

// nodeText returns the key of node as text, or the mark of an anchor.
func nodeText(n notation, node okra.Node) string {
	if node.Key == nil {
		return anchorMark
	}
	return n.text(node.Key)
}

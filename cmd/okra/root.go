package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/okradb/okra-go/okra"
)

func rootCommand() *cli.Command {
	return &cli.Command{
		Name:      "root",
		Usage:     "print the root of the tree",
		UsageText: "okra root DIR [--json]",
		ArgsUsage: "DIR",
		Description: `Print the root: its level and its hash. The root follows from the entries alone,
not from the order in which they came. Two trees of the same Q, K and mode have
the same entries exactly when level and hash are both equal.

Examples:
  okra root /data/kv
  test "$(okra root /data/kv)" = "$(okra root /backup/kv)"
  okra root /data/kv --json`,
		Flags:  []cli.Flag{jsonFlag("print a JSON object, with the format"), tableFlag()},
		Action: onDir(0, 0, runRoot),
	}
}

func runRoot(c *cli.Context, dir string, _ []string) error {
	var root okra.Root
	var format okra.Format
	err := view(c, dir, func(tx *okra.Tx) error {
		var err error
		format = tx.Format()
		root, err = tx.Root()
		return err
	})
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return writeJSON(c.App.Writer, struct {
			rootRecord
			formatRecord
		}{newRootRecord(root), newFormatRecord(format)})
	}
	_, err = fmt.Fprintf(c.App.Writer, "%d %s\n", root.Level, root.Hash)
	return err
}

// A rootRecord is a root in JSON.
type rootRecord struct {
	Level int    `json:"level"`
	Hash  string `json:"hash"`
}

func newRootRecord(r okra.Root) rootRecord {
	return rootRecord{Level: r.Level, Hash: r.Hash.String()}
}

// A formatRecord is the format of a tree in JSON.
type formatRecord struct {
	Version int    `json:"version"`
	K       int    `json:"k"`
	Q       uint32 `json:"q"`
	Mode    string `json:"mode"`
}

func newFormatRecord(f okra.Format) formatRecord {
	return formatRecord{Version: formatVersion, K: f.K, Q: f.Q, Mode: f.Mode.String()}
}

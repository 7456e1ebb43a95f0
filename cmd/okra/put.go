package main

import (
	"fmt"
	"io"
	"math"
	"os"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/okradb/okra-go/okra"
)

// maxValueSize is LMDB's limit for a stored value, 4 GiB less a byte, less the longest hash.
const maxValueSize = math.MaxUint32 - 32

func putCommand() *cli.Command {
	return &cli.Command{
		Name:      "put",
		Usage:     "store a value under a key",
		UsageText: "okra put DIR KEY VALUE\nokra put DIR KEY -\nokra put DIR KEY --file FILE",
		ArgsUsage: "DIR KEY VALUE (or -, or --file FILE)",
		Description: `Store a value under KEY, in place of the value which was there. The value is
VALUE itself, byte for byte and without any notation, or with - all of standard
input, or the content of FILE. It may be empty. --hex and --base64 are for KEY.
To store the one byte "-", pipe it in.

DIR must be a store: make one with "okra init DIR". In index mode only the hash
of the entry is stored. When put ends with 0 the entry is on the disk.

Examples:
  okra put /data/kv name Ada
  okra put /data/kv 'line\nbreak' 'a key of two lines'
  okra put /data/kv photo --file photo.jpg
  tar c src | okra put /data/kv backup/src -
  okra put /data/kv --hex 00000001 one`,
		Flags: append(notationFlags("keys"),
			&cli.StringFlag{Name: "file", Usage: "store the content of `FILE`; - is standard input"},
			tableFlag(),
			mapSizeFlag(),
		),
		Action: onDir(1, 2, runPut),
	}
}

func runPut(c *cli.Context, dir string, args []string) error {
	n, err := chosenNotation(c)
	if err != nil {
		return err
	}
	key, err := parseKey(c, n, args[0])
	if err != nil {
		return err
	}
	// The store is looked at before a long read of standard input and opened for writing after:
	// nobody waits for this program's input.
	if err := checkDir(dir); err != nil {
		return err
	}
	value, err := putValue(c, args[1:])
	if err != nil {
		return err
	}
	return update(c, dir, func(tx *okra.Tx) error { return tx.Put(key, value) })
}

// putValue returns the value which the arguments after KEY, or --file, give.
func putValue(c *cli.Context, args []string) ([]byte, error) {
	name := c.String("file")
	switch {
	case len(args) == 1 && c.IsSet("file"):
		return nil, usagef(c, "VALUE and --file do not fit together")
	case len(args) == 0 && name == "":
		return nil, usagef(c, "the value is missing: give VALUE, or - to read it from"+
			" standard input, or --file FILE")
	case len(args) == 1 && args[0] != "-":
		return []byte(args[0]), nil
	case len(args) == 1 || name == "-":
		if term.IsTerminal(int(os.Stdin.Fd())) {
			fmt.Fprintln(c.App.ErrWriter, "okra: reading the value from the terminal;"+
				" Ctrl-D ends it")
		}
		return readValue(c, os.Stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readValue(c, f)
}

func readValue(c *cli.Context, r io.Reader) ([]byte, error) {
	value, err := readAll(c.Context, r, maxValueSize)
	if err != nil {
		return nil, fmt.Errorf("reading the value: %w", err)
	}
	return value, nil
}

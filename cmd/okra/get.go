package main

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/okradb/okra-go/okra"
)

func getCommand() *cli.Command {
	return &cli.Command{
		Name:      "get",
		Usage:     "print the value of a key",
		UsageText: "okra get DIR KEY\nokra get DIR --keys-from FILE",
		ArgsUsage: "DIR KEY",
		Description: `Write the value of KEY to standard output: its bytes, nothing added, whatever the
notation of KEY. If the key is not there, nothing is written and the exit code
is 1. An empty value is not a missing one.

With --json, or with --keys-from, the entry is printed as scan prints it. The
keys which --keys-from reads are in the same notation that scan prints, each
looked up in a transaction of its own; those not found are named on standard
error and make the exit code 1. A tree in index mode keeps no values: exit code 3.

Examples:
  okra get /data/kv name
  okra get /data/kv photo > photo.jpg
  okra get /data/kv --hex 00000001
  okra scan /data/kv --keys-only | okra get /data/other --keys-from -`,
		Flags: append(notationFlags("keys and values"),
			jsonFlag("print one JSON object a line, with the key"),
			keysFromFlag(),
			nullFlag("with --keys-from: keys, and the entries printed, are raw bytes, each key"+
				" and value ended by a NUL byte"),
			tableFlag(),
		),
		Action: onDir(0, 1, runGet),
	}
}

func runGet(c *cli.Context, dir string, args []string) error {
	n, err := notationOrNull(c)
	if err != nil {
		return err
	}
	if err := checkKeySource(c, args); err != nil {
		return err
	}
	if c.IsSet("keys-from") {
		return withReader(c, dir, func(db *okra.DB) error { return getMany(c, db, n) })
	}
	key, err := parseKey(c, n, args[0])
	if err != nil {
		return err
	}
	var value []byte
	err = withReader(c, dir, func(db *okra.DB) error {
		value, err = lookUp(db, key)
		return err
	})
	if errors.Is(err, okra.ErrNotFound) {
		return answerNo("key not found: %s", n.text(key))
	}
	if err != nil {
		return err
	}
	if c.Bool("json") {
		out := newEntryWriter(c, n)
		return out.finish(out.write(okra.Entry{Key: key, Value: value}, okra.Store))
	}
	_, err = c.App.Writer.Write(value)
	return err
}

// lookUp returns a copy of the value of key, so that no transaction waits for the output.
func lookUp(db *okra.DB, key []byte) ([]byte, error) {
	var value []byte
	err := db.View(func(tx *okra.Tx) error {
		got, err := tx.Get(key)
		value = bytes.Clone(got)
		return err
	})
	return value, err
}

// getMany prints the entries of the keys which --keys-from gives.
func getMany(c *cli.Context, db *okra.DB, n notation) error {
	out := newEntryWriter(c, n)
	absent, err := printFound(c, db, n, out)
	if err := out.finish(err); err != nil {
		return err
	}
	if absent > 0 {
		return answerNo("%d keys not found", absent)
	}
	return nil
}

// printFound prints the entries of the keys that are there and returns how many are not.
func printFound(c *cli.Context, db *okra.DB, n notation, out *entryWriter) (int, error) {
	absent := 0
	for key, err := range keysFrom(c, n) {
		if err != nil {
			return absent, err
		}
		value, err := lookUp(db, key)
		if errors.Is(err, okra.ErrNotFound) {
			absent++
			fmt.Fprintf(c.App.ErrWriter, "okra: key not found: %s\n", n.text(key))
			continue
		}
		if err != nil {
			return absent, err
		}
		if err := out.write(okra.Entry{Key: key, Value: value}, okra.Store); err != nil {
			return absent, err
		}
	}
	return absent, nil
}

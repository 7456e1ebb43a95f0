package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/okradb/okra-go/okra"
)

func deleteCommand() *cli.Command {
	return &cli.Command{
		Name:      "delete",
		Usage:     "remove entries",
		UsageText: "okra delete DIR KEY...\nokra delete DIR --keys-from FILE",
		ArgsUsage: "DIR KEY...",
		Description: `Remove the entries of all KEYs in one transaction. A key which is not there is
named on standard error and makes the exit code 1; the other keys are removed
all the same. With --if-exists an absent key is no matter.

Examples:
  okra delete /data/kv name
  okra delete /data/kv a b 'c\x00' --if-exists
  okra scan /data/kv --prefix tmp/ --keys-only | okra delete /data/kv --keys-from -`,
		Flags: append(notationFlags("keys"),
			&cli.BoolFlag{Name: "if-exists", Usage: "do not mind keys which are not there"},
			keysFromFlag(),
			nullFlag("keys read by --keys-from are raw, each ended by a NUL byte"),
			tableFlag(),
			mapSizeFlag(),
		),
		Action: onDir(0, -1, runDelete),
	}
}

func runDelete(c *cli.Context, dir string, args []string) error {
	keys, err := deleteKeys(c, args)
	if err != nil {
		return err
	}
	var absent [][]byte
	err = update(c, dir, func(tx *okra.Tx) error {
		var err error
		absent, err = deleteAll(c, tx, keys)
		return err
	})
	if err != nil || len(absent) == 0 || c.Bool("if-exists") {
		return err
	}
	n, err := chosenNotation(c)
	if err != nil {
		return err
	}
	for _, key := range absent {
		fmt.Fprintf(c.App.ErrWriter, "okra: key not found: %s\n", n.text(key))
	}
	return answerNo("%d of %d keys not found, the others are removed", len(absent), len(keys))
}

// deleteKeys returns the keys which the arguments or --keys-from give.
func deleteKeys(c *cli.Context, args []string) ([][]byte, error) {
	n, err := notationOrNull(c)
	if err != nil {
		return nil, err
	}
	if err := checkKeySource(c, args); err != nil {
		return nil, err
	}
	var keys [][]byte
	if c.IsSet("keys-from") {
		for key, err := range keysFrom(c, n) {
			if err != nil {
				return nil, err
			}
			keys = append(keys, key)
		}
		return keys, nil
	}
	for _, arg := range args {
		key, err := parseKey(c, n, arg)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// deleteAll removes keys and returns those that were not there. The same key twice counts as one.
func deleteAll(c *cli.Context, tx *okra.Tx, keys [][]byte) (absent [][]byte, err error) {
	for _, key := range keys {
		has, err := tx.Has(key)
		if err != nil {
			return nil, err
		}
		if !has {
			absent = append(absent, key)
		}
	}
	for _, key := range keys {
		if err := c.Context.Err(); err != nil {
			return nil, err
		}
		if err := tx.Delete(key); err != nil {
			return nil, err
		}
	}
	return absent, nil
}

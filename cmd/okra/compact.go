package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v2"

	"github.com/okradb/okra-go/okra"
)

func compactCommand() *cli.Command {
	return &cli.Command{
		Name:      "compact",
		Usage:     "give back the space of free pages",
		UsageText: "okra compact DIR [--to NEWDIR]",
		ArgsUsage: "DIR",
		Description: `Write the data file anew without its free pages, which deletes and updates have
left behind. Entries and roots stay the same. The new file is made beside the old
one, so there must be room for both, its trees are verified, and it takes the
place of the old one in one step: whatever happens, the store is whole.

No other program may have the store open, for reading or for writing: compact
sees by LMDB's lock file if one has, and then changes nothing. It cannot see
programs that use LMDB without locks, or from another machine or container. A
program that opens the store in the moment of the change gets an error.

With --to the store may be in use: it stays as it is, and the new file goes to
NEWDIR, as "okra backup" does it.

"okra stat" shows how many bytes are free.

Examples:
  okra compact /data/kv
  okra compact /data/kv --to /backup/kv`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "to", Usage: "leave the store alone and make `NEWDIR`"},
			noVerifyFlag(),
		}, progressFlags()...),
		Action: onDir(0, 0, runCompact),
	}
}

// compactDir is the directory, inside that of the store, in which the new file is made.
const compactDir = "compact.partial"

func runCompact(c *cli.Context, dir string, _ []string) error {
	if c.IsSet("to") {
		if c.String("to") == "" {
			return usagef(c, "--to is empty; it names a directory")
		}
		return runCopy(c, dir, c.String("to"), (*okra.DB).Compact)
	}
	if c.Bool("no-verify") {
		return usagef(c, "--no-verify is for --to: no file is replaced by one that was not verified")
	}
	if err := checkProgress(c); err != nil {
		return err
	}
	if err := checkDir(dir); err != nil {
		return err
	}
	if info, err := os.Lstat(filepath.Join(dir, "data.mdb")); err != nil {
		return err
	} else if info.Mode()&fs.ModeSymlink != 0 {
		return errors.New("its data.mdb is a symbolic link, which the compact file would replace; " +
			"compact where it leads to, or use --to NEWDIR")
	}
	if err := clearCompactDir(dir); err != nil {
		return err
	}
	cp, err := newCopy(c, dir, filepath.Join(dir, compactDir))
	if err != nil {
		return err
	}
	defer cp.drop()
	if err := cp.make((*okra.DB).Compact); err != nil {
		return err
	}
	before, after, err := cp.replace()
	if err == nil {
		err = syncDir(dir)
	}
	if err != nil {
		return err
	}
	say(c, "compacted %s from %s to %s: %s given back; %s", dir, size(before), size(after),
		size(before-after), cp.describe())
	return nil
}

func size(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }

// clearCompactDir checks that nobody has the store open, and removes what a compact that was killed
// has left: while nobody has the store open no other compact is under way.
func clearCompactDir(dir string) error {
	left := filepath.Join(dir, compactDir)
	if _, err := os.Lstat(left); errors.Is(err, os.ErrNotExist) {
		return checkNotOpen(dir)
	}
	lock, err := lockStore(dir)
	if err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(left), lock.release())
}

// replace puts the copy in the place of the source's data file, if nobody else has the source
// open or has changed it since the copy was begun. It returns the sizes before and after.
func (cp *storeCopy) replace() (before, after int64, err error) {
	lock, err := lockStore(cp.from)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, lock.release()) }()
	same, err := cp.unchanged()
	if err != nil {
		return 0, 0, err
	}
	if !same {
		return 0, 0, errors.New("another program has written to the store meanwhile;" +
			" run compact again when none does")
	}
	source := filepath.Join(cp.from, "data.mdb")
	target := filepath.Join(cp.to, "data.mdb")
	old, err := os.Stat(source)
	if err != nil {
		return 0, 0, err
	}
	fresh, err := os.Stat(target)
	if err != nil {
		return 0, 0, err
	}
	if err := sameOwner(target, fresh, old); err != nil {
		return 0, 0, fmt.Errorf("give the new file the owner of the old one: %w", err)
	}
	return old.Size(), fresh.Size(), os.Rename(target, source)
}

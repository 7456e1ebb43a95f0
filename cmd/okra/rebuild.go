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

func rebuildCommand() *cli.Command {
	return &cli.Command{
		Name:      "rebuild",
		Usage:     "make a sound tree of a damaged one",
		UsageText: "okra rebuild DIR NEWDIR [OPTIONS]\n   okra rebuild DIR --in-place [OPTIONS]",
		ArgsUsage: "DIR NEWDIR",
		Description: `Make the tree again from its entries: into a new store at NEWDIR, which must not
exist, and with DIR as it was; or with --in-place in DIR itself, which helps where
the tree is damaged and LMDB's file is not. Of a store with several trees in named
tables, only the one of --table goes to NEWDIR.

First everything that "okra verify" finds wrong is printed, as verify does. Then
each entry is taken for what its key and value are, and its hash made from them:
where the stored hash differs, the entry alone cannot tell whether the value or
the hash was damaged. In index mode there are only hashes, which are kept. Records
too short to be entries are left out.

Exit code 0 means that the entries can be trusted: the old root, or the old level
over the entries, is that of the entries as they are. 1 means that there is a sound
tree, but an entry may have changed, be missing or have been added. 3 means that
nothing was made. NEWDIR gets its name when the new store is whole and was verified;
until then it is NEWDIR.partial.

Where the header is lost, -q, -k and --mode together say what stood in it.

Examples:
  okra rebuild /data/kv /data/new
  okra rebuild /data/kv --in-place
  okra rebuild /data/kv /data/new -q 32 -k 16 --mode store`,
		Flags: append(append(append(notationFlags("keys"), damagedFlags()...), progressFlags()...),
			&cli.BoolFlag{Name: "in-place", Usage: "rebuild the tree in DIR itself"},
			jsonFlag("print the problems as JSON, one object a line"),
			tableFlag(),
		),
		Action: onDir(0, 1, runRebuild),
	}
}

func runRebuild(c *cli.Context, dir string, args []string) error {
	inPlace := c.Bool("in-place")
	switch {
	case inPlace && len(args) > 0:
		return usagef(c, "NEWDIR and --in-place do not fit together")
	case inPlace && (c.IsSet("q") || c.IsSet("k") || c.IsSet("mode")):
		return usagef(c, "--in-place does not fit together with -q, -k or --mode; give NEWDIR")
	case !inPlace && (len(args) == 0 || args[0] == ""):
		return usagef(c, "NEWDIR is missing; or rebuild DIR itself with --in-place")
	}
	out, err := newProblemWriter(c)
	if err != nil {
		return err
	}
	var r okra.Rebuilt
	target := dir
	if inPlace {
		r, err = rebuildInPlace(c, dir, out)
	} else {
		target = args[0]
		r, err = rebuildInto(c, dir, target, out)
	}
	if err := out.finish(err); err != nil {
		return err
	}
	say(c, "%s: %s entries, root %s", target, humanize.Comma(r.Entries), r.After)
	return trust(r)
}

// trust returns exit code 1, and why, unless the entries of r can be trusted.
func trust(r okra.Rebuilt) error {
	switch {
	case r.Trusted():
		return nil
	case r.Wrong > 0 && r.Dropped > 0:
		return answerNo("the tree is sound, but the hashes of %s entries did not fit and %s records"+
			" were too short to be entries", humanize.Comma(r.Wrong), humanize.Comma(r.Dropped))
	case r.Wrong > 0:
		return answerNo("the tree is sound, but the hashes of %s entries did not fit: either the"+
			" entry or its hash was damaged", humanize.Comma(r.Wrong))
	case r.Dropped > 0:
		return answerNo("the tree is sound, but %s records were too short to be entries and are gone",
			humanize.Comma(r.Dropped))
	}
	return answerNo("the tree is sound, but nothing vouches for its entries: some may be missing or" +
		" have been added")
}

// rebuildInPlace rebuilds the tree of the store at dir in its file.
func rebuildInPlace(c *cli.Context, dir string, out *problemWriter) (r okra.Rebuilt, err error) {
	watch, end := watched(c, "records read")
	defer end()
	found := out.write
	err = update(c, dir, func(tx *okra.Tx) error {
		var err error
		r, err = tx.Rebuild(found, watch)
		found = nil // should this run again
		if err == nil {
			err = out.finish(nil) // what cannot be said is not done
		}
		if err == nil && !r.Trusted() && r.Wrong > 0 && r.Wrong == r.Entries {
			return errors.New("no entry fits its hash, so the header is likely to be wrong;" +
				" nothing was changed, rebuild into a new directory")
		}
		return err
	})
	return r, err
}

// rebuildInto rebuilds the tree of the store at dir in a new store at target.
func rebuildInto(c *cli.Context, dir, target string, out *problemWriter) (okra.Rebuilt, error) {
	var r okra.Rebuilt
	if err := checkDir(dir); err != nil {
		return r, err
	}
	partial, err := makePartial(dir, target)
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(partial) // once it has its name there is nothing to remove
	err = withDamaged(c, dir, func(db *okra.DB) error {
		return db.View(func(tx *okra.Tx) error {
			watch, end := watched(c, "records read")
			r, err = tx.Survey(out.write, watch)
			end()
			if err != nil {
				return err
			}
			root, err := salvage(c, tx, dir, partial)
			if err == nil && root != r.After {
				err = fmt.Errorf("%w: what was read is not what was written", okra.ErrCorrupt)
			}
			return err
		})
	})
	if err == nil {
		err = out.finish(nil) // what cannot be said is not done
	}
	if err == nil {
		err = nameFinal(partial, target)
	}
	return r, err
}

// makePartial makes the directory in which a store for target is made, like that of dir.
func makePartial(dir, target string) (string, error) {
	if _, err := os.Lstat(target); err == nil {
		return "", fmt.Errorf("%s exists; name a directory that does not", target)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	partial := filepath.Clean(target) + ".partial"
	err = os.Mkdir(partial, info.Mode().Perm())
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%s is there, from a rebuild that is under way or was killed;"+
			" remove it if it was", partial)
	}
	return partial, err
}

// nameFinal gives the whole store in partial its name.
func nameFinal(partial, target string) error {
	if _, err := os.Lstat(target); err == nil { // a rename would replace an empty directory
		return fmt.Errorf("%s exists; name a directory that does not", target)
	}
	if err := os.Rename(partial, target); err != nil {
		return err
	}
	return syncDir(filepath.Dir(filepath.Clean(target)))
}

// salvage puts what can be read of tx's entries into a new store at target, and verifies it. It
// returns its root.
func salvage(c *cli.Context, tx *okra.Tx, dir, target string) (root okra.Root, err error) {
	info, err := os.Stat(filepath.Join(dir, "data.mdb"))
	if err != nil {
		return root, err
	}
	f := tx.Format()
	db, err := okra.Open(target, &okra.Options{
		Table: c.String("table"), Q: f.Q, K: f.K, Mode: f.Mode, FileMode: info.Mode().Perm(),
	})
	if err != nil {
		return root, err
	}
	err = db.Update(func(to *okra.Tx) error { return copyEntries(c, tx, to) })
	if err == nil {
		err = db.View(func(made *okra.Tx) error {
			if root, err = made.Root(); err != nil {
				return err
			}
			return checkNew(c, made)
		})
	}
	return root, errors.Join(err, db.Close())
}

// checkNew verifies a tree that was just made.
func checkNew(c *cli.Context, tx *okra.Tx) error {
	watch, end := watched(c, "records of the new store checked")
	defer end()
	for p, err := range tx.VerifyWatched(watch) {
		if err == nil {
			err = fmt.Errorf("%w: the new store: %s", okra.ErrCorrupt, p)
		}
		return err
	}
	return nil
}

// copyEntries puts the entries that can be read of a damaged tree into another.
func copyEntries(c *cli.Context, from, to *okra.Tx) error {
	watch, end := watched(c, "entries written")
	defer end()
	for e, err := range from.Salvage() {
		if err != nil {
			return err
		}
		if err := watch(1); err != nil {
			return err
		}
		if from.Format().Mode == okra.Index {
			err = to.PutHash(e.Key, e.Hash())
		} else {
			err = to.Put(e.Key, e.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

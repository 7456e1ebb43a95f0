package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/okradb/okra-go/okra"
	"github.com/okradb/okra-go/okra/dump"
)

func backupCommand() *cli.Command {
	return &cli.Command{
		Name:      "backup",
		Usage:     "copy a store that is in use",
		UsageText: "okra backup DIR NEWDIR",
		ArgsUsage: "DIR NEWDIR",
		Description: `Copy the store, with all its tables, to NEWDIR, which must not exist or be empty.
The store may be in use: the copy is its state at one moment. A plain cp of a
store in use may give a torn copy.

The copy is made in NEWDIR.partial, and every tree in it is verified, as "okra
verify" does; if nobody wrote to the store meanwhile, its roots are compared with
those of the store. Then it gets its name. After a failure there is no NEWDIR.

While the copy is made, writers cannot reuse old pages and the file may grow. The
copy has the free pages of the store too: "okra compact DIR --to NEWDIR" leaves
them out. Its data file is for machines of the same kind; "okra export" is for
all.

Examples:
  okra backup /data/kv /backup/kv-monday
  okra backup /data/kv /backup/kv --quiet && okra root /backup/kv`,
		Flags: append([]cli.Flag{
			noVerifyFlag(),
		}, progressFlags()...),
		Action: onDir(1, 1, func(c *cli.Context, dir string, args []string) error {
			return runCopy(c, dir, args[0], (*okra.DB).Backup)
		}),
	}
}

func noVerifyFlag() cli.Flag {
	return &cli.BoolFlag{Name: "no-verify", Usage: "do not verify the copy, as of a damaged store"}
}

// A copyMethod copies a store to a directory: okra's Backup or Compact.
type copyMethod func(db *okra.DB, dir string) error

// runCopy copies the store in dir to newDir, which must not exist or be empty.
func runCopy(c *cli.Context, dir, newDir string, method copyMethod) error {
	if err := checkProgress(c); err != nil {
		return err
	}
	if err := checkDir(dir); err != nil {
		return err
	}
	newDir = filepath.Clean(newDir)
	switch entries, err := os.ReadDir(newDir); {
	case err == nil && len(entries) > 0:
		return fmt.Errorf("%s exists and is not empty; give another name", newDir)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	}
	cp, err := newCopy(c, dir, newDir+".partial")
	if err != nil {
		return err
	}
	defer cp.drop()
	if err := cp.make(method); err != nil {
		return err
	}
	// An empty directory of this name gives way.
	if err := os.Remove(newDir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Rename(cp.to, newDir); err != nil {
		return err
	}
	say(c, "copied %s to %s", cp.describe(), newDir)
	return syncDir(filepath.Dir(newDir))
}

// A storeCopy is a copy of a store that is being made. It is made in a directory inside the
// temporary one: a copy that is left behind cannot come back when that has been removed.
type storeCopy struct {
	c     *cli.Context
	from  string         // the directory of the store
	temp  string         // the temporary directory
	to    string         // that of the copy, inside it
	trees []string       // tables with trees
	state []byte         // the first pages of the source when the copy was begun
	found []dump.Trailer // what each tree of the copy has; nil without verification
}

// newCopy makes the directory temp for a copy of the store in dir.
func newCopy(c *cli.Context, dir, temp string) (*storeCopy, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	trees, err := treesIn(dir)
	if err != nil {
		return nil, err
	}
	err = os.Mkdir(temp, info.Mode().Perm())
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("%s exists: another okra makes a copy there, or one was killed;"+
			" remove it if none does", temp)
	}
	if err != nil {
		return nil, err
	}
	to := filepath.Join(temp, "store")
	return &storeCopy{c: c, from: dir, temp: temp, to: to, trees: trees}, nil
}

// drop removes the temporary directory, with what is in it.
func (cp *storeCopy) drop() {
	// A copy that was left behind may make its directory, and then its file, meanwhile.
	for range 3 {
		if os.RemoveAll(cp.temp) == nil {
			return
		}
	}
}

// make makes the copy by a method and verifies it. If a signal comes it returns the error of the
// context and leaves the method behind, so the program must end soon.
func (cp *storeCopy) make(method copyMethod) error {
	var err error
	if cp.state, err = firstPages(cp.from); err != nil {
		return err
	}
	db, err := okra.Open(cp.from, &okra.Options{Table: cp.trees[0], ReadOnly: true})
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- method(db, cp.to) }()
	if err := cp.wait(done); err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	return cp.verify()
}

// wait waits for the copy to be done, or for a signal, and shows how large it has become.
func (cp *storeCopy) wait(done <-chan error) error {
	p := newProgress(cp.c, "copied").ofBytes()
	if info, err := os.Stat(filepath.Join(cp.from, "data.mdb")); err == nil {
		p.upTo(info.Size())
	}
	defer p.end()
	look := time.NewTicker(redrawEvery)
	defer look.Stop()
	for {
		select {
		case err := <-done:
			p.set(max(cp.size(), p.count))
			return err
		case <-cp.c.Context.Done():
			return cp.c.Context.Err()
		case <-look.C:
			p.set(max(cp.size(), p.count))
		}
	}
}

// size returns the size of the copy so far, in bytes.
func (cp *storeCopy) size() int64 {
	info, err := os.Stat(filepath.Join(cp.to, "data.mdb"))
	if err != nil {
		return 0
	}
	return info.Size()
}

// verify verifies every tree of the copy, and compares it with the source if that has not
// changed since the copy was begun.
func (cp *storeCopy) verify() error {
	if cp.c.Bool("no-verify") {
		return nil
	}
	for _, table := range cp.trees {
		t, err := cp.verifyTree(table)
		if err != nil {
			return fmt.Errorf("the copy: %w", err)
		}
		cp.found = append(cp.found, t)
	}
	var source []dump.Trailer
	for _, table := range cp.trees {
		t, err := readTrailer(cp.from, &okra.Options{Table: table, ReadOnly: true})
		if err != nil {
			return err
		}
		source = append(source, t)
	}
	if same, err := cp.unchanged(); err != nil || !same {
		return err
	}
	for i, want := range source {
		if cp.found[i] != want {
			return fmt.Errorf("%w: the copy has %s, the store %s", okra.ErrCorrupt, cp.found[i], want)
		}
	}
	return nil
}

// unchanged reports whether nobody has committed to the source since the copy was begun.
func (cp *storeCopy) unchanged() (bool, error) {
	now, err := firstPages(cp.from)
	return string(now) == string(cp.state), err
}

// describe says what has been copied.
func (cp *storeCopy) describe() string {
	switch {
	case cp.found == nil:
		return "without verification"
	case len(cp.trees) == 1:
		return cp.found[0].String()
	}
	return fmt.Sprintf("%d trees", len(cp.trees))
}

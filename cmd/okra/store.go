package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v2"

	"github.com/okradb/okra-go/okra"
)

// formatVersion is the version of the storage format, as stored in a tree's header.
const formatVersion = 3

func tableFlag() cli.Flag {
	return &cli.StringFlag{
		Name:  "table",
		Usage: "work on the named `TABLE` of the store instead of its unnamed one",
	}
}

func mapSizeFlag() cli.Flag {
	return &cli.StringFlag{
		Name:  "map-size",
		Usage: "do not let this command make the file grow beyond `SIZE`, as 64GiB",
	}
}

func jsonFlag(usage string) cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: usage}
}

// mapSize returns the size which --map-size asks for, in bytes, or 0 if it is not given.
func mapSize(c *cli.Context) (int64, error) {
	if !c.IsSet("map-size") {
		return 0, nil
	}
	text := c.String("map-size")
	size, err := humanize.ParseBytes(text)
	if err != nil || size == 0 || size > math.MaxInt64 {
		return 0, usagef(c, "--map-size %q is not a size; write it as 64MiB or 64GiB", text)
	}
	return int64(size), nil
}

// checkDir returns an error if dir does not exist, is no directory or holds no LMDB file. Opening
// such a directory could create one.
func checkDir(dir string) error {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return missing{"no such directory"}
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return errors.New("not a directory; a store is a directory with data.mdb in it")
	}
	info, err = os.Stat(filepath.Join(dir, "data.mdb"))
	if errors.Is(err, fs.ErrNotExist) {
		return missing{"not an okra store: there is no data.mdb in it"}
	}
	if err == nil && info.Size() == 0 {
		return missing{"not an okra store: its data.mdb is empty"}
	}
	return err
}

// A missing says in its own words that there is no store. It is okra.ErrNotExist.
type missing struct{ message string }

func (m missing) Error() string { return m.message }
func (m missing) Unwrap() error { return okra.ErrNotExist }

// withReader opens the store at dir read-only, in the table which c names, runs fn and closes it.
// It creates nothing in dir but LMDB's lock file.
func withReader(c *cli.Context, dir string, fn func(*okra.DB) error) error {
	if err := checkDir(dir); err != nil {
		return err
	}
	db, err := okra.Open(dir, &okra.Options{Table: c.String("table"), ReadOnly: true})
	if err != nil {
		return err
	}
	return errors.Join(fn(db), db.Close())
}

// view runs fn in a read transaction of the store at dir, opened as by withReader.
func view(c *cli.Context, dir string, fn func(*okra.Tx) error) error {
	return withReader(c, dir, func(db *okra.DB) error { return db.View(fn) })
}

// The states of a write transaction that may have to wait for another process.
const (
	waiting int32 = iota
	running
	abandoned
)

// update runs fn in a write transaction of the store at dir, which must exist. It returns
// context.Canceled, and changes nothing, if a signal comes while another process holds the write
// lock; it then leaves the wait behind, so the program must end soon. fn may run more than once.
func update(c *cli.Context, dir string, fn func(*okra.Tx) error) error {
	size, err := mapSize(c)
	if err != nil {
		return err
	}
	// A writing open would create what is missing: a mistyped directory or table.
	if err := withReader(c, dir, func(*okra.DB) error { return nil }); err != nil {
		return err
	}
	var state atomic.Int32
	guarded := func(tx *okra.Tx) error {
		if !state.CompareAndSwap(waiting, running) && state.Load() == abandoned {
			return context.Canceled
		}
		return fn(tx)
	}
	done := make(chan error, 1)
	go func() {
		done <- openAndUpdate(dir, &okra.Options{Table: c.String("table"), MaxSize: size}, guarded)
	}()
	select {
	case err := <-done:
		return err
	case <-c.Context.Done():
		if state.CompareAndSwap(waiting, abandoned) {
			return c.Context.Err()
		}
		return <-done
	}
}

func openAndUpdate(dir string, opts *okra.Options, fn func(*okra.Tx) error) error {
	db, err := okra.Open(dir, opts)
	if err != nil {
		return err
	}
	err = db.Update(fn)
	if errors.Is(err, okra.ErrMapFull) {
		if s, statErr := db.Stats(); statErr == nil {
			err = fmt.Errorf("%w; the map has %s", err, humanize.IBytes(uint64(s.MapSize)))
		}
	}
	return errors.Join(err, db.Close())
}

//go:build !unix

package main

import (
	"errors"
	"io/fs"
)

// A storeLock would keep other processes from opening a store.
type storeLock struct{}

var errNoLock = errors.New("not possible on this system; use --to NEWDIR, and put its data.mdb in" +
	" the place of the old one while no program has the store open")

// lockStore returns an error: this system does not replace a file that may be open.
func lockStore(string) (*storeLock, error) { return nil, errNoLock }

func checkNotOpen(string) error { return errNoLock }

func (*storeLock) release() error { return nil }

func sameOwner(string, fs.FileInfo, fs.FileInfo) error { return nil }

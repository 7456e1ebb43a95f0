//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// A storeLock keeps other processes from opening a store. LMDB has every process with the store
// open hold a shared lock on the first byte of lock.mdb, by fcntl; the first to come takes it for
// itself until it has filled the file in. This is that exclusive lock. Locks of fcntl belong to the
// process, so ours must not have the store open.
type storeLock struct{ f *os.File }

// lockStore takes the lock of the store in dir, or returns an error if a process has it open. What
// lock.mdb says is made void: a process that waits for the lock would take it for filled in, for
// the data file as it is afterwards. It finds the file invalid and gives up, and the next one to
// come fills it in.
func lockStore(dir string) (*storeLock, error) {
	data, err := os.Stat(filepath.Join(dir, "data.mdb"))
	if err != nil {
		return nil, err
	}
	// Where the file is missing LMDB takes an empty one as well.
	f, err := os.OpenFile(filepath.Join(dir, "lock.mdb"), os.O_RDWR|os.O_CREATE, data.Mode().Perm())
	if err != nil {
		return nil, err
	}
	first := firstByte()
	err = syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &first)
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
		err = errStoreOpen
	} else if err != nil {
		err = fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	if err == nil {
		_, err = f.WriteAt(make([]byte, 8), 0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &storeLock{f}, nil
}

func firstByte() syscall.Flock_t {
	return syscall.Flock_t{Type: syscall.F_WRLCK, Whence: 0, Start: 0, Len: 1}
}

var errStoreOpen = errors.New("another program has the store open; end it, or use --to NEWDIR")

// checkNotOpen returns an error if a process has the store in dir open. It takes no lock.
func checkNotOpen(dir string) error {
	f, err := os.Open(filepath.Join(dir, "lock.mdb"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	first := firstByte()
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &first); err != nil {
		return fmt.Errorf("look at the lock of %s: %w", f.Name(), err)
	}
	if first.Type != syscall.F_UNLCK {
		return errStoreOpen
	}
	return nil
}

// release gives the lock back.
func (l *storeLock) release() error { return l.f.Close() }

// sameOwner gives the file at path, described by info, the owner and group of model.
func sameOwner(path string, info, model fs.FileInfo) error {
	is, ok := info.Sys().(*syscall.Stat_t)
	want, ok2 := model.Sys().(*syscall.Stat_t)
	if !ok || !ok2 || is.Uid == want.Uid && is.Gid == want.Gid {
		return nil
	}
	return os.Chown(path, int(want.Uid), int(want.Gid))
}

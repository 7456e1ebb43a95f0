package lmdbenv

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// Sizes in LMDB's lock file: of a reader slot, and more than its head.
const (
	slotSize = 64
	lockHead = 4096
)

// reserveMap returns ENOMEM if this process cannot map so many bytes, before anything is made.
func reserveMap(size int64) error {
	if size != int64(int(size)) {
		return syscall.ENOMEM
	}
	b, err := syscall.Mmap(-1, 0, int(size), syscall.PROT_NONE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	if err != nil {
		return err
	}
	return syscall.Munmap(b)
}

// reserveLock gives the lock file its disk space: LMDB maps it, and on a full disk the first
// touch of a hole would kill the process. Where it cannot be opened for writing LMDB says so
// itself, or does without. The registry sees to it that this process has no locks on the file.
func (e *Env) reserveLock(o Options) error {
	const keepSize = 1 // FALLOC_FL_KEEP_SIZE: LMDB goes by the size
	f, err := os.OpenFile(filepath.Join(e.path, "lock.mdb"), os.O_RDWR|os.O_CREATE, o.FileMode)
	if err != nil {
		return nil
	}
	defer f.Close()
	size := int64(o.MaxReaders)*slotSize + lockHead
	if info, err := f.Stat(); err == nil {
		size = max(size, info.Size())
	}
	err = syscall.Fallocate(int(f.Fd()), keepSize, 0, size)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return err
	}
	return nil // a file system without the call has to do without
}

// diskFull reports whether the file system of path has hardly any space left.
func diskFull(path string) bool {
	var s syscall.Statfs_t
	const hardly = 1 << 20
	return syscall.Statfs(path, &s) == nil && s.Bavail*uint64(s.Bsize) < hardly
}

package suite

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Cold returns nil if the files in dir can be read cold, from the disk, after [DropCache], and
// else an error that says why not.
func Cold(dir string) error {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return fmt.Errorf("find the file system of %s: %w", dir, err)
	}
	switch int64(stat.Type) {
	case unix.TMPFS_MAGIC, unix.RAMFS_MAGIC:
		return fmt.Errorf("%s: %w: its files are in memory only", dir, ErrNotCold)
	}
	return nil
}

// DropCache flushes the file at path and has the system forget what it keeps of it in memory. A
// page that some process has mapped stays: nobody may have the file open as a store. What the
// disk itself, or a host under a virtual machine, keeps in memory is not reached.
func DropCache(path string) error {
	if err := Cold(path); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	err = file.Sync()
	if err == nil {
		err = unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("drop the page cache of %s: %w", path, err)
	}
	return nil
}

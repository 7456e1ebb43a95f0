package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// An outFile is a file that gets its name when it is whole: until then it is beside that under
// another. What exists and is no regular file, as /dev/null or a named pipe, is written directly.
type outFile struct {
	*os.File
	path  string // the name to get; "" if it is written directly
	force bool   // a file of that name is replaced
}

// createOut begins a file with the given mode. It must be ended by keep or drop. Without force a
// file that has the name already is an error, here and in keep.
func createOut(path string, mode fs.FileMode, force bool) (*outFile, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory", path)
	case !info.Mode().IsRegular():
		// A pipe that nobody reads would block the open, and no signal end that.
		f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if errors.Is(err, syscall.ENXIO) {
			return nil, fmt.Errorf("nobody reads from %s; start its reader first", path)
		}
		return &outFile{File: f}, err
	case !force:
		return nil, errExists(path)
	default:
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, err
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.partial")
	if part, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, &fs.PathError{Op: part.Op, Path: path, Err: part.Err}
	}
	if err != nil {
		return nil, err
	}
	out := &outFile{File: f, path: path, force: force}
	if err := f.Chmod(mode); err != nil {
		out.drop()
		return nil, err
	}
	return out, nil
}

func errExists(path string) error {
	return fmt.Errorf("%s exists; give another name, or --force to replace it", path)
}

// keep brings the file to disk and gives it its name.
func (f *outFile) keep() error {
	if f.path == "" {
		return f.Close()
	}
	err := errors.Join(f.Sync(), f.Close())
	if err == nil {
		err = f.rename()
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	return syncDir(filepath.Dir(f.path))
}

// rename gives the closed file its name. A second name, which fails if it is taken, comes before
// the removal of the first where the file system has such.
func (f *outFile) rename() error {
	if f.force {
		return os.Rename(f.Name(), f.path)
	}
	err := os.Link(f.Name(), f.path)
	if err == nil {
		return os.Remove(f.Name())
	}
	if _, statErr := os.Lstat(f.path); errors.Is(err, fs.ErrExist) || statErr == nil {
		return errExists(f.path)
	}
	return os.Rename(f.Name(), f.path)
}

// drop ends the file as if it had never been. After keep it does nothing.
func (f *outFile) drop() {
	if err := f.Close(); err == nil && f.path != "" {
		os.Remove(f.Name())
	}
}

// syncDir brings to disk what names a directory holds.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

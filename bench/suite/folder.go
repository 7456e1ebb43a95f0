package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// folderSize returns the size of all files in dir but lock files.
func folderSize(dir string) (int64, error) {
	var size int64
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || strings.HasSuffix(path, "lock.mdb") {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		size += info.Size()
		return nil
	})
	return size, err
}

// linkFolder makes the folder target with all of dir but lock files: links to its files.
func linkFolder(target, dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || strings.HasSuffix(path, "lock.mdb") {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.Mkdir(filepath.Join(target, name), 0o755)
		}
		return os.Link(path, filepath.Join(target, name))
	})
}

// stamp changes with each write to a file.
type stamp struct {
	size     int64
	modified int64 // ns
}

// stamps returns the stamps of all files in dir, by path.
func stamps(dir string) (map[string]stamp, error) {
	all := make(map[string]stamp)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		all[path] = stamp{info.Size(), info.ModTime().UnixNano()}
		return nil
	})
	return all, err
}

// syncFolder flushes all files in dir to disk.
func syncFolder(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return errors.Join(file.Sync(), file.Close())
	})
}

// noFolder returns an error that wraps [ErrDir]: why nothing can be made in dir, without the name
// of what was tried, which means nothing to anybody.
func noFolder(dir string, err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	if dir == "" {
		dir = os.TempDir()
	}
	return fmt.Errorf("%w in %s: %w", ErrDir, dir, err)
}

// syncTime returns how long it takes to write a page to a file in dir and to flush it, the median
// of some tries. Where no file can be made the error is [ErrDir]. Where nothing can be written it
// returns the time of a usual disk: it is for estimates only, and the run that follows says what
// is wrong.
func syncTime(dir string) (time.Duration, error) {
	const usual, tries, page = 2 * time.Millisecond, 9, 4096
	file, err := os.CreateTemp(dir, "okra-bench-sync-")
	if err != nil {
		return 0, noFolder(dir, err)
	}
	defer os.Remove(file.Name())
	defer file.Close()
	var times []time.Duration
	for i := range tries {
		start := time.Now()
		if _, err := file.WriteAt(make([]byte, page), int64(i)*page); err != nil {
			return usual, nil
		}
		if err := file.Sync(); err != nil {
			return usual, nil
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	return times[tries/2], nil
}

package lmdbenv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// registry holds the data files that this process has open, whatever path leads to them: LMDB
// does not notice a second open in one process, and closing either would drop the locks of
// both.
var registry struct {
	sync.Mutex
	open []fs.FileInfo
}

// register enters the data file of e in the registry. If it is missing and e takes writes it
// makes an empty one, which LMDB takes for a new database.
func (e *Env) register(mode fs.FileMode) error {
	registry.Lock()
	defer registry.Unlock()
	info, err := os.Stat(e.DataFile())
	if errors.Is(err, fs.ErrNotExist) && !e.readOnly {
		if err := os.WriteFile(e.DataFile(), nil, mode); err != nil {
			return err
		}
		e.made = true
		info, err = os.Stat(e.DataFile())
	}
	if err != nil {
		return err
	}
	if e.readOnly && info.Size() == 0 {
		return fmt.Errorf("%w: %s is empty", ErrNotLMDB, e.DataFile())
	}
	same := func(o fs.FileInfo) bool { return os.SameFile(info, o) }
	if slices.ContainsFunc(registry.open, same) {
		return fmt.Errorf("%w: use the open handle, or close it first", ErrInUse)
	}
	registry.open = append(registry.open, info)
	e.file = info
	return nil
}

// forget takes the data file of e off the registry.
func (e *Env) forget() {
	registry.Lock()
	defer registry.Unlock()
	registry.open = slices.DeleteFunc(registry.open, func(o fs.FileInfo) bool { return o == e.file })
}

// undo takes back what an open that failed has done: files that it made, if they hold no more
// than LMDB's two first pages.
func (e *Env) undo() {
	info, err := os.Stat(e.DataFile())
	if e.made && err == nil && info.Size() <= 2*int64(os.Getpagesize()) {
		os.Remove(e.DataFile())
		os.Remove(filepath.Join(e.path, "lock.mdb"))
	}
	e.forget()
}

package lmdbenv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/PowerDNS/lmdb-go/lmdb"
)

// registry holds the data files that this process has open, whatever path leads to them: LMDB
// does not notice a second open in one process, and closing either would drop the locks of
// both.
var registry struct {
	sync.Mutex
	open []registered
}

// registered is a data file that an Env has open. An attached environment may have several.
type registered struct {
	file  fs.FileInfo
	env   *Env
	owner *lmdb.Env // of an attached one
}

// register enters the data file of e in the registry. If it is missing and e takes writes it
// makes an empty one, which LMDB takes for a new database.
func (e *Env) register(mode fs.FileMode) error {
	if !e.readOnly && !e.attached {
		// Exclusive: another process may be making it, and fill it at once.
		f, err := os.OpenFile(e.DataFile(), os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
		if err == nil {
			e.made = true
			err = f.Close()
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	info, err := os.Stat(e.DataFile())
	if err != nil {
		return err
	}
	if e.readOnly && info.Size() == 0 {
		return fmt.Errorf("%w: %s is empty", ErrNotLMDB, e.DataFile())
	}
	registry.Lock()
	defer registry.Unlock()
	// An owner may have closed an environment and not the Env attached to it.
	registry.open = slices.DeleteFunc(registry.open, func(r registered) bool {
		return r.owner != nil && !isOpen(r.owner)
	})
	for _, r := range registry.open {
		if os.SameFile(info, r.file) && (r.owner == nil || r.owner != e.env) {
			return fmt.Errorf("%w: use the open handle, or close it first", ErrInUse)
		}
	}
	registry.open = append(registry.open, registered{file: info, env: e, owner: e.env})
	return nil
}

// isOpen reports whether an environment has not been closed.
func isOpen(env *lmdb.Env) bool {
	_, err := env.Path()
	return err == nil
}

// forget takes the data file of e off the registry.
func (e *Env) forget() {
	registry.Lock()
	defer registry.Unlock()
	registry.open = slices.DeleteFunc(registry.open, func(r registered) bool { return r.env == e })
}

// undo takes back what an open that failed has done: a file that it made, if it is empty yet.
func (e *Env) undo() {
	info, err := os.Stat(e.DataFile())
	if e.made && err == nil && info.Size() == 0 {
		os.Remove(e.DataFile())
		os.Remove(filepath.Join(e.path, "lock.mdb"))
	}
	e.forget()
}

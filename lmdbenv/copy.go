package lmdbenv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/PowerDNS/lmdb-go/lmdb"
)

// Copy writes a consistent copy of the environment to data.mdb in the directory dir, compact
// without its free pages, while it is in use. It makes dir, with the mode of the source's
// directory, or takes one that is empty. It returns when the copy is on disk; after a failure it
// removes what it made.
func (e *Env) Copy(dir string, compact bool) error {
	doing := fmt.Sprintf("copy %s to %s", e.path, dir)
	if e.InUpdate() { // LMDB would wait for the end of the write transaction
		return fmt.Errorf("%s: %w", doing, ErrNested)
	}
	source, err := os.Stat(e.DataFile())
	if err != nil {
		return classify(doing, err)
	}
	made, err := emptyDir(dir, filepath.Dir(e.DataFile()))
	if err != nil {
		return classify(doing, err)
	}
	err = e.resizing(func() error { return e.copyTo(dir, source.Mode().Perm(), compact) })
	if err != nil {
		os.Remove(filepath.Join(dir, "data.mdb"))
		if made {
			os.Remove(dir)
		}
		return classify(doing, err)
	}
	return nil
}

// emptyDir makes the directory dir, with the mode of model, or checks that it is empty.
func emptyDir(dir, model string) (made bool, err error) {
	info, err := os.Stat(model)
	if err != nil {
		return false, err
	}
	err = os.Mkdir(dir, info.Mode().Perm())
	if err == nil || !errors.Is(err, fs.ErrExist) {
		return err == nil, err
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%w: the directory is not empty", fs.ErrExist)
	}
	return false, err
}

func (e *Env) copyTo(dir string, mode fs.FileMode, compact bool) error {
	var flags uint
	if compact {
		flags = lmdb.CopyCompact
	}
	if err := e.env.CopyFlag(dir, flags); err != nil {
		os.Remove(filepath.Join(dir, "data.mdb")) // for another try
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, "data.mdb"), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	err = f.Chmod(mode)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

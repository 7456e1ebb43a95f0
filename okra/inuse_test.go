package okra_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/okradb/okra-go/okra"
)

// One file is open once in a process, whatever path leads to it; Close gives it free, as does
// an open that fails.
func TestL15SameStoreTwice(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "store")
	db := storeIn(t, dir, okra.Options{})
	updateOK(t, db, put("a", "1"))
	t.Chdir(base)
	paths := map[string]string{
		"the same path":      dir,
		"a relative path":    "store",
		"a path with detour": filepath.Join(dir, "..", "store") + "/./",
	}
	link := filepath.Join(base, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Logf("no symbolic links: %v", err)
	} else {
		paths["a symbolic link"] = link
	}
	hard := filepath.Join(base, "hard")
	err := errors.Join(os.Mkdir(hard, 0o755),
		os.Link(filepath.Join(dir, "data.mdb"), filepath.Join(hard, "data.mdb")))
	if err != nil {
		t.Logf("no hard links: %v", err)
	} else {
		paths["a hard link of the file"] = hard
	}
	opens := func(want error) {
		t.Helper()
		for name, path := range paths {
			for _, readOnly := range []bool{false, true} {
				db, err := okra.Open(path, &okra.Options{ReadOnly: readOnly})
				if err == nil {
					err = errors.Join(db.View(wantContent("a", "1")), db.Close())
				}
				if !errors.Is(err, want) {
					t.Errorf("by %s, read-only %t: %v, want %v", name, readOnly, err, want)
				}
			}
		}
	}
	opens(okra.ErrInUse)
	viewOK(t, db, wantContent("a", "1")) // the first handle is none the worse
	updateOK(t, db, put("a", "1"))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	opens(nil)
	for _, opts := range []okra.Options{
		{Q: 7}, {Mode: okra.Index}, {K: 3}, {Table: "x"}, {ReadOnly: true, Table: "x"}, {MapSize: -1},
	} {
		if db, err := okra.Open(dir, &opts); err == nil {
			t.Errorf("opens with %+v", opts)
			db.Close()
		}
	}
	opens(nil)
}

// Two stores side by side are two stores, also when one has been removed and made again.
func TestL15OtherStores(t *testing.T) {
	dir := t.TempDir()
	a := storeIn(t, filepath.Join(dir, "a"), okra.Options{})
	b := storeIn(t, filepath.Join(dir, "b"), okra.Options{})
	updateOK(t, a, put("k", "a"))
	updateOK(t, b, put("k", "b"))
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	a = storeIn(t, filepath.Join(dir, "a"), okra.Options{})
	viewOK(t, a, wantContent())
	viewOK(t, b, wantContent("k", "b"))
}

// Of many that open one store at the same time, one at a time has it, and all others are told.
func TestL15OpenInParallel(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	var mu sync.Mutex
	opened := 0
	for range 16 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 10 {
				db, err := okra.Open(dir, &okra.Options{NoSync: true})
				if err != nil {
					if !errors.Is(err, okra.ErrInUse) {
						t.Errorf("open: %v", err)
					}
					continue
				}
				mu.Lock()
				opened++
				mu.Unlock()
				if err := errors.Join(db.Update(put("a", "1")), db.Close()); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	if opened == 0 {
		t.Error("nobody has opened the store")
	}
	viewOK(t, storeIn(t, dir, okra.Options{}), wantContent("a", "1"))
}

package okra_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/okradb/okra-go/okra"
)

// smallDisk is the size of the file system that withDisk makes.
const smallDisk = 2 * mebi

// withDisk runs fn in a process that has a small file system of its own at the directory that
// fn is given. The file system goes with the process.
func withDisk(t *testing.T, fn func(t *testing.T, dir string)) {
	t.Helper()
	part := func(t *testing.T, p *parent) {
		err := syscall.Mount("okra-test", p.arg, "tmpfs", 0, fmt.Sprint("size=", smallDisk))
		if err != nil {
			p.tell("no file system: %v", err)
			return
		}
		p.tell("done")
		fn(t, p.arg)
		if err := syscall.Unmount(p.arg, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}
	if isChild(t, parts{"disk": part}) {
		return
	}
	attr := &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		id := []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		group := []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
		attr.Cloneflags = syscall.CLONE_NEWUSER
		attr.UidMappings, attr.GidMappings = id, group
	}
	c := newChild(t, "disk", t.TempDir(), attr)
	if err := c.run(); err != nil {
		t.Skipf("no mounts of its own for a process, which needs root or user namespaces: %v", err)
	}
	if line, ok := c.next(); ok && line != "done" {
		c.end()
		t.Skip(line)
	}
	c.end()
}

// readOnlyDisk turns the file system of withDisk into one that takes no writes, or back.
func readOnlyDisk(t *testing.T, dir string, on bool) {
	t.Helper()
	flags := uintptr(syscall.MS_REMOUNT)
	if on {
		flags |= syscall.MS_RDONLY
	}
	if err := syscall.Mount("", dir, "", flags, ""); err != nil {
		t.Fatal(err)
	}
}

// contentOf returns the pairs of a map, for wantContent.
func contentOf(m map[string]string) (pairs []string) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		pairs = append(pairs, k, m[k])
	}
	return pairs
}

// fillDisk puts values of a size, one in each transaction, until the disk is full, checks that
// the last transaction has not happened and all others have, and returns these.
func fillDisk(t *testing.T, db *okra.DB, size int) map[string]string {
	t.Helper()
	model := map[string]string{}
	root := rootIn(t, db)
	for i := range smallDisk {
		k, v := fmt.Sprint("key ", i*7919%10007), strings.Repeat(string(rune('a'+i%26)), size+i%7)
		err := db.Update(put(k, v))
		if err != nil {
			wantIs(t, fmt.Sprintf("Update %d with %d bytes", i, size), err, okra.ErrDiskFull)
			break
		}
		model[k] = v
		root = rootIn(t, db)
	}
	if got := rootIn(t, db); got != root {
		t.Errorf("the root is %s, want that of the last commit, %s", got, root)
	}
	viewOK(t, db, wantContent(contentOf(model)...))
	return model
}

// On a full disk a commit fails with an error that says so; all that was committed before can
// be read, has its root, and can be deleted, and the store opens again. (A delete writes pages
// too: which of them have room depends on the pages that happen to be free.)
func TestL19L33DiskFull(t *testing.T) {
	withDisk(t, func(t *testing.T, disk string) {
		for _, size := range []int{500, 3000, 40000, 300000} {
			dir := filepath.Join(disk, fmt.Sprint(size))
			db := storeIn(t, dir, okra.Options{Q: 8})
			model := fillDisk(t, db, size)
			err := db.Update(put("large", strings.Repeat("x", smallDisk)))
			wantIs(t, "a large Update", err, okra.ErrDiskFull)
			wantIs(t, "Close", db.Close(), nil)
			db = storeIn(t, dir, okra.Options{})
			deleted := 0
			for _, k := range slices.Sorted(maps.Keys(model)) {
				err := db.Update(func(tx *okra.Tx) error { return tx.Delete([]byte(k)) })
				if err == nil {
					delete(model, k)
					deleted++
				} else {
					wantIs(t, "a delete", err, okra.ErrDiskFull)
				}
				if deleted == 5 {
					break
				}
			}
			if deleted == 0 {
				t.Errorf("with values of %d bytes nothing can be deleted", size)
			}
			viewOK(t, db, wantContent(contentOf(model)...))
			wantIs(t, "Close", db.Close(), nil)
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A copy that cannot be written for lack of space leaves nothing behind, and the error says why.
func TestL19L24DiskFullForACopy(t *testing.T) {
	withDisk(t, func(t *testing.T, disk string) {
		source := newStore(t, okra.Options{})
		updateOK(t, source, fill("e", 3000))
		dir := filepath.Join(disk, "copy")
		for name, copyTo := range map[string]func(string) error{
			"Backup": source.Backup, "Compact": source.Compact,
		} {
			wantIs(t, name, copyTo(dir), okra.ErrDiskFull)
			if got := inside(t, disk); len(got) != 0 {
				t.Errorf("%s leaves %q", name, got)
			}
		}
		viewOK(t, source, filled("e", 3000))
	})
}

// A store that cannot be made, or opened, for lack of space leaves nothing behind, and the error
// says why.
func TestL19DiskFullForOpen(t *testing.T) {
	withDisk(t, func(t *testing.T, disk string) {
		old := filepath.Join(disk, "old")
		wantIs(t, "Close", storeIn(t, old, okra.Options{}).Close(), nil)
		if err := os.Remove(filepath.Join(old, "lock.mdb")); err != nil {
			t.Fatal(err)
		}
		full := filepath.Join(disk, "full")
		err := os.WriteFile(full, make([]byte, smallDisk), 0o644)
		wantIs(t, "to fill the disk", err, syscall.ENOSPC)
		for _, name := range []string{"old", "new"} {
			dir := filepath.Join(disk, name)
			for range 2 {
				_, err := okra.Open(dir, nil)
				wantIs(t, "Open", err, okra.ErrDiskFull)
			}
			if _, err := os.Stat(dir); err == nil && name == "new" {
				if got := inside(t, dir); len(got) != 0 {
					t.Errorf("Open leaves %q", got)
				}
			}
		}
		if err := os.Remove(full); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"old", "new"} {
			updateOK(t, storeIn(t, filepath.Join(disk, name), okra.Options{}), put("a", "1"))
		}
	})
}

// A store on a read-only file system can be read, with LMDB's lock file there or not, and
// nothing else: writers are told.
func TestL22ReadOnlyMedium(t *testing.T) {
	withDisk(t, func(t *testing.T, disk string) {
		dir := filepath.Join(disk, "store")
		if err := os.Mkdir(filepath.Join(disk, "empty"), 0o755); err != nil {
			t.Fatal(err)
		}
		db := storeIn(t, dir, okra.Options{})
		updateOK(t, db, fill("e", 500))
		wantIs(t, "Close", db.Close(), nil)
		for range 2 {
			readOnlyDisk(t, disk, true)
			for _, opts := range []okra.Options{{ReadOnly: true}, {ReadOnly: true, NoLock: true}} {
				db := storeIn(t, dir, opts)
				viewOK(t, db, filled("e", 500))
				viewOK(t, db, wholeTree)
				wantIs(t, "Update", db.Update(put("a", "1")), okra.ErrReadOnly)
				wantIs(t, "Batch", db.Batch(put("a", "1")), okra.ErrReadOnly)
				s := snapshotsOf(t, db, 1)[0]
				wantIs(t, "View of a snapshot", s.View(filled("e", 500)), nil)
				if stats := statsOf(t, db); stats.UsedSize < 500000 || len(stats.Snapshots) != 1 {
					t.Errorf("%+v", stats)
				}
				wantIs(t, "Close", s.Close(), nil)
				copied := filepath.Join(t.TempDir(), "copy")
				wantIs(t, "Backup", db.Backup(copied), nil)
				viewOK(t, storeIn(t, copied, okra.Options{}), filled("e", 500))
				wantIs(t, "Close", db.Close(), nil)
			}
			_, err := okra.Open(dir, nil)
			wantIs(t, "Open to write", err, okra.ErrPermission)
			_, err = okra.Open(filepath.Join(disk, "new"), nil)
			wantIs(t, "Open of a new one", err, okra.ErrPermission)
			for _, name := range []string{"new", "empty"} {
				_, err = okra.Open(filepath.Join(disk, name), &okra.Options{ReadOnly: true})
				wantIs(t, "Open of none", err, okra.ErrNotExist)
			}
			readOnlyDisk(t, disk, false)
			os.Remove(filepath.Join(dir, "lock.mdb"))
		}
		updateOK(t, storeIn(t, dir, okra.Options{}), put("a", "1"))
	})
}

// What another user may not write he can't open but without the lock, by his own wish, and the
// error says so; what he may not read he can't open at all. No file is made or changed.
func TestL22OtherUser(t *testing.T) {
	const nobody = 65534
	part := func(t *testing.T, p *parent) {
		// The process gives up its rights, in all of its threads.
		err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody))
		if err != nil {
			t.Fatal(err)
		}
		open, secret := filepath.Join(p.arg, "open"), filepath.Join(p.arg, "secret")
		_, err = okra.Open(open, &okra.Options{ReadOnly: true})
		wantIs(t, "Open to read", err, okra.ErrPermission)
		wantWords(t, err, "lock.mdb", "NoLock")
		db := storeIn(t, open, okra.Options{ReadOnly: true, NoLock: true})
		viewOK(t, db, filled("e", 500))
		if s := statsOf(t, db); s.UsedSize < 500000 || len(s.Readers) != 0 {
			t.Errorf("%+v", s)
		}
		wantIs(t, "Update", db.Update(put("a", "1")), okra.ErrReadOnly)
		_, err = okra.Open(filepath.Join(open, "..", "open"), &okra.Options{ReadOnly: true, NoLock: true})
		wantIs(t, "a second Open", err, okra.ErrInUse)
		wantIs(t, "Close", db.Close(), nil)
		_, err = okra.Open(open, nil)
		wantIs(t, "Open to write", err, okra.ErrPermission)
		for _, opts := range []okra.Options{{ReadOnly: true}, {ReadOnly: true, NoLock: true}, {}} {
			_, err = okra.Open(secret, &opts)
			wantIs(t, fmt.Sprintf("Open of what is secret with %+v", opts), err, okra.ErrPermission)
		}
		_, err = okra.Open(filepath.Join(p.arg, "new"), nil)
		wantIs(t, "Open of a new one", err, okra.ErrPermission)
		_, err = okra.Open(filepath.Join(p.arg, "new"), &okra.Options{ReadOnly: true})
		wantIs(t, "Open of none", err, okra.ErrNotExist)
	}
	if isChild(t, parts{"user": part}) {
		return
	}
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	base := t.TempDir()
	var check []func()
	for name, mode := range map[string]os.FileMode{"open": 0o644, "secret": 0o600} {
		dir := filepath.Join(base, name)
		db := storeIn(t, dir, okra.Options{FileMode: mode})
		updateOK(t, db, fill("e", 500))
		wantIs(t, "Close", db.Close(), nil)
		check = append(check, unchanged(t, dir))
	}
	for dir := base; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	start(t, "user", base).end()
	for _, same := range check {
		same()
	}
	if got := inside(t, base); len(got) != 2 {
		t.Errorf("there is %q", got)
	}
}

// A store for reading makes nothing: no directory, no file in an empty one.
func TestL22MissingAndEmpty(t *testing.T) {
	base := t.TempDir()
	empty := filepath.Join(base, "empty")
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, noLock := range []bool{false, true} {
		for _, name := range []string{"empty", "missing", "missing/more"} {
			dir := filepath.Join(base, name)
			_, err := okra.Open(dir, &okra.Options{ReadOnly: true, NoLock: noLock})
			wantIs(t, "Open of "+name, err, okra.ErrNotExist)
			wantWords(t, err, dir)
		}
	}
	if got := append(inside(t, base), inside(t, empty)...); len(got) != 1 {
		t.Errorf("there is %q", got)
	}
	_, err := okra.Open(empty, &okra.Options{NoLock: true})
	wantIs(t, "NoLock for writing", err, okra.ErrOptions)
}

// A process that cannot have a larger map, for lack of address space, is told so when the map
// is full: the error is one of growth, and the store goes on with what fits.
func TestL1L2NoAddressSpace(t *testing.T) {
	alone(t, func(t *testing.T) {
		runtime.GOMAXPROCS(2) // or else the stacks of many threads take the address space
		const size = 256 * mebi
		// Not by newStore: the check at its end takes memory.
		db, err := okra.Open(t.TempDir(), &okra.Options{MapSize: size, NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		updateOK(t, db, fill("old", 1000))
		value, n := bytes.Repeat([]byte("v"), mebi), 0
		grow := func(tx *okra.Tx) error { n++; return tx.Put(number(n), value) }
		for statsOf(t, db).UsedSize < size-8*mebi {
			updateOK(t, db, grow)
		}
		status, err := os.ReadFile("/proc/self/statm")
		if err != nil {
			t.Fatal(err)
		}
		var pages uint64
		fmt.Fscan(bytes.NewReader(status), &pages)
		most := pages*uint64(os.Getpagesize()) + size - mebi // the rest is Go's
		limit := syscall.Rlimit{Cur: most, Max: most}
		if err := syscall.Setrlimit(syscall.RLIMIT_AS, &limit); err != nil {
			t.Skipf("address space cannot be limited: %v", err)
		}
		var full error
		for i := 0; full == nil && i < 20; i++ {
			full = db.Update(grow)
		}
		wantIs(t, "Update", full, okra.ErrMapFull)
		for range 3 {
			viewOK(t, db, filled("old", 1000))
			updateOK(t, db, fill("old", 1000))
		}
		wantIs(t, "Close", db.Close(), nil)
	})
}

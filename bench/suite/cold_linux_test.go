package suite

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// resident returns the share of the file at path that the system has in memory.
func resident(t *testing.T, path string, size int) float64 {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	data, err := unix.Mmap(int(file.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(data)
	pages := make([]byte, size/os.Getpagesize())
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&data[0])), uintptr(size),
		uintptr(unsafe.Pointer(&pages[0])))
	if errno != 0 {
		t.Fatal(errno)
	}
	in := 0
	for _, page := range pages {
		in += int(page & 1)
	}
	return float64(in) / float64(len(pages))
}

func TestDropCache(t *testing.T) {
	dir := t.TempDir()
	if err := Cold(dir); err != nil {
		t.Skip(err)
	}
	path := filepath.Join(dir, "data")
	const size = 4 << 20
	if err := os.WriteFile(path, make([]byte, size), 0o644); err != nil {
		t.Fatal(err)
	}
	if hot := resident(t, path, size); hot < 0.9 {
		t.Skipf("this file system keeps %.2f of a new file in memory", hot)
	}
	if err := DropCache(path); err != nil {
		t.Fatal(err)
	}
	if cold := resident(t, path, size); cold > 0.05 {
		t.Errorf("%.2f of the file is in memory still", cold)
	}
}

func TestDropCacheInMemory(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "okra-test-")
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "data")
	if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := DropCache(path); !errors.Is(err, ErrNotCold) {
		t.Errorf("error %v", err)
	}
}

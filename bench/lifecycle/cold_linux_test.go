package lifecycle

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/okradb/okra-go/bench/suite"
)

// Before cold reads nothing of the store is in memory, and before hot ones all is.
func TestSetCache(t *testing.T) {
	dir := t.TempDir()
	if err := suite.Cold(dir); err != nil {
		t.Skip(err)
	}
	path := filepath.Join(dir, "data.mdb")
	const size = 1 << 20
	if err := os.WriteFile(path, make([]byte, size), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{cold, hot, cold} {
		if err := setCache(dir, state); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		// It reads only what needs no wait for the disk.
		n, err := unix.Preadv2(int(file.Fd()), [][]byte{make([]byte, size)}, 0, unix.RWF_NOWAIT)
		switch {
		case errors.Is(err, unix.EOPNOTSUPP):
			t.Skip("this file system does not tell what is in memory")
		case state == cold && !errors.Is(err, unix.EAGAIN):
			t.Errorf("cold: %d bytes are in memory, %v", n, err)
		case state == hot && n != size:
			t.Errorf("hot: %d bytes are in memory, %v", n, err)
		}
	}
}

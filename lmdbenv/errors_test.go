package lmdbenv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"github.com/okradb/okra-go/tree"
)

// Each of LMDB's and the system's codes is known by one error of this package or of tree, with
// what was being done, and stays in the chain.
func TestClassify(t *testing.T) {
	cases := []struct {
		code error
		kind error // nil: none in particular
	}{
		{lmdb.MapFull, ErrMapFull},
		{lmdb.MapResized, ErrMapResized},
		{lmdb.ReadersFull, ErrReadersFull},
		{lmdb.DBsFull, ErrTablesFull},
		{lmdb.NotFound, ErrNoTable},
		{lmdb.Invalid, ErrNotLMDB},
		{lmdb.VersionMismatch, ErrNotLMDB},
		{lmdb.Corrupted, tree.ErrCorrupt},
		{lmdb.PageNotFound, tree.ErrCorrupt},
		{lmdb.BadTxn, tree.ErrFailed},
		{syscall.ENOSPC, ErrDiskFull},
		{syscall.ENOENT, ErrNotExist},
		{syscall.EACCES, ErrPermission},
		{syscall.EPERM, ErrPermission},
		{syscall.EROFS, ErrPermission},
		{lmdb.BadValSize, nil},
		{syscall.EINVAL, nil},
	}
	kinds := []error{ErrNotExist, ErrPermission, ErrNotLMDB, ErrInUse, ErrClosed, ErrMapFull,
		ErrMapResized, ErrReadersFull, ErrTablesFull, ErrNoTable, ErrDiskFull, ErrNested, ErrReadOnly,
		tree.ErrCorrupt, tree.ErrFailed}
	for _, c := range cases {
		err := classify("try", &lmdb.OpError{Op: "mdb_op", Errno: c.code})
		for _, kind := range kinds {
			if got := errors.Is(err, kind); got != (kind == c.kind) {
				t.Errorf("%v is %q: %t", err, kind, got)
			}
		}
		var op *lmdb.OpError
		if !errors.As(err, &op) || op.Errno != c.code {
			t.Errorf("%v has lost the code %v", err, c.code)
		}
	}
	for _, c := range []struct{ err, kind error }{
		{fs.ErrNotExist, ErrNotExist},
		{&fs.PathError{Op: "stat", Path: "p", Err: syscall.ENOENT}, ErrNotExist},
		{&fs.PathError{Op: "mkdir", Path: "p", Err: os.ErrPermission}, ErrPermission},
		{&fs.PathError{Op: "open", Path: "p", Err: syscall.EROFS}, ErrPermission},
		{fmt.Errorf("%w: by hand", ErrInUse), ErrInUse},
	} {
		if err := classify("try", c.err); !errors.Is(err, c.kind) || !errors.Is(err, c.err) {
			t.Errorf("%v is not %q", err, c.kind)
		}
	}
	if err := classify("try", nil); err != nil {
		t.Errorf("no error gives %v", err)
	}
}

package lmdbenv

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"github.com/okradb/okra-go/tree"
)

// Errors of environments and transactions. LMDB's own code stays in the chain beside them.
var (
	// ErrNotExist says that there is no database at the path.
	ErrNotExist = errors.New("no such store")
	// ErrPermission says that the file system refuses the access asked for.
	ErrPermission = errors.New("permission denied")
	// ErrNotLMDB says that the file is not an LMDB database of this generation (0.9).
	ErrNotLMDB = errors.New("not an LMDB 0.9 database")
	// ErrInUse says that this process has the file open already.
	ErrInUse = errors.New("already open in this process")
	// ErrClosed says that the environment is closed.
	ErrClosed = errors.New("store is closed")
	// ErrMapFull says that the data do not fit the map.
	ErrMapFull = errors.New("map is full")
	// ErrMapResized says that another process made the file larger than this process's map.
	ErrMapResized = errors.New("map was grown by another process")
	// ErrMapSize says that this machine cannot map as much as the map size asks for.
	ErrMapSize = errors.New("map size is too large for this machine")
	// ErrReadersFull says that every reader slot is taken.
	ErrReadersFull = errors.New("too many readers")
	// ErrTablesFull says that the environment has no room for another named table.
	ErrTablesFull = errors.New("too many tables")
	// ErrNoTable says that there is no table of the name.
	ErrNoTable = errors.New("no such table")
	// ErrDiskFull says that the file system has no space left.
	ErrDiskFull = errors.New("disk is full")
	// ErrWriteMap refuses an environment with LMDB's WriteMap flag.
	ErrWriteMap = errors.New("environment has the WriteMap flag")
	// ErrTableName refuses a table name that LMDB cannot hold.
	ErrTableName = errors.New("table name is not 1 to 511 bytes without a zero byte")
	// ErrForeignTxn refuses to join a transaction that is over or of another environment.
	ErrForeignTxn = errors.New("transaction is over, or of another environment")
	// ErrNested says that a write transaction was begun inside another one.
	ErrNested = errors.New("write transaction inside a write transaction")
	// ErrReadOnly says that the environment is open for reading only.
	ErrReadOnly = tree.ErrReadOnly
)

// classify translates an error of lmdb-go into one of this package's, or of package tree's for
// damage, with what was being done; err stays in the chain.
func classify(doing string, err error) error {
	if err == nil {
		return nil
	}
	kind := kindOf(err)
	if kind == nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return fmt.Errorf("%s: %w (%w)", doing, kind, err)
}

// kinds pairs LMDB's codes and the system's with the errors they are known by here.
var kinds = []struct{ code, kind error }{
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
	{syscall.ENOMEM, ErrMapSize},
	{syscall.ENOSPC, ErrDiskFull},
	{syscall.EDQUOT, ErrDiskFull},
	{syscall.EFBIG, ErrDiskFull},
}

func kindOf(err error) error {
	var op *lmdb.OpError
	if errors.As(err, &op) {
		err = op.Errno
	}
	for _, k := range kinds {
		if err == k.code {
			return k.kind
		}
	}
	switch {
	case os.IsNotExist(err):
		return ErrNotExist
	case os.IsPermission(err), errors.Is(err, syscall.EROFS):
		return ErrPermission
	}
	return nil
}

// codeError returns the error for a code of LMDB's or the system's from a bulk call.
func codeError(op string, code int) error {
	if code == 0 {
		return nil
	}
	err := &lmdb.OpError{Op: op}
	if code < 0 {
		err.Errno = lmdb.Errno(code)
	} else {
		err.Errno = syscall.Errno(code)
	}
	return classify("storage", err)
}

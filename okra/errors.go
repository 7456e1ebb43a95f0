package okra

import (
	"errors"

	"github.com/okradb/okra-go/lmdbenv"
	"github.com/okradb/okra-go/tree"
)

// The errors of this package, all of them, to be asked for with errors.Is. What comes back is
// wrapped with what was being done and, where it is LMDB's, with LMDB's own code.

// Errors about arguments. They change nothing.
var (
	ErrKeyEmpty     = tree.ErrKeyEmpty     // the empty key
	ErrKeyTooLong   = tree.ErrKeyTooLong   // a key of more than 510 bytes
	ErrValueTooLong = tree.ErrValueTooLong // a value too long for LMDB
	ErrHashSize     = tree.ErrHashSize     // a hash that has not K bytes
	ErrLevel        = tree.ErrLevel        // a level outside 0 to 254
	ErrMode         = tree.ErrMode         // an operation that the mode does not have
	ErrOptions      = errors.New("invalid option")
	ErrForeignTxn   = lmdbenv.ErrForeignTxn // a transaction to join that is over, or not ours
	ErrWriteMap     = lmdbenv.ErrWriteMap   // an environment to attach that has the WriteMap flag
)

// Errors about what is asked for or stored.
var (
	ErrNotFound = tree.ErrNotFound // no such key or node
	ErrNoValues = tree.ErrNoValues // a value asked of a tree in index mode
	ErrNotEmpty = tree.ErrNotEmpty // a load into a tree that has entries
	ErrNotOkra  = tree.ErrNotOkra  // a table that holds no okra tree
	ErrFormat   = tree.ErrFormat   // a tree of another version, K, Q or mode than asked for
	ErrCorrupt  = tree.ErrCorrupt  // a file or record that is damaged
	ErrTooTall  = tree.ErrTooTall  // entries that need more than 255 levels
)

// Errors of a transaction.
var (
	ErrReadOnly = lmdbenv.ErrReadOnly // a write where only reads are possible
	ErrTxDone   = errors.New("transaction is over")
	ErrTxFailed = tree.ErrFailed    // an earlier step failed: it can only be aborted
	ErrWritten  = tree.ErrWritten   // a write to the tree during an iteration over it
	ErrNested   = lmdbenv.ErrNested // an Update inside an Update
)

// Errors of the store.
var (
	ErrNotExist    = lmdbenv.ErrNotExist    // no store at the path
	ErrNoTable     = lmdbenv.ErrNoTable     // no table of the name
	ErrPermission  = lmdbenv.ErrPermission  // the file system refuses
	ErrNotLMDB     = lmdbenv.ErrNotLMDB     // not a file of LMDB 0.9
	ErrInUse       = lmdbenv.ErrInUse       // the file is open in this process already
	ErrClosed      = lmdbenv.ErrClosed      // the DB is closed
	ErrMapFull     = lmdbenv.ErrMapFull     // the data do not fit the map
	ErrMapResized  = lmdbenv.ErrMapResized  // another process has grown the file
	ErrMapSize     = lmdbenv.ErrMapSize     // the machine cannot map as much as MapSize
	ErrReadersFull = lmdbenv.ErrReadersFull // too many readers at once
	ErrTablesFull  = lmdbenv.ErrTablesFull  // too many named tables
	ErrDiskFull    = lmdbenv.ErrDiskFull    // no space left
)

package dump

import (
	"errors"
	"fmt"

	"github.com/okradb/okra-go/tree"
)

// Kind is a format of dumps.
type Kind int

// The formats. Auto lets a Reader find out; it cannot be written.
const (
	Auto Kind = iota
	Binary
	JSONLines
	MDB      // LMDB's text, bytes in hexadecimal
	MDBPrint // LMDB's text, printable bytes as they are; a Reader treats it as MDB
)

// String returns "auto", "binary", "jsonl", "mdb" or "mdb-print".
func (k Kind) String() string {
	names := []string{"auto", "binary", "jsonl", "mdb", "mdb-print"}
	if k < 0 || int(k) >= len(names) {
		return fmt.Sprintf("kind %d", int(k))
	}
	return names[k]
}

// ParseKind reads what [Kind.String] writes.
func ParseKind(s string) (Kind, error) {
	for k := Auto; k <= MDBPrint; k++ {
		if s == k.String() {
			return k, nil
		}
	}
	return Auto, fmt.Errorf("%w: the formats are binary, jsonl, mdb and mdb-print", ErrUnknown)
}

// The errors of this package, to be asked for with errors.Is. They come wrapped with the number
// of the entry or line. Keys and values that no tree can hold give the errors of package tree.
var (
	ErrUnknown  = errors.New("not a dump in a known format")
	ErrVersion  = errors.New("dump of another version")
	ErrSyntax   = errors.New("malformed data")
	ErrCut      = errors.New("dump is cut short")
	ErrOrder    = errors.New("keys are not in ascending order")
	ErrMismatch = errors.New("dump does not hold the entries that it was made of")
	ErrValues   = errors.New("the format has no place for a tree without values")
	ErrSeek     = errors.New("dump has to be read twice, so it must be a file")
)

// Header is what a dump says before its entries.
type Header struct {
	// Format is the tree's. It is the zero Format if the dump does not tell, as LMDB's text of
	// a table without a tree; its Mode may be AnyMode, which is that of an old tree.
	Format tree.Format

	// What only LMDB's text tells: the name of the table, "" for the unnamed one, the size of
	// the map in bytes, and the number of reader slots. Zero numbers are left out.
	Table      string
	MapSize    int64
	MaxReaders int
}

// Entry is an entry in a dump. Of a tree in store mode it has a value, and of one in index mode
// the leaf hash.
type Entry struct {
	Key   []byte
	Value []byte // nil in index mode; otherwise, from a Reader, never nil

	// Hash is the leaf hash. In store mode it may be zero; a Writer checks it if it is not.
	Hash tree.Hash
}

// Trailer is what a dump says after its entries.
type Trailer struct {
	Count int64     // of entries
	Root  tree.Root // the zero Root if the dump does not tell
}

// String returns "3 entries, root 1 7ed9f5f2200ec72d6599f3b608de883e".
func (t Trailer) String() string {
	count := fmt.Sprintf("%d entries", t.Count)
	if t.Count == 1 {
		count = "1 entry"
	}
	if t.Root == (tree.Root{}) {
		return count
	}
	return fmt.Sprintf("%s, root %s", count, t.Root)
}

// checkKey returns the error for a key that no tree can hold.
func checkKey(key []byte) error {
	if len(key) == 0 {
		return tree.ErrKeyEmpty
	}
	if len(key) > tree.MaxKey {
		return fmt.Errorf("%w: it has %d bytes and begins with %x",
			tree.ErrKeyTooLong, len(key), key[:16])
	}
	return nil
}

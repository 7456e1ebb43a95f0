package dump

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"github.com/zeebo/blake3"

	"github.com/okradb/okra-go/tree"
)

// bufferSize is that of a stream in bytes.
const bufferSize = 64 << 10

// An encoder writes one format. Errors of w come at the latest from its Flush.
type encoder interface {
	begin(w *bufio.Writer, h Header) error
	entry(w *bufio.Writer, e Entry) error
	end(w *bufio.Writer, t Trailer) error
}

// A Writer writes a dump. After an error it must not be used further.
type Writer struct {
	out    *bufio.Writer
	enc    encoder
	format tree.Format
	root   *rootHasher
	last   []byte // key of the last entry
}

// NewWriter begins a dump of a tree. Its format must have K, Q and Mode set. It returns
// [ErrValues] for a tree in index mode and a kind that has no place for hashes.
func NewWriter(w io.Writer, kind Kind, h Header) (*Writer, error) {
	f := h.Format
	if f.K == 0 || f.Q == 0 || f.Mode == tree.AnyMode {
		return nil, fmt.Errorf("%w: a dump needs K, Q and mode, got %s", tree.ErrFormat, f)
	}
	if err := f.Validate(); err != nil {
		return nil, err
	}
	d := &Writer{
		out: bufio.NewWriterSize(w, bufferSize), format: f, root: newRootHasher(f),
		last: make([]byte, 0, tree.MaxKey),
	}
	switch kind {
	case Binary:
		d.enc = &binaryEncoder{sum: blake3.New()}
	case JSONLines:
		d.enc = newJSONEncoder(d.out)
	case MDB, MDBPrint:
		d.enc = &mdbEncoder{print: kind == MDBPrint}
	default:
		return nil, fmt.Errorf("%w: %s cannot be written", ErrUnknown, kind)
	}
	return d, d.enc.begin(d.out, h)
}

// Write writes the next entry and keeps none of its slices. The errors are [ErrOrder] if the key
// does not follow that of the entry before, [tree.ErrCorrupt] if a hash that comes with a value
// is not of that value, others of package tree for what no tree can hold, and the stream's.
func (d *Writer) Write(e Entry) error {
	if err := checkKey(e.Key); err != nil {
		return fmt.Errorf("entry %d: %w", d.root.count+1, err)
	}
	if d.root.count > 0 && bytes.Compare(e.Key, d.last) <= 0 {
		return fmt.Errorf("entry %d: %w: %x after %x", d.root.count+1, ErrOrder, e.Key, d.last)
	}
	if err := d.root.take(e, tree.ErrCorrupt); err != nil {
		return fmt.Errorf("entry %d: %w", d.root.count, err)
	}
	if err := d.enc.entry(d.out, e); err != nil {
		return err
	}
	d.last = append(d.last[:0], e.Key...)
	return nil
}

// Close writes the end of the dump and flushes it, and returns what it says there: the number
// and root of the entries, computed from what was written. It does not close the stream.
func (d *Writer) Close() (Trailer, error) {
	t, err := d.root.trailer()
	if err != nil {
		return t, err
	}
	if err := d.enc.end(d.out, t); err != nil {
		return t, err
	}
	return t, d.out.Flush()
}

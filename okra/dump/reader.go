package dump

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/okradb/okra-go/tree"
)

// A decoder reads one format.
type decoder interface {
	begin() (Header, error)
	// next returns the next entry, in memory that it uses again, or false after the end.
	next() (e Entry, more bool, err error)
	// trailer is what the end said.
	trailer() Trailer
	// where says what is being read, or was read last: a line or an entry. It is "" at first.
	where() string
}

// A Reader reads a dump. It is used by one goroutine.
type Reader struct {
	kind Kind
	in   *bufio.Reader
	dec  decoder
	head Header

	root  *rootHasher // nil if the dump does not say what root to expect
	last  []byte      // key of the last entry
	begun bool
	whole bool
}

// NewReader begins to read the dump in r, of a kind or, with [Auto], of the kind that its first
// bytes show. The dump may be LMDB's text of a tree's own table: it is then taken for a dump of
// the tree. As its parameters come last, r must be an io.Seeker, or the error is [ErrSeek].
func NewReader(r io.Reader, kind Kind) (*Reader, error) {
	s, start, canSeek := seekable(r)
	d := &Reader{in: bufio.NewReaderSize(r, bufferSize), last: make([]byte, 0, tree.MaxKey)}
	first, err := d.in.Peek(1)
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("%w: it is empty", ErrCut)
		}
		return nil, err
	}
	if kind == Auto {
		if kind = detect(first[0]); kind == Auto {
			return nil, fmt.Errorf("%w: it begins with the byte %#02x; the formats are binary,"+
				" jsonl and mdb", ErrUnknown, first)
		}
	}
	d.kind = kind
	d.dec = d.decoder()
	if d.head, err = d.dec.begin(); err != nil {
		return nil, d.at(err)
	}
	if m, ok := d.dec.(*mdbDecoder); ok && m.raw() {
		if !canSeek {
			return nil, ErrSeek
		}
		return d, d.openTree(r, s, start)
	}
	d.expectRoot()
	return d, nil
}

// detect returns the kind of a dump by its first byte, or Auto.
func detect(first byte) Kind {
	switch first {
	case binaryMagic[0]:
		return Binary
	case '{':
		return JSONLines
	case 'V':
		return MDB
	}
	return Auto
}

func (d *Reader) decoder() decoder {
	switch d.kind {
	case Binary:
		return newBinaryDecoder(d.in)
	case JSONLines:
		return &jsonDecoder{lines: lines{in: d.in}}
	}
	return &mdbDecoder{mdbReader: newMDBReader(d.in)}
}

// openTree begins again with a dump that is LMDB's text of a tree's table.
func (d *Reader) openTree(r io.Reader, s io.Seeker, start int64) error {
	again := func() error {
		_, err := s.Seek(start, io.SeekStart)
		d.in.Reset(r)
		return err
	}
	if err := again(); err != nil {
		return err
	}
	t := &treeDecoder{mdbReader: newMDBReader(d.in)}
	d.dec = t
	if err := t.survey(); err != nil {
		return d.at(err)
	}
	if err := again(); err != nil {
		return err
	}
	var err error
	t.mdbReader = newMDBReader(d.in)
	if d.head, err = t.begin(); err != nil {
		return d.at(err)
	}
	d.expectRoot()
	return nil
}

// expectRoot begins to compute the root, if the parameters are known.
func (d *Reader) expectRoot() {
	if f := d.head.Format; f.K != 0 {
		d.root = newRootHasher(f)
	}
}

// NeedsSeek reports whether [NewReader] gives [ErrSeek] for a dump that begins with prefix and
// cannot be read twice. The prefix should have the first 16 KiB.
func NeedsSeek(prefix []byte) bool {
	if len(prefix) == 0 || detect(prefix[0]) != MDB {
		return false
	}
	m := &mdbDecoder{mdbReader: newMDBReader(bufio.NewReader(bytes.NewReader(prefix)))}
	_, err := m.begin()
	return err == nil && m.raw()
}

// Kind returns the kind of the dump.
func (d *Reader) Kind() Kind { return d.kind }

// Header returns what the dump says before its entries.
func (d *Reader) Header() Header { return d.head }

// Entries yields the entries, once. The slices of one are valid until the next. The keys ascend,
// except those of LMDB's text of a table without a tree. If something is wrong with the dump it
// yields a zero Entry and the error, once, and stops: after a loop without an error the dump is
// whole, and its number of entries and root, if it says them, are those of the entries.
func (d *Reader) Entries() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if d.begun {
			yield(Entry{}, errors.New("the entries of a dump can be read once"))
			return
		}
		d.begun = true
		for {
			e, more, err := d.dec.next()
			if err == nil && more {
				err = d.follow(e)
			} else if err == nil {
				err = d.finish()
			}
			if err != nil {
				yield(Entry{}, d.at(err))
				return
			}
			if !more || !yield(e, nil) {
				return
			}
		}
	}
}

// at says where in the dump err came up.
func (d *Reader) at(err error) error {
	if w := d.dec.where(); w != "" {
		return fmt.Errorf("%s: %w", w, err)
	}
	return err
}

// follow checks e and that it belongs after the entries before it.
func (d *Reader) follow(e Entry) error {
	if err := checkKey(e.Key); err != nil || d.root == nil {
		return err
	}
	if bytes.Compare(e.Key, d.last) <= 0 {
		return fmt.Errorf("%w: %x after %x", ErrOrder, e.Key, d.last)
	}
	d.last = append(d.last[:0], e.Key...)
	return d.root.take(e, ErrMismatch)
}

// finish checks the end of the dump.
func (d *Reader) finish() error {
	if _, err := d.in.Peek(1); !errors.Is(err, io.EOF) {
		if err == nil {
			err = fmt.Errorf("%w: there is more after the end", ErrSyntax)
		}
		return err
	}
	if d.root != nil {
		t, err := d.root.trailer()
		if err != nil {
			return err
		}
		if said := d.dec.trailer(); t != said {
			return fmt.Errorf("%w: it has %s, and its end says %s", ErrMismatch, t, said)
		}
	}
	d.whole = true
	return nil
}

// Trailer returns the number of entries and the root, or false until [Reader.Entries] has
// yielded all. The Root is the zero Root if the dump does not tell.
func (d *Reader) Trailer() (Trailer, bool) {
	if !d.whole {
		return Trailer{}, false
	}
	return d.dec.trailer(), true
}

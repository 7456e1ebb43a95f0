package dump

import (
	"bytes"
	"fmt"
	"io"

	"github.com/okradb/okra-go/tree"
)

// mdbDecoder takes each record of LMDB's text as an entry. Keys come in any order.
type mdbDecoder struct {
	*mdbReader
	first, more bool // the first record is read but not yielded; and whether there is one
	count       int64
}

func (d *mdbDecoder) begin() (Header, error) {
	if err := d.header(); err != nil {
		return Header{}, err
	}
	var err error
	d.more, err = d.record()
	d.first = true
	return d.head, err
}

// raw reports whether the first record is the anchor with which the table of a tree begins: a
// key of the byte 0, and a hash of nothing. The user's own record would have to be that by
// chance.
func (d *mdbDecoder) raw() bool {
	n := len(d.value)
	return d.more && len(d.key) == 1 && d.key[0] == 0 && n >= tree.MinHash && n <= tree.MaxHash &&
		bytes.Equal(d.value, tree.EmptyHash(n).Bytes())
}

func (d *mdbDecoder) next() (Entry, bool, error) {
	if !d.first {
		var err error
		if d.more, err = d.record(); err != nil {
			return Entry{}, false, err
		}
	}
	d.first = false
	if !d.more {
		return Entry{}, false, nil
	}
	d.count++
	return Entry{Key: d.key, Value: d.value}, true, checkValueSize(uint64(len(d.value)))
}

func (d *mdbDecoder) trailer() Trailer { return Trailer{Count: d.count} }

// treeDecoder takes from LMDB's text of a tree's own table the leaves, as entries. The header
// with K, Q and mode is the last record, so the text is read twice, first by survey.
type treeDecoder struct {
	*mdbReader
	found Header  // by survey
	tail  Trailer // its Root by survey
}

// survey reads the text to its end, for the tree's parameters and its root.
func (d *treeDecoder) survey() error {
	if err := d.header(); err != nil {
		return err
	}
	for {
		more, err := d.record()
		if err != nil {
			return err
		}
		if !more {
			return fmt.Errorf("%w: the table has no header record", tree.ErrNotOkra)
		}
		if len(d.key) == 1 && d.key[0] > tree.MaxLevel {
			break
		}
		if len(d.key) == 1 {
			d.tail.Root.Level = int(d.key[0])
			if d.tail.Root.Hash, err = tree.HashFrom(d.value); err != nil {
				return d.cutOr(fmt.Errorf("%w: anchor: %w", ErrSyntax, err))
			}
		}
	}
	f, err := tree.DecodeHeader(d.value)
	if err != nil {
		return d.cutOr(err)
	}
	d.found = d.head
	d.found.Format = f
	if more, err := d.record(); err != nil || !more {
		return err
	}
	return fmt.Errorf("%w: a record after the tree's header", ErrSyntax)
}

func (d *treeDecoder) begin() (Header, error) { return d.found, d.header() }

func (d *treeDecoder) next() (Entry, bool, error) {
	for {
		more, err := d.record()
		if err != nil || !more {
			return Entry{}, false, err
		}
		if len(d.key) > 1 && d.key[0] == 0 {
			d.tail.Count++
			e, err := d.leaf()
			return e, true, err
		}
	}
}

// leaf returns the entry of the record read last.
func (d *treeDecoder) leaf() (Entry, error) {
	key, f := d.key[1:], d.found.Format
	if len(d.value) < f.K {
		return Entry{}, fmt.Errorf("%w: the leaf of %x is shorter than a hash", ErrSyntax, key)
	}
	stored, err := tree.HashFrom(d.value[:f.K])
	if err != nil {
		return Entry{}, err
	}
	value := d.value[f.K:]
	if f.Mode != tree.Index {
		return Entry{Key: key, Value: value, Hash: stored}, checkValueSize(uint64(len(value)))
	}
	if len(value) > 0 {
		return Entry{}, fmt.Errorf("%w: the leaf of %x has a value in index mode", ErrSyntax, key)
	}
	return Entry{Key: key, Hash: stored}, nil
}

// trailer is what the anchors said. A tree that the reference implementation emptied has one too
// many; it is a tree without entries all the same.
func (d *treeDecoder) trailer() Trailer {
	if d.tail.Count == 0 {
		empty := tree.EmptyHash(d.found.Format.K)
		return Trailer{Root: tree.Root{Hash: empty}}
	}
	return d.tail
}

// seekable returns in as something that can be read again, and where it stands.
func seekable(in io.Reader) (s io.Seeker, start int64, ok bool) {
	s, ok = in.(io.Seeker)
	if !ok {
		return nil, 0, false
	}
	start, err := s.Seek(0, io.SeekCurrent)
	return s, start, err == nil
}

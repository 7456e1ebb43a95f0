package dump

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/zeebo/blake3"

	"github.com/okradb/okra-go/tree"
)

// binaryDecoder reads what binaryEncoder writes, and nothing else: a tree has one dump.
type binaryDecoder struct {
	in     *bufio.Reader
	format tree.Format
	number int64 // of the entry, or the end, that is being read
	key    []byte
	value  []byte
	tail   Trailer
	sum    *blake3.Hasher // of what has been read
	head   []byte         // of an entry as it was written, reused
}

func newBinaryDecoder(in *bufio.Reader) *binaryDecoder {
	return &binaryDecoder{in: in, value: []byte{}, sum: blake3.New()}
}

func (d *binaryDecoder) begin() (Header, error) {
	var b [binaryHead]byte
	n, err := io.ReadFull(d.in, b[:])
	at := len(binaryMagic)
	if n < at && n > 0 && strings.HasPrefix(binaryMagic, string(b[:n])) {
		return Header{}, cut(io.ErrUnexpectedEOF)
	}
	if n < at || string(b[:at]) != binaryMagic {
		return Header{}, fmt.Errorf("%w: it does not begin with %q", ErrUnknown, binaryMagic)
	}
	if n > at && b[at] != binaryVersion {
		return Header{}, fmt.Errorf("%w: %d, this program reads %d", ErrVersion, b[at], binaryVersion)
	}
	if err != nil {
		return Header{}, cut(err)
	}
	write(d.sum, b[:])
	d.format = tree.Format{K: int(b[at+1]), Q: binary.BigEndian.Uint32(b[at+2:])}
	switch b[at+6] {
	case 0:
		d.format.Mode = tree.Index
	case 1:
		d.format.Mode = tree.Store
	default:
		return Header{}, fmt.Errorf("%w: mode byte is %d", ErrSyntax, b[at+6])
	}
	return Header{Format: d.format}, checkFormat(d.format)
}

func (d *binaryDecoder) next() (Entry, bool, error) {
	d.number++
	rest, err := d.varint()
	if err != nil {
		return Entry{}, false, err
	}
	if rest == 0 {
		return Entry{}, false, d.end()
	}
	shared, err := d.varint()
	if err != nil {
		return Entry{}, false, err
	}
	if shared > uint64(len(d.key)) {
		return Entry{}, false, fmt.Errorf("%w: the key shares %d bytes with one of %d bytes",
			ErrSyntax, shared, len(d.key))
	}
	if shared+rest > tree.MaxKey {
		return Entry{}, false, fmt.Errorf("%w: it has %d bytes", tree.ErrKeyTooLong, shared+rest)
	}
	// The keys ascend, and share as much as they can, when the first byte that is not shared is
	// the greater one.
	after := -1
	if shared < uint64(len(d.key)) {
		after = int(d.key[shared])
	}
	if d.key, err = readMore(d.in, d.key[:shared], rest); err != nil {
		return Entry{}, false, err
	}
	if int(d.key[shared]) <= after {
		return Entry{}, false, fmt.Errorf("%w: %x", ErrOrder, d.key)
	}
	d.head = appendKey(d.head[:0], int(shared), d.key[shared:])
	e := Entry{Key: d.key}
	if d.format.Mode == tree.Index {
		e.Hash, err = d.hash()
		write(d.sum, append(d.head, e.Hash.Bytes()...))
		return e, true, err
	}
	size, err := d.varint()
	if err != nil {
		return Entry{}, false, err
	}
	if err := checkValueSize(size); err != nil {
		return Entry{}, false, err
	}
	d.value, err = readMore(d.in, d.value[:0], size)
	e.Value = d.value
	write(d.sum, binary.AppendUvarint(d.head, size))
	write(d.sum, d.value)
	return e, true, err
}

func (d *binaryDecoder) end() error {
	var b [9]byte
	if _, err := io.ReadFull(d.in, b[:]); err != nil {
		return cut(err)
	}
	h, err := d.hash()
	if err != nil {
		return err
	}
	d.tail = Trailer{
		Count: int64(binary.BigEndian.Uint64(b[:])),
		Root:  tree.Root{Level: int(b[8]), Hash: h},
	}
	write(d.sum, appendEnd(nil, d.tail))
	var sum [checksumSize]byte
	if _, err := io.ReadFull(d.in, sum[:]); err != nil {
		return cut(err)
	}
	if !bytes.Equal(sum[:], d.sum.Sum(nil)) {
		return fmt.Errorf("%w: the checksum at its end is not that of what is before it",
			ErrMismatch)
	}
	return nil
}

func (d *binaryDecoder) trailer() Trailer { return d.tail }

func (d *binaryDecoder) where() string {
	if d.number == 0 {
		return ""
	}
	return fmt.Sprintf("entry %d", d.number)
}

func (d *binaryDecoder) hash() (tree.Hash, error) {
	var b [tree.MaxHash]byte
	if _, err := io.ReadFull(d.in, b[:d.format.K]); err != nil {
		return tree.Hash{}, cut(err)
	}
	return tree.HashFrom(b[:d.format.K])
}

// varint reads a number below 2^35, seven bits a byte, the lowest first, as few bytes as it
// takes.
func (d *binaryDecoder) varint() (uint64, error) {
	var x uint64
	for shift := 0; shift < 35; shift += 7 {
		b, err := d.in.ReadByte()
		if err != nil {
			return 0, cut(err)
		}
		x |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if b == 0 && shift > 0 {
				return 0, fmt.Errorf("%w: a number has bytes too many", ErrSyntax)
			}
			return x, nil
		}
	}
	return 0, fmt.Errorf("%w: a number is longer than 5 bytes", ErrSyntax)
}

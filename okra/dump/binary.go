package dump

import (
	"bufio"
	"encoding/binary"

	"github.com/zeebo/blake3"

	"github.com/okradb/okra-go/tree"
)

// The binary format; FORMAT.md in this folder has a worked example.
//
//	header    magic (8 bytes) | version (u8) | K (u8) | Q (u32) | mode (u8: 0 index, 1 store)
//	entry     rest (varint, 1 or more) | shared (varint) | rest bytes of the key |
//	          store mode: length of the value (varint) | value
//	          index mode: K bytes of leaf hash
//	end       00 | count (u64) | level of the root (u8) | K bytes of the root's hash
//	checksum  the BLAKE3 hash, 32 bytes, of everything before it
const (
	binaryMagic   = "okradump"
	binaryVersion = 1
	binaryHead    = len(binaryMagic) + 7
	checksumSize  = 32
)

type binaryEncoder struct {
	mode tree.Mode
	sum  *blake3.Hasher // of what has been written
	last []byte         // key of the last entry
	head []byte         // of an entry, reused
}

// emit writes b and takes it into the checksum.
func (d *binaryEncoder) emit(w *bufio.Writer, b []byte) error {
	write(d.sum, b)
	_, err := w.Write(b)
	return err
}

func (d *binaryEncoder) begin(w *bufio.Writer, h Header) error {
	d.mode = h.Format.Mode
	b := append(make([]byte, 0, binaryHead), binaryMagic...)
	b = append(b, binaryVersion, byte(h.Format.K))
	b = binary.BigEndian.AppendUint32(b, h.Format.Q)
	if d.mode == tree.Store {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	return d.emit(w, b)
}

func (d *binaryEncoder) entry(w *bufio.Writer, e Entry) error {
	shared := 0
	for shared < min(len(d.last), len(e.Key)) && d.last[shared] == e.Key[shared] {
		shared++
	}
	rest := e.Key[shared:]
	d.last = append(d.last[:shared], rest...)
	d.head = appendKey(d.head[:0], shared, rest)
	if d.mode == tree.Index {
		return d.emit(w, append(d.head, e.Hash.Bytes()...))
	}
	d.head = binary.AppendUvarint(d.head, uint64(len(e.Value)))
	if err := d.emit(w, d.head); err != nil {
		return err
	}
	return d.emit(w, e.Value)
}

// appendKey appends the key of an entry that shares bytes with the one before.
func appendKey(dst []byte, shared int, rest []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(rest)))
	dst = binary.AppendUvarint(dst, uint64(shared))
	return append(dst, rest...)
}

func (d *binaryEncoder) end(w *bufio.Writer, t Trailer) error {
	if err := d.emit(w, appendEnd(nil, t)); err != nil {
		return err
	}
	_, err := w.Write(d.sum.Sum(nil))
	return err
}

// appendEnd appends the end of a dump but for the checksum.
func appendEnd(dst []byte, t Trailer) []byte {
	dst = binary.BigEndian.AppendUint64(append(dst, 0), uint64(t.Count))
	return append(append(dst, byte(t.Root.Level)), t.Root.Hash.Bytes()...)
}

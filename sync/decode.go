package sync

import (
	"encoding/binary"
	"fmt"
)

// decoder takes a body apart. After the first thing that is not there it only gives zero values,
// and err says what was missing.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", ErrProtocol, what)
	}
	d.b = nil
}

// uvarint takes a number of at most limit.
func (d *decoder) uvarint(limit uint64, what string) uint64 {
	n, size := binary.Uvarint(d.b)
	if size <= 0 {
		d.fail(what + " is cut off")
		return 0
	}
	if n > limit {
		d.fail(fmt.Sprintf("%s is %d, and at most %d can be", what, n, limit))
		return 0
	}
	d.b = d.b[size:]
	return n
}

func (d *decoder) byte(what string) byte {
	b := d.bytes(1, what)
	if len(b) == 0 {
		return 0
	}
	return b[0]
}

func (d *decoder) uint64(what string) uint64 {
	b := d.bytes(8, what)
	if len(b) == 0 {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// bytes takes n bytes, which are borrowed.
func (d *decoder) bytes(n int, what string) []byte {
	if n > len(d.b) {
		d.fail(what + " is cut off")
		return nil
	}
	b := d.b[:n:n]
	d.b = d.b[n:]
	return b
}

// string takes a length of at most limit and as many bytes, which are borrowed.
func (d *decoder) string(limit int, what string) []byte {
	return d.bytes(int(d.uvarint(uint64(limit), "length of "+what)), what)
}

// end requires that nothing is left, so that no two bodies mean the same.
func (d *decoder) end() error {
	if d.err == nil && len(d.b) > 0 {
		d.fail(fmt.Sprintf("%d bytes are left over", len(d.b)))
	}
	return d.err
}

func appendString(b, s []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

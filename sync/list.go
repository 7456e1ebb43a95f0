package sync

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/okradb/okra-go/okra"
)

// Flags of a list's frame.
const (
	listEnd   = 1 << iota // the last frame of the list
	listFinal             // nothing is to be looked into any more
	listCut               // the window ends at a key
	listAsk               // no items follow a final list: the asking side is to name its keys
)

// listHead is what a list begins with.
type listHead struct {
	final bool
	ask   bool   // no items follow, but for the keys that the asking side then names
	cut   []byte // where the window ends from now on; nil if where it did

	// The answer to the list before: so many of its nodes were compared, and sum is that of those
	// which the writer has, too. Both are 0 in the first list of a pass.
	compared uint64
	sum      uint64

	level int // of the hashes
	width int // bytes of a hash, 1 to 8
}

// listReader reads a list: gaps, each followed by the hashes of the peer's nodes there if it is
// to be looked into.
type listReader struct {
	w *wire
	listHead
	d      decoder
	last   bool   // d is of the last frame
	hashes uint64 // those of the current piece that are not read yet
	more   bool   // another piece follows
}

const listPhase = "compare trees"

// readList reads the head of the list that comes next. That the asking side ends the session
// there is no error: it may know enough.
func readList(w *wire) (*listReader, error) {
	if !w.asking {
		if ended, err := w.ended(listPhase); err != nil {
			return nil, err
		} else if ended {
			return nil, errLeft
		}
	}
	body, err := w.expect(frameList, listPhase)
	if err != nil {
		return nil, err
	}
	r := &listReader{w: w, d: decoder{b: body}}
	flags := r.d.byte("flags of a list")
	r.last, r.final, r.ask = flags&listEnd != 0, flags&listFinal != 0, flags&listAsk != 0
	r.compared = r.d.uvarint(math.MaxInt64, "number of nodes compared")
	r.sum = r.d.uint64("sum of a list")
	if flags&listCut != 0 {
		r.cut = append([]byte{}, r.d.string(longestBound, "key where a list ends")...)
	}
	if r.ask && !(r.final && w.asking) {
		r.d.fail("list that asks for names")
	}
	if !r.final {
		r.level = int(r.d.uvarint(254, "level of a list"))
		r.width = int(r.d.byte("width of a list"))
		if r.width < 1 || r.width > 8 {
			r.d.fail(fmt.Sprintf("hashes of %d bytes", r.width))
		}
	}
	return r, r.failed()
}

// longestBound is the size of the longest key that bounds a range: the one behind the longest key.
const longestBound = okra.MaxKey + 1

func (r *listReader) failed() error {
	if r.d.err != nil {
		return fmt.Errorf("%s: %w", listPhase, r.d.err)
	}
	return nil
}

// fill makes sure that there is something to read, or that the list is at its end.
func (r *listReader) fill() (end bool, err error) {
	for len(r.d.b) == 0 {
		if r.last {
			return true, nil
		}
		body, err := r.w.expect(frameList, listPhase)
		if err != nil {
			return false, err
		}
		r.d = decoder{b: body}
		r.last = r.d.byte("flags of a list")&listEnd != 0
		if len(r.d.b) == 0 && !r.last {
			r.d.fail("frame with nothing in it")
		}
		if err := r.failed(); err != nil {
			return false, err
		}
	}
	return false, nil
}

// skip reads what is left of the list and throws it away.
func (r *listReader) skip() error {
	for !r.last {
		r.d.b = nil
		if _, err := r.fill(); err != nil {
			return err
		}
	}
	return nil
}

// next reads the next gap. At the end of the list ok is false.
func (r *listReader) next() (g gap, ok bool, err error) {
	if _, err := r.rest(); err != nil { // of the gap before
		return gap{}, false, err
	}
	if end, err := r.fill(); end || err != nil {
		return gap{}, false, err
	}
	g.skip = r.d.uvarint(math.MaxInt64, "nodes to skip")
	n := r.d.uvarint(math.MaxInt64, "nodes of a gap")
	g.length, g.descend = n>>1, n&1 == 1
	if g.descend && r.final {
		r.d.fail("gap to be looked into in a final list")
	}
	r.more = g.descend
	return g, r.d.err == nil, r.failed()
}

// hash reads the next hash of the gap. After the last ok is false.
func (r *listReader) hash() (h uint64, ok bool, err error) {
	if ok, err := r.piece(); !ok {
		return 0, false, err
	}
	// A piece lies within one frame.
	b := r.d.bytes(r.width, "hash")
	if err := r.failed(); err != nil {
		return 0, false, err
	}
	var wide [8]byte
	copy(wide[:], b)
	r.hashes--
	return binary.LittleEndian.Uint64(wide[:]), true, nil
}

// rest skips the hashes of the gap that are not read yet, and returns how many they were.
func (r *listReader) rest() (n uint64, err error) {
	for {
		ok, err := r.piece()
		if !ok {
			return n, err
		}
		if r.hashes > uint64(len(r.d.b)/r.width) {
			r.d.fail("hash is cut off")
			return 0, r.failed()
		}
		r.d.bytes(int(r.hashes)*r.width, "hashes")
		n += r.hashes
		r.hashes = 0
	}
}

// piece makes sure that there is a hash to read, or reports that the gap is at its end.
func (r *listReader) piece() (ok bool, err error) {
	for r.hashes == 0 {
		if !r.more {
			return false, nil
		}
		if end, err := r.fill(); err != nil {
			return false, err
		} else if end {
			return false, fmt.Errorf("%s: %w: list ends within a gap", listPhase, ErrProtocol)
		}
		n := r.d.uvarint(math.MaxInt64, "number of hashes")
		if err := r.failed(); err != nil {
			return false, err
		}
		r.hashes, r.more = n>>1, n&1 == 1
		if r.more && r.hashes == 0 {
			return false, fmt.Errorf("%s: %w: piece of a list without a hash", listPhase, ErrProtocol)
		}
	}
	return true, nil
}

// listWriter writes a list.
type listWriter struct {
	w     *wire
	body  []byte
	width int
	piece []byte // hashes of the current gap that are not written yet
}

// writeList begins a list.
func writeList(w *wire, h listHead) *listWriter {
	l := &listWriter{w: w, width: h.width}
	flags := bit(h.final)*listFinal | bit(h.cut != nil)*listCut | bit(h.ask)*listAsk
	l.body = append(l.body, byte(flags))
	l.body = binary.AppendUvarint(l.body, h.compared)
	l.body = binary.LittleEndian.AppendUint64(l.body, h.sum)
	if h.cut != nil {
		l.body = appendString(l.body, h.cut)
	}
	if !h.final {
		l.body = append(binary.AppendUvarint(l.body, uint64(h.level)), byte(h.width))
	}
	return l
}

// room makes room for n bytes in the frame.
func (l *listWriter) room(n int) error {
	if len(l.body)+n <= l.w.room() {
		return nil
	}
	err := l.w.send(frameList, l.body)
	l.body = append(l.body[:0], 0)
	return err
}

// gap writes the beginning of a gap.
func (l *listWriter) gap(skip, length uint64, descend bool) error {
	if err := l.room(2 * binary.MaxVarintLen64); err != nil {
		return err
	}
	l.body = binary.AppendUvarint(l.body, skip)
	l.body = binary.AppendUvarint(l.body, length<<1|bit(descend))
	return nil
}

// hash writes a hash of the gap.
func (l *listWriter) hash(h uint64) error {
	l.piece = binary.LittleEndian.AppendUint64(l.piece, h)[:len(l.piece)+l.width]
	if len(l.piece)+l.width+binary.MaxVarintLen64+1 > min(l.w.room(), 64<<10) {
		return l.cut(true)
	}
	return nil
}

// cut ends a piece of the gap's hashes.
func (l *listWriter) cut(more bool) error {
	if err := l.room(binary.MaxVarintLen64 + len(l.piece)); err != nil {
		return err
	}
	l.body = binary.AppendUvarint(l.body, uint64(len(l.piece)/l.width)<<1|bit(more))
	l.body = append(l.body, l.piece...)
	l.piece = l.piece[:0]
	return nil
}

// end ends the list.
func (l *listWriter) end() error {
	l.body[0] |= listEnd
	return l.w.send(frameList, l.body)
}

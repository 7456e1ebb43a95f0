package sync

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/okradb/okra-go/okra"
)

// What the asking side wants of a pass.
const (
	wantItems  = 1 << iota // what only the other side has
	wantValues             // with values; else keys and hashes
	wantShared             // items only where the asking side has something, too, as far as is known
	wantWrite              // it will send changes
)

// features is what a side can do beyond version 1. Bits that the other does not know count as
// not set: here sketches in place of lists will enter.
const features = 0

// opening is the body of frameOpen.
type opening struct {
	maxFrame int
	maxValue int64
	format   okra.Format
	want     byte
	salt     salt
	wider    int // bytes that short hashes are to be longer, since some were alike
	window   window
	root     okra.Root
	last     []byte // key; empty if there is none
	keys     int    // bytes of keys and hashes that may be sent as items without values
}

func (o opening) encode() []byte {
	b := binary.AppendUvarint(nil, features)
	b = binary.AppendUvarint(b, uint64(o.maxFrame))
	b = binary.AppendUvarint(b, uint64(o.maxValue))
	b = appendFormat(b, o.format)
	b = append(b, o.want)
	b = binary.LittleEndian.AppendUint64(b, uint64(o.salt))
	b = append(b, byte(o.wider))
	b = appendString(b, o.window.lower)
	b = append(b, byte(bit(o.window.upper != nil)))
	if o.window.upper != nil {
		b = appendString(b, o.window.upper)
	}
	b = appendRoot(b, o.root)
	b = appendString(b, o.last)
	return binary.AppendUvarint(b, uint64(o.keys))
}

func decodeOpening(body []byte) (o opening, err error) {
	d := decoder{b: body}
	d.uvarint(math.MaxUint64, "features")
	o.maxFrame = int(d.uvarint(mostFrame, "largest frame"))
	if o.maxFrame < leastFrame {
		d.fail("largest frame is too small")
	}
	o.maxValue = int64(d.uvarint(math.MaxInt64, "largest value"))
	o.format = d.format()
	o.want = d.byte("wish")
	o.salt = salt(d.uint64("salt"))
	if o.wider = int(d.byte("width")); o.wider > 8 {
		d.fail(fmt.Sprintf("hashes longer by %d bytes", o.wider))
	}
	o.window.lower = clone(d.string(longestBound, "lower bound"))
	if bounded := d.byte("upper bound"); bounded > 1 {
		d.fail(fmt.Sprintf("upper bound of kind %d", bounded))
	} else if bounded == 1 {
		o.window.upper = clone(d.string(longestBound, "upper bound"))
		if len(o.window.upper) == 0 {
			d.fail("upper bound is empty")
		}
	}
	o.root = d.root(o.format.K)
	o.last = clone(d.string(okra.MaxKey, "last key"))
	o.keys = int(d.uvarint(math.MaxInt32, "limit of keys"))
	return o, d.end()
}

// clone copies b and is never nil.
func clone(b []byte) []byte { return append([]byte{}, b...) }

// What the answering side says first.
type status byte

const (
	statusEqual    status = iota // the roots are the same
	statusAppended               // items follow: what is behind the last key of the asking side
	statusList                   // a list follows
)

// heading is the body of frameHead.
type heading struct {
	maxFrame int
	maxValue int64
	format   okra.Format
	status   status
	root     okra.Root
	last     []byte
}

func (h heading) encode() []byte {
	b := binary.AppendUvarint(nil, features)
	b = binary.AppendUvarint(b, uint64(h.maxFrame))
	b = binary.AppendUvarint(b, uint64(h.maxValue))
	b = appendFormat(b, h.format)
	b = append(b, byte(h.status))
	b = appendRoot(b, h.root)
	return appendString(b, h.last)
}

func decodeHeading(body []byte) (h heading, err error) {
	d := decoder{b: body}
	d.uvarint(math.MaxUint64, "features")
	h.maxFrame = int(d.uvarint(mostFrame, "largest frame"))
	if h.maxFrame < leastFrame {
		d.fail("largest frame is too small")
	}
	h.maxValue = int64(d.uvarint(math.MaxInt64, "largest value"))
	h.format = d.format()
	h.status = status(d.byte("status"))
	if h.status > statusList {
		d.fail(fmt.Sprintf("status %d", h.status))
	}
	h.root = d.root(h.format.K)
	h.last = clone(d.string(okra.MaxKey, "last key"))
	return h, d.end()
}

// ending is the body of frameDone.
type ending struct {
	cut  []byte // where the pass ends; nil if at the end of the window
	root okra.Root
}

func (e ending) encode() []byte {
	b := appendString(nil, e.cut)
	return appendRoot(b, e.root)
}

func decodeEnding(body []byte, k int) (e ending, err error) {
	d := decoder{b: body}
	if e.cut = clone(d.string(longestBound, "key where the items end")); len(e.cut) == 0 {
		e.cut = nil
	}
	e.root = d.root(k)
	return e, d.end()
}

func appendFormat(b []byte, f okra.Format) []byte {
	b = append(b, byte(f.K), byte(f.Mode))
	return binary.AppendUvarint(b, uint64(f.Q))
}

func (d *decoder) format() (f okra.Format) {
	f.K, f.Mode = int(d.byte("K")), okra.Mode(d.byte("mode"))
	f.Q = uint32(d.uvarint(math.MaxUint32, "Q"))
	if d.err == nil && (f.K < 4 || f.K > 32 || f.Q < 2 || f.Mode != okra.Store && f.Mode != okra.Index) {
		d.fail("format that no tree has")
	}
	return f
}

func appendRoot(b []byte, r okra.Root) []byte { return r.Hash.Append(append(b, byte(r.Level))) }

func (d *decoder) root(k int) (r okra.Root) {
	r.Level = int(d.byte("level of the root"))
	r.Hash = d.hash(k)
	return r
}

func (d *decoder) hash(k int) okra.Hash {
	b := d.bytes(k, "hash")
	if d.err != nil {
		return okra.Hash{}
	}
	h, err := okra.HashFrom(b)
	if err != nil {
		d.fail(err.Error())
	}
	return h
}

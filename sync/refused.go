package sync

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/okradb/okra-go/okra"
)

// mostKeys is how many keys of refused entries are named, for each reason.
const mostKeys = 16

// refusals counts refused entries by reason.
type refusals struct {
	limit int
	count int
	all   []Refused
}

// add counts an entry.
func (r *refusals) add(reason Reason, there bool, key []byte, detail string) {
	one := Refused{Reason: reason, There: there, Count: 1, Keys: [][]byte{bytes.Clone(key)}, Detail: detail}
	r.count++
	r.merge(one)
}

func (r *refusals) merge(one Refused) {
	for i := range r.all {
		a := &r.all[i]
		if a.Reason != one.Reason || a.There != one.There {
			continue
		}
		a.Count += one.Count
		a.Keys = append(a.Keys, one.Keys[:min(len(one.Keys), mostKeys-len(a.Keys))]...)
		return
	}
	r.all = append(r.all, one)
}

// join adds those of o.
func (r *refusals) join(o *refusals) {
	r.count += o.count
	for _, one := range o.all {
		r.merge(one)
	}
}

func (r *refusals) list() []Refused { return r.all }

// reasons in the order of their numbers on the wire.
var reasons = [...]Reason{ReasonTooLarge, ReasonAccept, ReasonChanged, ReasonStore}

// ack is the body of frameAck.
type ack struct {
	made    Changes
	refused refusals
	root    okra.Root
}

// encode names as many keys of refused entries as fit.
func (a ack) encode(room int) []byte {
	b := appendRoot(nil, a.root)
	for _, n := range []int64{a.made.Added, a.made.Changed, a.made.Deleted} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for number, reason := range reasons {
		for _, r := range a.refused.list() {
			if r.Reason != reason {
				continue
			}
			text := r.Detail[:min(len(r.Detail), maxText)]
			if len(b)+len(text)+4*binary.MaxVarintLen64 > room {
				continue
			}
			b = append(b, byte(number))
			b = binary.AppendUvarint(b, uint64(r.Count))
			b = appendString(b, []byte(text))
			keys := 0
			for size := len(b); keys < len(r.Keys) && size+okra.MaxKey+20 < room; keys++ {
				size += len(r.Keys[keys]) + 2
			}
			b = append(b, byte(keys))
			for _, k := range r.Keys[:keys] {
				b = appendString(b, k)
			}
		}
	}
	return b
}

func decodeAck(body []byte, k int) (a ack, err error) {
	d := decoder{b: body}
	a.root = d.root(k)
	for _, n := range []*int64{&a.made.Added, &a.made.Changed, &a.made.Deleted} {
		*n = int64(d.uvarint(math.MaxInt64, "number of changes"))
	}
	for len(d.b) > 0 {
		number := d.byte("reason")
		if int(number) >= len(reasons) {
			d.fail(fmt.Sprintf("reason %d", number))
			break
		}
		r := Refused{Reason: reasons[number], There: true}
		r.Count = int64(d.uvarint(math.MaxInt64, "number of refused entries"))
		r.Detail = string(d.string(maxText, "reason"))
		for range d.byte("number of keys") {
			r.Keys = append(r.Keys, clone(d.string(okra.MaxKey, "key")))
			if d.err != nil {
				break
			}
		}
		if len(r.Keys) > mostKeys {
			d.fail("too many keys")
		}
		a.refused.count += int(min(r.Count, math.MaxInt32))
		a.refused.merge(r)
	}
	return a, d.end()
}

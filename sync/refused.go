package sync

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode"

	"github.com/okradb/okra-go/okra"
)

// mostKeys is how many keys of refused entries are named, for each reason.
const mostKeys = 16

// refusals counts refused entries by reason.
type refusals struct {
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

// exceed returns an error if there are more than limit.
func (r *refusals) exceed(limit int) error {
	if r.count <= limit {
		return nil
	}
	return fmt.Errorf("%w: more than %d entries were refused (Limits.MaxRefused), the first because: %s",
		ErrLimit, limit, r.all[0].Reason)
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

// decodeAck takes an ack of at most sent changes apart.
func decodeAck(body []byte, k int, sent int) (a ack, err error) {
	d := decoder{b: body}
	a.root = d.root(k)
	number := func(what string) int64 {
		n := d.uvarint(uint64(sent), what)
		sent -= int(n)
		return int64(n)
	}
	a.made.Added = number("number of added entries")
	a.made.Changed = number("number of changed entries")
	a.made.Deleted = number("number of deleted entries")
	for len(d.b) > 0 {
		code := d.byte("reason")
		if int(code) >= len(reasons) {
			d.fail(fmt.Sprintf("reason %d", code))
			break
		}
		r := Refused{Reason: reasons[code], There: true}
		r.Count = number("number of refused entries")
		r.Detail = printable(d.string(maxText, "reason"))
		for range d.uvarint(mostKeys, "number of keys") {
			r.Keys = append(r.Keys, clone(d.string(okra.MaxKey, "key")))
		}
		if d.err == nil {
			a.refused.count += int(r.Count)
			a.refused.merge(r)
		}
	}
	return a, d.end()
}

// printable returns a text of the peer's without what could confuse a terminal.
func printable(b []byte) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, string(bytes.ToValidUTF8(b, []byte("?"))))
}

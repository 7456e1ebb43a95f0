package tree

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// sorted returns the places of the writes that wait, in key order, the last write of each key
// only. It sorts by eight bytes of the key after what all keys have in common, byte by byte
// from the last (a stable radix sort), and then by whole keys where those are equal.
//
// The refs belong to buf and spare, which are grown as needed and handed back for reuse.
func (p *pending) sorted(k int, buf, spare []ref) (refs, again, spareAgain []ref) {
	refs = slices.Grow(buf[:0], p.n)
	p.each(k, func(r ref) { refs = append(refs, r) })
	skip := p.commonPrefix(refs)
	ascending := true
	for i := range refs {
		refs[i].prefix = prefixOf(p.key(refs[i])[skip:])
		ascending = ascending && (i == 0 || refs[i-1].prefix < refs[i].prefix)
	}
	if ascending {
		return refs, refs, spare
	}
	refs, spare = radix(refs, slices.Grow(spare[:0], len(refs))[:len(refs)])
	again = refs
	return p.unique(refs, skip), again, spare
}

// commonPrefix returns the length of the longest prefix that all keys share.
func (p *pending) commonPrefix(refs []ref) int {
	if len(refs) == 0 {
		return 0
	}
	first := p.key(refs[0])
	n := len(first)
	for _, r := range refs[1:] {
		key := p.key(r)
		if len(key) < n {
			n = len(key)
		}
		for !bytes.Equal(key[:n], first[:n]) {
			n--
		}
		if n == 0 {
			return 0
		}
	}
	return n
}

// prefixOf returns the first eight bytes of key as a number, padded with zeros.
func prefixOf(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

// radix sorts refs by prefix, keeping the order of equal ones, and returns the sorted slice
// and the other one. Few refs are sorted by comparison instead.
func radix(refs, spare []ref) (sorted, other []ref) {
	if len(refs) < 256 {
		slices.SortFunc(refs, func(a, b ref) int {
			return cmp.Or(cmp.Compare(a.prefix, b.prefix), a.order(b))
		})
		return refs, spare
	}
	var counts [8][256]uint32
	for i := range refs {
		for d, x := 0, refs[i].prefix; d < 8; d, x = d+1, x>>8 {
			counts[d][byte(x)]++
		}
	}
	for d := range counts {
		c := &counts[d]
		shift := 8 * d
		if c[byte(refs[0].prefix>>shift)] == uint32(len(refs)) {
			continue // one value for all
		}
		var sum uint32
		for i := range c {
			c[i], sum = sum, sum+c[i]
		}
		for i := range refs {
			b := byte(refs[i].prefix >> shift)
			spare[c[b]] = refs[i]
			c[b]++
		}
		refs, spare = spare, refs
	}
	return refs, spare
}

// unique puts runs of refs with one prefix in the order of their whole keys and drops all but
// the last write of each key.
func (p *pending) unique(refs []ref, skip int) []ref {
	out := refs[:0]
	for i := 0; i < len(refs); {
		j := i + 1
		for j < len(refs) && refs[j].prefix == refs[i].prefix {
			j++
		}
		run := refs[i:j]
		if len(run) > 1 {
			slices.SortFunc(run, func(a, b ref) int {
				return cmp.Or(bytes.Compare(p.key(a)[skip:], p.key(b)[skip:]), a.order(b))
			})
		}
		for x := range run {
			if x+1 < len(run) && bytes.Equal(p.key(run[x]), p.key(run[x+1])) {
				continue
			}
			out = append(out, run[x])
		}
		i = j
	}
	return out
}

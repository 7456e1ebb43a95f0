package tree

import "bytes"

// Bounds limits a range of keys; all fields that are set hold at once. A nil field is open.
// The order is that of unsigned bytes, shorter first; the anchor counts as the empty key, so
// that LT: []byte{} admits nothing and GT: []byte{} all but the anchor.
type Bounds struct {
	GE []byte // greater than or equal
	GT []byte // greater than
	LE []byte // less than or equal
	LT []byte // less than
}

// PrefixBounds returns the bounds of the keys that begin with p; an empty p means all keys.
func PrefixBounds(p []byte) Bounds {
	b := Bounds{GE: bytes.Clone(p)}
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] != 0xff {
			b.LT = append([]byte(nil), p[:i+1]...)
			b.LT[i]++
			return b
		}
	}
	return b
}

// Contains reports whether key lies within b.
func (b Bounds) Contains(key []byte) bool {
	return (b.GE == nil || bytes.Compare(key, b.GE) >= 0) &&
		(b.GT == nil || bytes.Compare(key, b.GT) > 0) &&
		(b.LE == nil || bytes.Compare(key, b.LE) <= 0) &&
		(b.LT == nil || bytes.Compare(key, b.LT) < 0)
}

// lower returns the first record key that may lie within b at a level, and whether that key
// itself is left out.
func (b Bounds) lower(level byte) (key []byte, open bool) {
	switch {
	case b.GT != nil && (b.GE == nil || bytes.Compare(b.GT, b.GE) >= 0):
		return recordKey(level, b.GT), true
	case b.GE != nil:
		return recordKey(level, b.GE), false
	default:
		return []byte{level}, false
	}
}

// upper returns the key at which the records within b end at a level, and whether a record
// under that key itself is left out.
func (b Bounds) upper(level byte) (key []byte, open bool) {
	switch {
	case b.LT != nil && (b.LE == nil || bytes.Compare(b.LT, b.LE) <= 0):
		return recordKey(level, b.LT), true
	case b.LE != nil:
		return recordKey(level, b.LE), false
	default:
		return []byte{level + 1}, true
	}
}

// ascending returns the arguments of a forward Scan of the records within b.
func (b Bounds) ascending(level byte) (start Start, from, stop []byte) {
	from, open := b.lower(level)
	if open {
		start = After
	} else {
		start = AtOrAfter
	}
	stop, open = b.upper(level)
	if !open {
		stop = append(stop, 0) // the least key above it
	}
	return start, from, stop
}

// descending returns the arguments of a backward Scan of the records within b.
func (b Bounds) descending(level byte) (start Start, from, stop []byte) {
	from, open := b.upper(level)
	if open {
		start = Before
	} else {
		start = AtOrBefore
	}
	stop, open = b.lower(level)
	if open {
		stop = append(stop, 0)
	}
	return start, from, stop
}

// recordKey returns level·key in memory of its own.
func recordKey(level byte, key []byte) []byte {
	k := make([]byte, 1+len(key), 2+len(key))
	k[0] = level
	copy(k[1:], key)
	return k
}

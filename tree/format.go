package tree

import (
	"encoding/binary"
	"fmt"
)

// Version is the version of the storage format, fixed.
const Version = 3

// Limits of the format.
const (
	MaxKey   = 510 // bytes: LMDB's 511 less the level byte
	MaxLevel = 254 // 255 is the header's record
)

// The defaults of the reference implementation.
const (
	DefaultK = 16
	DefaultQ = 32
)

// headerLevel is the first and only byte of the header's key.
const headerLevel = 0xff

// magic opens the header's value.
const magic = "okra"

// Mode says what a tree keeps beside its hashes.
type Mode uint8

// The modes of a tree. AnyMode, the zero Mode, takes what the header says, and Store in a new
// tree.
const (
	AnyMode Mode = iota
	Store        // leaves hold hash and value
	Index        // leaves hold only the hash
)

// String returns "store", "index" or "any".
func (m Mode) String() string {
	switch m {
	case AnyMode:
		return "any"
	case Store:
		return "store"
	case Index:
		return "index"
	default:
		return fmt.Sprintf("mode %d", uint8(m))
	}
}

// A Format is the parameters of a tree. A zero field means, in a request, whatever the stored
// header says, and the default in a new tree: K 16, Q 32, mode Store.
type Format struct {
	K    int    // bytes of a hash, 4 to 32
	Q    uint32 // mean number of children of a node, at least 2
	Mode Mode
}

// String returns "K=16 Q=32 mode=store".
func (f Format) String() string { return fmt.Sprintf("K=%d Q=%d mode=%s", f.K, f.Q, f.Mode) }

// Rule returns the boundary rule of f: a hash is a boundary below floor(2^32 / Q).
func (f Format) Rule() Rule {
	return Rule{Len: f.K, Limit: uint32((1 << 32) / uint64(f.Q))}
}

// Validate returns an error wrapping [ErrFormat] if a field that is set is outside its limits.
func (f Format) Validate() error {
	switch {
	case f.K != 0 && (f.K < MinHash || f.K > MaxHash):
		return fmt.Errorf("%w: K is %d, must be %d to %d", ErrFormat, f.K, MinHash, MaxHash)
	case f.Q == 1:
		return fmt.Errorf("%w: Q is 1, must be at least 2", ErrFormat)
	case f.Mode > Index:
		return fmt.Errorf("%w: %s is unknown", ErrFormat, f.Mode)
	}
	return nil
}

// withDefaults fills the zero fields of f with the defaults of a new tree.
func (f Format) withDefaults() Format {
	if f.K == 0 {
		f.K = DefaultK
	}
	if f.Q == 0 {
		f.Q = DefaultQ
	}
	if f.Mode == AnyMode {
		f.Mode = Store
	}
	return f
}

// EncodeHeader returns the header record's value for f: the magic, the version, K in one byte,
// Q in four and the mode in one (0 index, 1 store), 11 bytes in all.
func EncodeHeader(f Format) []byte {
	b := append(make([]byte, 0, 11), magic...)
	b = append(b, Version, byte(f.K))
	b = binary.BigEndian.AppendUint32(b, f.Q)
	if f.Mode == Store {
		return append(b, 1)
	}
	return append(b, 0)
}

// DecodeHeader reads a header record's value. A header of 10 bytes, which an old JavaScript
// release wrote, has no mode: the Format then says AnyMode. Anything else that is not a header
// of version 3 with K and Q within their limits gives [ErrNotOkra] or [ErrFormat].
func DecodeHeader(b []byte) (Format, error) {
	if len(b) < 10 || len(b) > 11 || string(b[:4]) != magic {
		return Format{}, fmt.Errorf("%w: bad header", ErrNotOkra)
	}
	if b[4] != Version {
		return Format{}, fmt.Errorf("%w: version is %d, this library reads %d", ErrFormat, b[4], Version)
	}
	f := Format{K: int(b[5]), Q: binary.BigEndian.Uint32(b[6:10])}
	if len(b) == 11 {
		switch b[10] {
		case 0:
			f.Mode = Index
		case 1:
			f.Mode = Store
		default:
			return Format{}, fmt.Errorf("%w: mode byte is %d", ErrFormat, b[10])
		}
	}
	if f.K == 0 || f.Q == 0 {
		return Format{}, fmt.Errorf("%w: K is %d, Q is %d", ErrFormat, f.K, f.Q)
	}
	return f, f.Validate()
}

// agree returns have completed by want, or an error that shows both sides where a field that
// want insists on differs.
func agree(have, want Format) (Format, error) {
	if have.Mode == AnyMode {
		have.Mode = want.withDefaults().Mode
	}
	if want.K != 0 && want.K != have.K || want.Q != 0 && want.Q != have.Q ||
		want.Mode != AnyMode && want.Mode != have.Mode {
		asked := want
		if asked.K == 0 {
			asked.K = have.K
		}
		if asked.Q == 0 {
			asked.Q = have.Q
		}
		if asked.Mode == AnyMode {
			asked.Mode = have.Mode
		}
		return Format{}, fmt.Errorf("%w: stored %s, asked for %s", ErrFormat, have, asked)
	}
	return have, nil
}

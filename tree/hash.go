package tree

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/zeebo/blake3"
)

// Limits of K, the length of a hash in bytes. The boundary rule reads four bytes.
const (
	MinHash = 4
	MaxHash = 32
)

// A Hash is the first K bytes of a BLAKE3 digest. It compares with ==; hashes of different
// lengths are never equal. The zero Hash has no bytes and is the hash of nothing.
type Hash struct {
	n uint8
	b [MaxHash]byte
}

// HashFrom copies b, which must have 4 to 32 bytes, or it returns [ErrHashSize].
func HashFrom(b []byte) (Hash, error) {
	if len(b) < MinHash || len(b) > MaxHash {
		return Hash{}, fmt.Errorf("%w: %d bytes, want %d to %d", ErrHashSize, len(b), MinHash, MaxHash)
	}
	return hashOf(b), nil
}

// ParseHash reads the form that [Hash.String] writes: 8 to 64 hexadecimal digits.
func ParseHash(s string) (Hash, error) {
	b, err := hex.DecodeString(s)
	if err != nil {
		return Hash{}, fmt.Errorf("parse hash %q: %w", s, err)
	}
	return HashFrom(b)
}

// hashOf copies b, which has at most MaxHash bytes.
func hashOf(b []byte) Hash {
	h := Hash{n: uint8(len(b))}
	copy(h.b[:], b)
	return h
}

// Len returns K, the number of bytes, or 0 for the zero Hash.
func (h Hash) Len() int { return int(h.n) }

// Bytes returns a copy of the bytes of h.
func (h Hash) Bytes() []byte { return append([]byte(nil), h.b[:h.n]...) }

// Append appends the bytes of h to dst.
func (h Hash) Append(dst []byte) []byte { return append(dst, h.b[:h.n]...) }

// String returns h in lower-case hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h.b[:h.n]) }

// MarshalText writes the form of [Hash.String].
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// A Root names the contents of a tree: the level of its top anchor and that anchor's hash.
// Two trees of one Format hold the same entries if and only if their Roots are ==, as far as
// BLAKE3 cut to K bytes has no collisions. Level and hash belong together: the hash alone does
// not name a tree, since inner hashes carry no level.
type Root struct {
	Level int
	Hash  Hash
}

// String returns level and hash, such as "4 63e21981912512c6c3ca4e46adef846b".
func (r Root) String() string { return fmt.Sprintf("%d %s", r.Level, r.Hash) }

// LeafHash is H( u32(len key) · key · u32(len value) · value ), cut to k bytes.
func LeafHash(k int, key, value []byte) Hash {
	return digest(k, appendEntry(nil, key, value))
}

// NodeHash is H( the hashes of the children, in key order, joined ), cut to k bytes.
// FORMAT.md has a worked example.
func NodeHash(k int, joined []byte) Hash { return digest(k, joined) }

// EmptyHash is the hash of the level-0 anchor, H("").
func EmptyHash(k int) Hash { return digest(k, nil) }

func digest(k int, p []byte) Hash {
	sum := blake3.Sum256(p)
	return hashOf(sum[:k])
}

// appendEntry appends what the leaf hash is taken of.
func appendEntry(dst, key, value []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(key)))
	dst = append(dst, key...)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(value)))
	return append(dst, value...)
}

// A Rule is what storage must know of hashes: every record's value begins with Len bytes of
// hash, and the record is a boundary when the first four of them, as a big-endian u32, are
// less than Limit.
type Rule struct {
	Len   int
	Limit uint32
}

// Boundary reports whether a record with this value is a boundary. The value must have at
// least four bytes.
func (r Rule) Boundary(value []byte) bool {
	return binary.BigEndian.Uint32(value) < r.Limit
}

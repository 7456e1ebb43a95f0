package peer

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"

	"github.com/zeebo/blake3"
)

// ErrID is a text that is no ID, or one with a slip in it.
var ErrID = errors.New("not a peer ID")

// An ID names a peer: it is the BLAKE3 hash of its public key in the form of X.509, the
// SubjectPublicKeyInfo. The zero ID is nobody's.
type ID [32]byte

// As text an ID is followed by three bytes of a hash of it, so that a slip is noticed. That makes
// 56 letters of base32 without a rest.
const (
	checkBytes = 3
	idLetters  = (32 + checkBytes) * 8 / 5
)

var letters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

func (id ID) check() []byte {
	sum := blake3.Sum256(append([]byte("okra peer ID"), id[:]...))
	return sum[:checkBytes]
}

// String returns id as 56 lower-case letters and digits.
func (id ID) String() string { return letters.EncodeToString(append(id[:], id.check()...)) }

// MarshalText is String.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// ParseID reads what [ID.String] writes, in letters of either case. The error is [ErrID].
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != idLetters {
		return id, fmt.Errorf("%w: %.80q has %d characters instead of %d", ErrID, s, len(s), idLetters)
	}
	b, err := letters.DecodeString(strings.ToLower(s))
	if err != nil || len(b) != len(id)+checkBytes {
		return id, fmt.Errorf("%w: %q has characters other than a to z and 2 to 7", ErrID, s)
	}
	copy(id[:], b)
	if !bytes.Equal(id.check(), b[len(id):]) {
		return ID{}, fmt.Errorf("%w: %q has a wrong letter", ErrID, s)
	}
	return id, nil
}

// idOf returns the ID of the key in a certificate, which must be an Ed25519 key.
func idOf(cert *x509.Certificate) (ID, error) {
	if _, ok := cert.PublicKey.(ed25519.PublicKey); !ok {
		return ID{}, errKeyType
	}
	return blake3.Sum256(cert.RawSubjectPublicKeyInfo), nil
}

var errKeyType = errors.New("the key of the peer is not an Ed25519 key")

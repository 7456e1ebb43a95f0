package sync

import (
	"bytes"

	"github.com/okradb/okra-go/okra"
)

// A Resolver decides what becomes of a key that both sides have with different values. The zero
// Resolver is [Report].
type Resolver struct {
	name   string
	choose func(mine, theirs okra.Hash) choice            // knows the leaf hashes alone
	merge  func(key, mine, theirs []byte) ([]byte, error) // if choose is nil
}

// choice is what becomes of a conflict.
type choice uint8

const (
	leave choice = iota // both as they are
	keepMine
	takeTheirs
	takeMerged
)

// The built-in resolvers. Mine and theirs are those of the side that asks, whatever the
// direction.
var (
	// Report leaves both values as they are and counts the conflict in the Summary.
	Report = Resolver{"report", func(_, _ okra.Hash) choice { return leave }, nil}
	// Mine takes the value of the side that asks.
	Mine = Resolver{"mine", func(_, _ okra.Hash) choice { return keepMine }, nil}
	// Theirs takes the value of the side that answers.
	Theirs = Resolver{"theirs", func(_, _ okra.Hash) choice { return takeTheirs }, nil}
	// Larger takes the value whose leaf hash is larger, as bytes. It is commutative, associative
	// and idempotent: replicas that sync with it in any order converge.
	Larger = Resolver{"larger", larger, nil}
)

func larger(mine, theirs okra.Hash) choice {
	if bytes.Compare(mine.Bytes(), theirs.Bytes()) > 0 {
		return keepMine
	}
	return takeTheirs
}

// Merge returns a Resolver that takes what fn makes of both values. For replicas to converge fn
// must be commutative, associative and idempotent. An error leaves the conflict as it is if it
// wraps [ErrConflict], and ends the session otherwise. fn runs inside a transaction and may run
// more than once for a key; it must not keep or change the bytes.
func Merge(fn func(key, mine, theirs []byte) ([]byte, error)) Resolver {
	return Resolver{"merge", nil, fn}
}

// String returns the name of r.
func (r Resolver) String() string { return r.orReport().name }

func (r Resolver) orReport() Resolver {
	if r.choose == nil && r.merge == nil {
		return Report
	}
	return r
}

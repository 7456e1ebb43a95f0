package tree

import "fmt"

// A Kind says what is wrong with a record.
type Kind uint8

// The kinds of problems. The level and key of a [Problem] say which record it is about.
const (
	WrongHash   Kind = iota + 1 // the hash is not that of what it stands for
	Missing                     // there is no record where there should be one
	Stray                       // there is a record where there should be none
	TooShort                    // the record is shorter than a hash
	TooLong                     // the record goes on after its hash
	Hidden                      // a scan finds the record, a look-up by its key does not
	WrongHeader                 // the header is not that of the tree's format
)

// String returns the kind in words, such as "wrong hash".
func (k Kind) String() string {
	switch k {
	case WrongHash:
		return "wrong hash"
	case Missing:
		return "missing"
	case Stray:
		return "stray"
	case TooShort:
		return "too short"
	case TooLong:
		return "too long"
	case Hidden:
		return "hidden"
	case WrongHeader:
		return "wrong header"
	default:
		return fmt.Sprintf("kind %d", uint8(k))
	}
}

// A Problem is one thing that [Tree.Verify] found wrong. It is the caller's to keep.
type Problem struct {
	// Level is that of the record. HeaderLevel is that of the header and of what stands after
	// it; there the key is nil for the header itself.
	Level int

	// Key is that of the node, nil for the anchor of the level.
	Key []byte

	Kind Kind

	// Stored is the hash in the record, the zero Hash if it has none; Right is the one that
	// belongs there, the zero Hash where none does.
	Stored, Right Hash
}

// HeaderLevel is the level of a [Problem] of the header, which is above every level of a tree.
const HeaderLevel = headerLevel

// String returns the problem as a sentence, with the key in hexadecimal.
func (p Problem) String() string {
	switch {
	case p.Level == HeaderLevel && p.Key == nil:
		return "header: " + p.Detail()
	case p.Level == HeaderLevel:
		return fmt.Sprintf("record %02x%x: %s", headerLevel, p.Key, p.Detail())
	case p.Key == nil:
		return fmt.Sprintf("level %d anchor: %s", p.Level, p.Detail())
	default:
		return fmt.Sprintf("level %d key %x: %s", p.Level, p.Key, p.Detail())
	}
}

// Detail returns the part of [Problem.String] after the place: what is wrong, with the hashes.
func (p Problem) Detail() string {
	switch p.Kind {
	case WrongHash:
		return fmt.Sprintf("wrong hash %s, %s %s", p.Stored, p.source(), p.Right)
	case Missing:
		if p.Level == HeaderLevel {
			return "missing"
		}
		return fmt.Sprintf("missing, its hash would be %s", p.Right)
	case Stray:
		return "stray, it should not be there"
	case TooShort:
		return "too short for a hash"
	case TooLong:
		return "too long, a hash is all that belongs there"
	case Hidden:
		return "hidden, a look-up of its key does not find it"
	case WrongHeader:
		return "wrong, it is not that of the tree's format"
	default:
		return p.Kind.String()
	}
}

// source introduces the right hash by what it is taken of.
func (p Problem) source() string {
	switch {
	case p.Level > 0:
		return "its children give"
	case p.Key == nil:
		return "that of every tree is"
	default:
		return "its key and value give"
	}
}

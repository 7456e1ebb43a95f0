package peer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// ErrAllow is an allow list, or an entry for one, that cannot be read.
var ErrAllow = errors.New("allow list cannot be used")

// Access is what a peer may do.
type Access uint8

// The kinds of access. The zero Access allows nothing.
const (
	Read  Access = iota + 1
	Write        // and read
)

// String returns "read" or "write", or "none" for the zero Access.
func (a Access) String() string { return [...]string{"none", "read", "write"}[a] }

// ParseAccess reads "read" or "write". The error is [ErrAllow].
func ParseAccess(s string) (Access, error) {
	switch s {
	case "read":
		return Read, nil
	case "write":
		return Write, nil
	}
	return 0, fmt.Errorf("%w: access is %.40q, and must be read or write", ErrAllow, s)
}

// A Grant is what one peer may do, and what it is called in logs.
type Grant struct {
	Access Access
	Name   string // may be empty
}

// An AllowList says which peers may do what. Others may do nothing.
type AllowList map[ID]Grant

// The bounds of an allow list.
const (
	allowLine  = 1 << 10
	allowPeers = 10_000
)

// Add puts a grant for id into the list, which must not have one yet. The error is [ErrAllow].
func (l AllowList) Add(id ID, g Grant) error {
	if _, twice := l[id]; twice {
		return fmt.Errorf("%w: the peer %s is in it twice", ErrAllow, id)
	}
	if len(l) == allowPeers {
		return fmt.Errorf("%w: it has more than %d peers", ErrAllow, allowPeers)
	}
	l[id] = g
	return nil
}

// ReadAllowList reads the list in the file at path, as [ParseAllowList] does.
func ReadAllowList(path string) (AllowList, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAllow, err)
	}
	defer f.Close()
	l, err := ParseAllowList(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return l, nil
}

// ParseAllowList reads a list: a line for each peer, with its ID, "read" or "write", and, if
// wanted, its name. Empty lines and what follows a # are left out. The error is [ErrAllow] and
// names the line.
func ParseAllowList(r io.Reader) (AllowList, error) {
	l := make(AllowList)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, allowLine)
	for number := 1; lines.Scan(); number++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		id, g, err := parseGrant(fields)
		if err == nil {
			err = l.Add(id, g)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%w: after %d peers: %w", ErrAllow, len(l), err)
	}
	return l, nil
}

func parseGrant(fields []string) (ID, Grant, error) {
	if len(fields) < 2 {
		return ID{}, Grant{}, fmt.Errorf("%w: want an ID, then read or write, then a name or nothing", ErrAllow)
	}
	id, err := ParseID(fields[0])
	if err != nil {
		return ID{}, Grant{}, fmt.Errorf("%w: %w", ErrAllow, err)
	}
	access, err := ParseAccess(fields[1])
	if err != nil {
		return ID{}, Grant{}, err
	}
	name := strings.Join(fields[2:], " ")
	if !utf8.ValidString(name) {
		return ID{}, Grant{}, fmt.Errorf("%w: the name is not UTF-8", ErrAllow)
	}
	return id, Grant{access, name}, nil
}

// ParseGrant reads ID=read or ID=write. The error is [ErrAllow].
func ParseGrant(s string) (ID, Grant, error) {
	name, access, ok := strings.Cut(s, "=")
	if !ok {
		return ID{}, Grant{}, fmt.Errorf("%w: %.80q is not ID=read or ID=write", ErrAllow, s)
	}
	return parseGrant([]string{name, access})
}

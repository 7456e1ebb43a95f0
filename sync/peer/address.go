package peer

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// DefaultPort is the port of an [Address] that names none.
const DefaultPort = 7346

// ErrAddress is a text that is no address of a peer.
var ErrAddress = errors.New("not an address of a peer")

// An Address says where a peer answers and who it is.
type Address struct {
	ID   ID
	Host string // a name or an IP address, without brackets
	Port uint16
}

const scheme = "okra://"

// String returns the address as okra://ID@host:port.
func (a Address) String() string { return scheme + a.ID.String() + "@" + a.HostPort() }

// HostPort returns host and port as package net takes them.
func (a Address) HostPort() string {
	return net.JoinHostPort(a.Host, strconv.Itoa(int(a.Port)))
}

// ParseAddress reads okra://ID@host:port; without a port it is [DefaultPort]. The errors are
// [ErrAddress] and [ErrID].
func ParseAddress(s string) (Address, error) {
	var a Address
	bad := func(format string, args ...any) (Address, error) {
		return Address{}, fmt.Errorf("%w: %.200q %w; an address is okra://ID@host:port", ErrAddress, s,
			fmt.Errorf(format, args...))
	}
	rest, ok := strings.CutPrefix(s, scheme)
	if !ok {
		return bad("does not begin with %s", scheme)
	}
	name, hostPort, ok := strings.Cut(rest, "@")
	if !ok {
		return bad("has no ID before an @")
	}
	id, err := ParseID(name)
	if err != nil {
		return bad("names no peer: %w", err)
	}
	a.ID = id
	a.Host, a.Port, err = SplitHostPort(hostPort, DefaultPort)
	if err != nil {
		return bad("%w", err)
	}
	return a, nil
}

// SplitHostPort reads host:port, or host alone, which has the port def. A host is a name, an IPv4
// address, or an IPv6 address in brackets.
func SplitHostPort(s string, def uint16) (host string, port uint16, err error) {
	// A URL of its own, so that the brackets, and all that has no place in a host, are judged by
	// those who know.
	u, err := url.Parse("//" + s)
	if err != nil || u.Host != s || strings.ContainsAny(s, "%") {
		return "", 0, errors.New("has something else than a host and a port")
	}
	host = u.Hostname()
	if host == "" {
		return "", 0, errors.New("has no host")
	}
	if strings.HasPrefix(s, "[") {
		if ip, err := netip.ParseAddr(host); err != nil || !ip.Is6() {
			return "", 0, errors.New("has in brackets what is no IPv6 address")
		}
	} else if strings.ContainsFunc(host, notInName) || host[0] == '-' {
		return "", 0, errors.New("has a host with characters that no name has")
	}
	if !strings.HasSuffix(s, ":"+u.Port()) || u.Port() == "" {
		if strings.HasSuffix(s, ":") {
			return "", 0, errors.New("has no port after the colon")
		}
		return host, def, nil
	}
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil || n == 0 {
		return "", 0, errors.New("has a port that is not 1 to 65535")
	}
	return host, uint16(n), nil
}

// notInName says that r has no place in the name of a host or an IPv4 address.
func notInName(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
		r == '-' || r == '.' || r == '_')
}

package main

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/okradb/okra-go/sync/peer"
)

// peerForms says how a peer is written, for help and errors.
const peerForms = "okra://ID@host:port, ssh://[user@]host[:port]/path, exec:COMMAND or a directory"

// A peerAddress is the other side of a session. Exactly one field is set.
type peerAddress struct {
	tls     *peer.Address
	ssh     *sshAddress
	command string // to be run by the shell
	dir     string // of a store on this machine
}

// An sshAddress is a store on a machine that ssh reaches.
type sshAddress struct {
	user, host string // user may be empty
	port       uint16 // 0: that of ssh
	path       string
}

// parsePeer reads the address of a peer. What has none of the forms is a directory.
func parsePeer(s string) (peerAddress, error) {
	var p peerAddress
	switch {
	case strings.HasPrefix(s, "okra://"):
		a, err := peer.ParseAddress(s)
		p.tls = &a
		return p, err
	case strings.HasPrefix(s, "ssh://"):
		a, err := parseSSH(s)
		if err != nil {
			return p, fmt.Errorf("%.200q %w; write ssh://[user@]host[:port]/path", s, err)
		}
		p.ssh = &a
		return p, nil
	case strings.HasPrefix(s, "exec:"):
		p.command = strings.TrimPrefix(s, "exec:")
		if strings.TrimSpace(p.command) == "" || strings.Contains(p.command, "\x00") {
			return p, fmt.Errorf("%.200q names no command", s)
		}
		return p, nil
	case s == "":
		return p, errors.New("PEER is empty; want " + peerForms)
	case strings.Contains(s, "://"):
		return p, fmt.Errorf("%.200q is no peer; want %s", s, peerForms)
	}
	p.dir = s
	return p, nil
}

// parseSSH reads ssh://[user@]host[:port]/path. A path that begins with /~/ is in the user's home.
func parseSSH(s string) (sshAddress, error) {
	var a sshAddress
	place, path, ok := strings.Cut(strings.TrimPrefix(s, "ssh://"), "/")
	if !ok || path == "" {
		return a, errors.New("names no path")
	}
	path, err := url.PathUnescape(path)
	if err != nil || strings.Contains(path, "\x00") {
		return a, errors.New("has a path that cannot be read: a % is written %25")
	}
	home, inHome := strings.CutPrefix(path, "~/")
	switch {
	case inHome && home == "":
		return a, errors.New("names no path")
	case inHome:
		a.path = "./" + home // ssh begins there
	default:
		a.path = "/" + path
	}
	if at := strings.LastIndexByte(place, '@'); at >= 0 {
		a.user, place = place[:at], place[at+1:]
		if a.user == "" || a.user[0] == '-' || strings.ContainsFunc(a.user, notInUser) {
			return a, errors.New("has a user that is no name")
		}
	}
	a.host, a.port, err = peer.SplitHostPort(place, 0)
	return a, err
}

// notInUser says that r has no place in the name of a user.
func notInUser(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`:/\'"`+"`$;&|<>()[]{}*?!#~", r)
}

// args returns the arguments for ssh, with the command that the other machine is to run.
func (a sshAddress) args(command string) []string {
	args := []string{"-T"}
	if a.port != 0 {
		args = append(args, "-p", fmt.Sprint(a.port))
	}
	to := a.host
	if a.user != "" {
		to = a.user + "@" + to
	}
	return append(args, "--", to, command)
}

// shellQuote returns words as one line that a POSIX shell takes for the same words.
func shellQuote(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}

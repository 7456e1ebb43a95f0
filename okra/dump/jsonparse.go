package dump

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// member is a member of the objects that the lines of JSON are.
type member uint

// The members by their types. Those of the object root come last and are found only there.
const (
	memberOkra member = iota // strings
	memberMode
	memberOp
	memberKey
	memberKeyEncoding
	memberValue
	memberValueEncoding
	memberHash
	memberVersion // numbers
	memberK
	memberQ
	memberEntries
	memberRoot // an object
	memberRootHash
	memberRootLevel
	memberCount
)

// String returns the name in JSON.
func (m member) String() string {
	return [memberCount]string{"okra", "mode", "op", "key", "key_encoding", "value",
		"value_encoding", "hash", "version", "k", "q", "entries", "root", "hash", "level"}[m]
}

// A jsonLine is a line of JSON: an object with the members above and no others, each at most once.
// It is stricter than package json, which takes bytes that are no UTF-8 for other characters and
// passes over members that it does not know.
type jsonLine struct {
	has   [memberCount]bool
	text  [memberCount][]byte // of strings, in memory that is used again
	whole [memberCount]int64  // of numbers
	name  []byte
}

// parse reads a line. It returns an error wrapping ErrSyntax if it is not such an object, or has
// other members than those of allowed.
func (l *jsonLine) parse(line []byte, allowed ...member) error {
	l.has = [memberCount]bool{}
	p := &jsonParser{in: line}
	if err := l.object(p, 0, memberRoot+1); err != nil {
		return err
	}
	if p.space(); p.at < len(p.in) {
		return p.failf("%.20q after the object", p.in[p.at:])
	}
	var known [memberCount]bool
	for _, m := range allowed {
		known[m] = true
	}
	for m := range memberRoot + 1 {
		if l.has[m] && !known[m] {
			return fmt.Errorf("%w: %q does not belong here", ErrSyntax, m)
		}
	}
	return nil
}

// object reads an object whose members are from first to before end.
func (l *jsonLine) object(p *jsonParser, first, end member) error {
	if !p.take('{') {
		return p.failf("a JSON object is wanted")
	}
	if p.take('}') {
		return nil
	}
	for {
		if err := l.member(p, first, end); err != nil {
			return err
		}
		if p.take('}') {
			return nil
		}
		if !p.take(',') {
			return p.failf("a comma or the end of the object is wanted")
		}
	}
}

// member reads one member with its value.
func (l *jsonLine) member(p *jsonParser, first, end member) (err error) {
	if l.name, err = p.text(l.name[:0]); err != nil {
		return err
	}
	m := first
	for m < end && m.String() != string(l.name) {
		m++
	}
	switch {
	case m == end:
		return p.failf("unknown name %.40q", l.name)
	case l.has[m]:
		return p.failf("%q is there twice", m)
	case !p.take(':'):
		return p.failf("a colon is wanted")
	}
	l.has[m] = true
	switch {
	case m == memberRoot:
		return l.object(p, memberRootHash, memberCount)
	case m >= memberVersion && m <= memberEntries || m == memberRootLevel:
		l.whole[m], err = p.number()
	default:
		l.text[m], err = p.text(l.text[m][:0])
	}
	return err
}

// A jsonParser reads what a line of JSON consists of.
type jsonParser struct {
	in []byte
	at int
}

func (p *jsonParser) failf(format string, args ...any) error {
	return fmt.Errorf("%w: at byte %d: %w", ErrSyntax, p.at+1, fmt.Errorf(format, args...))
}

// space passes over space.
func (p *jsonParser) space() {
	for p.at < len(p.in) && (p.in[p.at] == ' ' || p.in[p.at] == '\t' || p.in[p.at] == '\r') {
		p.at++
	}
}

// take passes over space, and over c if that comes next, which it reports.
func (p *jsonParser) take(c byte) bool {
	p.space()
	if p.at == len(p.in) || p.in[p.at] != c {
		return false
	}
	p.at++
	return true
}

// number reads a whole number of up to 18 digits.
func (p *jsonParser) number() (int64, error) {
	p.space()
	start := p.at
	var x int64
	for p.at < len(p.in) && p.in[p.at] >= '0' && p.in[p.at] <= '9' {
		x = 10*x + int64(p.in[p.at]-'0')
		p.at++
		if n := p.at - start; n > 18 || n > 1 && p.in[start] == '0' {
			return 0, p.failf("the number is too long")
		}
	}
	if p.at == start {
		return 0, p.failf("a whole number is wanted")
	}
	return x, nil
}

// text reads a string and appends it to dst.
func (p *jsonParser) text(dst []byte) ([]byte, error) {
	if !p.take('"') {
		return dst, p.failf("a string is wanted")
	}
	from := len(dst)
	for {
		start := p.at
		for p.at < len(p.in) && p.in[p.at] != '"' && p.in[p.at] != '\\' && p.in[p.at] >= ' ' {
			p.at++
		}
		dst = append(dst, p.in[start:p.at]...)
		switch {
		case p.at == len(p.in):
			return dst, p.failf("the string has no end")
		case p.in[p.at] == '"':
			p.at++
			if !utf8.Valid(dst[from:]) {
				return dst, p.failf("not UTF-8; write other bytes in base64")
			}
			return dst, nil
		case p.in[p.at] != '\\':
			return dst, p.failf("the byte %#02x must be written as an escape", p.in[p.at])
		}
		var err error
		if dst, err = p.escape(dst); err != nil {
			return dst, err
		}
	}
}

// escape reads the escape that comes next and appends what it stands for to dst.
func (p *jsonParser) escape(dst []byte) ([]byte, error) {
	rest := p.in[p.at:]
	if len(rest) < 2 {
		return dst, p.failf("the string has no end")
	}
	simple := rest[1]
	switch rest[1] {
	case '"', '\\', '/':
	case 'b':
		simple = '\b'
	case 'f':
		simple = '\f'
	case 'n':
		simple = '\n'
	case 'r':
		simple = '\r'
	case 't':
		simple = '\t'
	case 'u':
		r, size := escapedRune(rest)
		if size == 0 {
			return dst, p.failf("the escape %.6s is no character; write other bytes in base64", rest)
		}
		p.at += size
		return utf8.AppendRune(dst, r), nil
	default:
		return dst, p.failf("unknown escape %q", rest[:2])
	}
	p.at += 2
	return append(dst, simple), nil
}

// escapedRune returns the character of the escape \uXXXX, or of two that make a pair, which b
// begins with, and their length; 0 if there is none.
func escapedRune(b []byte) (r rune, size int) {
	first, ok := escapedUnit(b)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(first) {
		return first, 6
	}
	second, ok := escapedUnit(b[6:])
	if r = utf16.DecodeRune(first, second); !ok || r == utf8.RuneError {
		return 0, 0
	}
	return r, 12
}

// escapedUnit returns the UTF-16 unit of the escape \uXXXX that b begins with.
func escapedUnit(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var x rune
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		x = x<<4 | rune(c)
	}
	return x, true
}

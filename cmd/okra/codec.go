package main

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// A notation is a way to write bytes as one line of text. Each notation reads what it writes.
type notation int

const (
	// escaped shows printable UTF-8 as it is and every other byte as an escape:
	//
	//	\n  \t  \r   newline, tab, carriage return
	//	\\           backslash
	//	\xNN         the byte NN, two hexadecimal digits
	//
	// A leading '-' is written \x2d, so that a key which was printed is never read as an option.
	// Different bytes have different texts. Reading, bytes that are no escape stand for themselves.
	escaped notation = iota
	hexadecimal
	base64Text
)

// notationFlags are the options which choose the notation of what: "keys", or "keys and values".
func notationFlags(what string) []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "hex", Usage: "read and print " + what + " as hexadecimal"},
		&cli.BoolFlag{Name: "base64", Usage: "read and print " + what + " as base64"},
	}
}

// chosenNotation returns the notation which the options of c ask for, else escaped. Two at once
// are a usage error.
func chosenNotation(c *cli.Context) (notation, error) {
	isHex, isBase64 := c.Bool("hex"), c.Bool("base64")
	if isHex && isBase64 {
		return escaped, usagef(c, "--hex and --base64 do not fit together")
	}
	if isHex {
		return hexadecimal, nil
	}
	if isBase64 {
		return base64Text, nil
	}
	return escaped, nil
}

// String names the notation as messages show it.
func (n notation) String() string {
	switch n {
	case hexadecimal:
		return "hexadecimal"
	case base64Text:
		return "base64"
	}
	return "escaped text"
}

// appendText appends b in the notation n to dst and returns the longer slice. What it appends has
// no control characters and, escaped, is valid UTF-8.
func (n notation) appendText(dst, b []byte) []byte {
	switch n {
	case hexadecimal:
		return hex.AppendEncode(dst, b)
	case base64Text:
		return base64.StdEncoding.AppendEncode(dst, b)
	}
	return appendEscaped(dst, b)
}

// text returns b in the notation n.
func (n notation) text(b []byte) string {
	return string(n.appendText(nil, b))
}

// parse returns the bytes which s stands for in the notation n. The error names what is wrong
// and where.
func (n notation) parse(s string) ([]byte, error) {
	var b []byte
	var err error
	switch n {
	case hexadecimal:
		b, err = hex.DecodeString(s)
	case base64Text:
		b, err = base64.StdEncoding.Strict().DecodeString(s)
	default:
		b, err = parseEscaped(s)
	}
	if err != nil {
		return nil, fmt.Errorf("%.60q is not %s: %w", s, n, err)
	}
	return b, nil
}

// jsonText returns b as a JSON string can hold it, and the name of its encoding: "hex" or
// "base64" when asked for, else "utf-8" if b is valid UTF-8 and "base64" if not.
func (n notation) jsonText(b []byte) (text, encoding string) {
	if n == hexadecimal {
		return hex.EncodeToString(b), "hex"
	}
	if n == base64Text || !utf8.Valid(b) {
		return base64.StdEncoding.EncodeToString(b), "base64"
	}
	return string(b), "utf-8"
}

const hexDigits = "0123456789abcdef"

func appendEscaped(dst, b []byte) []byte {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		invalid := r == utf8.RuneError && size == 1
		switch {
		case r == '\\':
			dst = append(dst, `\\`...)
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case invalid || !strconv.IsPrint(r) || i == 0 && r == '-':
			for _, c := range b[i : i+size] {
				dst = append(dst, '\\', 'x', hexDigits[c>>4], hexDigits[c&15])
			}
		default:
			dst = append(dst, b[i:i+size]...)
		}
		i += size
	}
	return dst
}

func parseEscaped(s string) ([]byte, error) {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b = append(b, s[i])
			continue
		}
		i++
		if i == len(s) {
			return nil, fmt.Errorf(`it ends in a lone backslash; a backslash is written \\`)
		}
		switch s[i] {
		case '\\':
			b = append(b, '\\')
		case 'n':
			b = append(b, '\n')
		case 't':
			b = append(b, '\t')
		case 'r':
			b = append(b, '\r')
		case 'x':
			v, err := hex.DecodeString(s[i+1 : min(i+3, len(s))])
			if err != nil || len(v) != 1 {
				return nil, fmt.Errorf(`\x at byte %d wants two hexadecimal digits`, i-1)
			}
			b = append(b, v[0])
			i += 2
		default:
			return nil, fmt.Errorf(
				`unknown escape at byte %d; known are \n \t \r \\ and \xNN`, i-1)
		}
	}
	return b, nil
}

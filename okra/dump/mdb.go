package dump

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/okradb/okra-go/tree"
)

// LMDB's text, as mdb_dump of LMDB 0.9 writes and mdb_load reads it: lines of name=value up to
// HEADER=END, then two lines for each record, its key and its value, each after a space, then
// DATA=END. With format=bytevalue bytes are two hexadecimal digits; with format=print they stand
// for themselves if printable, else as a backslash and two digits.
const (
	mdbHeaderEnd = "HEADER=END"
	mdbDataEnd   = "DATA=END"
	mdbHeadLines = 64      // most in a header
	mdbHeadLine  = 4 << 10 // bytes
	mdbKeyLine   = 64 << 10
)

type mdbEncoder struct {
	print bool
	line  []byte
}

func (d *mdbEncoder) begin(w *bufio.Writer, h Header) error {
	if h.Format.Mode != tree.Store {
		return fmt.Errorf("%w: use binary or jsonl", ErrValues)
	}
	format := "bytevalue"
	if d.print {
		format = "print"
	}
	if strings.ContainsFunc(h.Table, func(r rune) bool { return r < ' ' }) {
		return fmt.Errorf("%w: table %q: its name does not fit a line", ErrSyntax, h.Table)
	}
	fmt.Fprintf(w, "VERSION=3\nformat=%s\n", format)
	if h.Table != "" {
		fmt.Fprintf(w, "database=%s\n", h.Table)
	}
	fmt.Fprintf(w, "type=btree\n")
	if h.MapSize > 0 {
		fmt.Fprintf(w, "mapsize=%d\n", h.MapSize)
	}
	if h.MaxReaders > 0 {
		fmt.Fprintf(w, "maxreaders=%d\n", h.MaxReaders)
	}
	_, err := fmt.Fprintln(w, mdbHeaderEnd)
	return err
}

func (d *mdbEncoder) entry(w *bufio.Writer, e Entry) error {
	d.line = d.appendLine(d.line[:0], e.Key)
	d.line = d.appendLine(d.line, e.Value)
	_, err := w.Write(d.line)
	return err
}

func (d *mdbEncoder) end(w *bufio.Writer, _ Trailer) error {
	_, err := fmt.Fprintln(w, mdbDataEnd)
	return err
}

func (d *mdbEncoder) appendLine(dst, b []byte) []byte {
	dst = append(dst, ' ')
	if !d.print {
		return append(hex.AppendEncode(dst, b), '\n')
	}
	for _, c := range b {
		// A backslash is written as digits, since versions of LMDB differ on a double one.
		if c >= ' ' && c <= '~' && c != '\\' {
			dst = append(dst, c)
		} else {
			dst = hex.AppendEncode(append(dst, '\\'), []byte{c})
		}
	}
	return append(dst, '\n')
}

// mdbReader reads the records of LMDB's text.
type mdbReader struct {
	lines
	head       Header
	print      bool
	key, value []byte
	whole      bool // a record has been read, two lines
}

// where names the line being read, or that of the key of the record read last.
func (d *mdbReader) where() string {
	if d.whole {
		return fmt.Sprintf("line %d", d.number-1)
	}
	return d.lines.where()
}

func newMDBReader(in *bufio.Reader) *mdbReader {
	return &mdbReader{lines: lines{in: in}, value: []byte{}}
}

// header reads the lines up to HEADER=END.
func (d *mdbReader) header() error {
	version := false
	for range mdbHeadLines {
		line, err := d.read(mdbHeadLine)
		if err != nil {
			return cut(err)
		}
		if string(line) == mdbHeaderEnd {
			if !version {
				return fmt.Errorf("%w: no VERSION line", ErrSyntax)
			}
			return nil
		}
		name, value, ok := strings.Cut(string(line), "=")
		if !ok {
			err = fmt.Errorf("%w: %.40q is no name=value", ErrSyntax, line)
		} else {
			err = d.setting(name, value)
		}
		if err != nil {
			return d.cutOr(err)
		}
		version = version || name == "VERSION"
	}
	return fmt.Errorf("%w: no %s in %d lines", ErrSyntax, mdbHeaderEnd, mdbHeadLines)
}

// setting takes in one line of the header. Names that say nothing here are passed over.
func (d *mdbReader) setting(name, value string) error {
	var err error
	switch name {
	case "VERSION":
		if value != "3" {
			return fmt.Errorf("%w: %.20q, this program reads 3", ErrVersion, value)
		}
	case "format":
		d.print = value == "print"
		if !d.print && value != "bytevalue" {
			return fmt.Errorf("%w: format %.20q is neither bytevalue nor print", ErrSyntax, value)
		}
	case "type":
		if value != "btree" {
			return fmt.Errorf("%w: type %.20q is not btree", ErrSyntax, value)
		}
	case "database":
		d.head.Table = value
	case "duplicates", "dupsort", "dupfixed", "integerdup", "reversedup":
		if value != "0" {
			return fmt.Errorf("%w: a table that holds several values for a key (%s)",
				ErrSyntax, name)
		}
	case "mapsize":
		d.head.MapSize, err = strconv.ParseInt(value, 10, 64)
	case "maxreaders":
		d.head.MaxReaders, err = strconv.Atoi(value)
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrSyntax, name, err)
	}
	return nil
}

// record reads the next record into d.key and d.value, or returns false after DATA=END. The key
// may have any length up to that of a line of its own.
func (d *mdbReader) record() (more bool, err error) {
	d.whole = false
	line, err := d.read(mdbKeyLine)
	if err != nil {
		return false, cut(err)
	}
	if string(line) == mdbDataEnd {
		return false, d.end()
	}
	if d.key, err = d.decode(d.key[:0], line); err != nil {
		return false, d.cutOr(err)
	}
	if line, err = d.read(maxLine); err != nil {
		return false, cut(err)
	}
	if d.value, err = d.decode(d.value[:0], line); err != nil {
		return false, d.cutOr(err)
	}
	d.whole = true
	return true, nil
}

// end refuses what may follow the one table of a dump.
func (d *mdbReader) end() error {
	_, err := d.in.Peek(1)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: more follows, such as another table; dump one with mdb_dump -s NAME",
		ErrSyntax)
}

// decode appends to dst the bytes that a line stands for.
func (d *mdbReader) decode(dst, line []byte) ([]byte, error) {
	if len(line) == 0 || line[0] != ' ' {
		return dst, fmt.Errorf("%w: %.20q is neither a record, which begins with a space, nor %s",
			ErrSyntax, line, mdbDataEnd)
	}
	line = line[1:]
	if !d.print {
		out, err := hex.AppendDecode(dst, line)
		if err != nil {
			return dst, fmt.Errorf("%w: %w", ErrSyntax, err)
		}
		return out, nil
	}
	for i := 0; i < len(line); i++ {
		if line[i] != '\\' {
			dst = append(dst, line[i])
			continue
		}
		if i+1 < len(line) && line[i+1] == '\\' {
			dst = append(dst, '\\')
			i++
			continue
		}
		out, err := hex.AppendDecode(dst, line[i+1:min(i+3, len(line))])
		if err != nil || len(out) == len(dst) {
			return dst, fmt.Errorf("%w: the backslash at byte %d is no escape, as old versions of"+
				" mdb_dump -p write; dump without -p", ErrSyntax, i+1)
		}
		dst = out
		i += 2
	}
	return dst, nil
}

package dump

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/okradb/okra-go/tree"
)

// The format of JSON lines; FORMAT.md in this folder has a worked example.
const (
	jsonMagic   = "dump"
	jsonVersion = 1
)

// maxLine is the longest line in bytes: that of the longest value if each byte is an escape.
const maxLine = 6*maxValue + 8<<10

// jsonHeader is the first line.
type jsonHeader struct {
	Okra    string `json:"okra"`
	Version int    `json:"version"`
	K       int    `json:"k"`
	Q       uint32 `json:"q"`
	Mode    string `json:"mode"`
}

// jsonEntry is the line of an entry, as "okra scan --json" prints it. Value is set in store mode,
// Hash in index mode.
type jsonEntry struct {
	Key           *string `json:"key"`
	KeyEncoding   string  `json:"key_encoding"`
	Value         *string `json:"value,omitempty"`
	ValueEncoding string  `json:"value_encoding,omitempty"`
	Hash          string  `json:"hash,omitempty"`
}

// jsonLine is the line of an entry or, with Entries and Root, the last one.
type jsonLine struct {
	jsonEntry
	Entries *int64    `json:"entries"`
	Root    *jsonRoot `json:"root"`
}

type jsonTrailer struct {
	Entries int64    `json:"entries"`
	Root    jsonRoot `json:"root"`
}

type jsonRoot struct {
	Level int    `json:"level"`
	Hash  string `json:"hash"`
}

type jsonEncoder struct {
	out  *json.Encoder
	mode tree.Mode
}

// newJSONEncoder returns an encoder that writes to w alone.
func newJSONEncoder(w io.Writer) *jsonEncoder {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	return &jsonEncoder{out: out}
}

func (d *jsonEncoder) begin(_ *bufio.Writer, h Header) error {
	f := h.Format
	d.mode = f.Mode
	return d.out.Encode(jsonHeader{jsonMagic, jsonVersion, f.K, f.Q, f.Mode.String()})
}

func (d *jsonEncoder) entry(_ *bufio.Writer, e Entry) error {
	var line jsonEntry
	key, encoding := encodeText(e.Key)
	line.Key, line.KeyEncoding = &key, encoding
	if d.mode == tree.Index {
		line.Hash = e.Hash.String()
	} else {
		value, encoding := encodeText(e.Value)
		line.Value, line.ValueEncoding = &value, encoding
	}
	return d.out.Encode(line)
}

func (d *jsonEncoder) end(_ *bufio.Writer, t Trailer) error {
	return d.out.Encode(jsonTrailer{t.Count, jsonRoot{t.Root.Level, t.Root.Hash.String()}})
}

type jsonDecoder struct {
	lines
	format tree.Format
	key    []byte
	value  []byte
	tail   Trailer
}

func (d *jsonDecoder) begin() (Header, error) {
	line, err := d.read(4 << 10)
	if err != nil {
		return Header{}, cut(err)
	}
	if len(line) == 0 || line[0] != '{' {
		return Header{}, fmt.Errorf("%w: it is no JSON object", ErrUnknown)
	}
	var h jsonHeader
	if err := unmarshal(line, &h); err != nil {
		return Header{}, d.cutOr(fmt.Errorf("%w: %w", ErrUnknown, err))
	}
	if h.Okra != jsonMagic {
		return Header{}, fmt.Errorf("%w: it has no \"okra\":%q", ErrUnknown, jsonMagic)
	}
	if h.Version != jsonVersion {
		return Header{}, fmt.Errorf("%w: %d, this program reads %d", ErrVersion, h.Version, jsonVersion)
	}
	d.format = tree.Format{K: h.K, Q: h.Q}
	switch h.Mode {
	case "store":
		d.format.Mode = tree.Store
	case "index":
		d.format.Mode = tree.Index
	default:
		return Header{}, fmt.Errorf("%w: mode %.20q", ErrSyntax, h.Mode)
	}
	return Header{Format: d.format}, checkFormat(d.format)
}

func (d *jsonDecoder) next() (Entry, bool, error) {
	text, err := d.read(maxLine)
	if err != nil {
		return Entry{}, false, cut(err)
	}
	var line jsonLine
	if err := unmarshal(text, &line); err != nil {
		return Entry{}, false, d.cutOr(err)
	}
	if line.Key == nil {
		return Entry{}, false, d.end(&line)
	}
	if line.Entries != nil || line.Root != nil {
		return Entry{}, false, fmt.Errorf("%w: an entry and the end in one", ErrSyntax)
	}
	e, err := line.entry(d.key, d.value)
	if err != nil {
		return Entry{}, false, err
	}
	d.key, d.value = e.Key, e.Value
	if index := d.format.Mode == tree.Index; index != (e.Value == nil) {
		return Entry{}, false, fmt.Errorf("%w: a dump in %s mode has a value or hash where none"+
			" belongs", ErrSyntax, d.format.Mode)
	}
	return e, true, nil
}

// entry returns the entry of a line with a key, in the memory of key and value.
func (j *jsonEntry) entry(key, value []byte) (e Entry, err error) {
	if e.Key, err = decodeText(key[:0], *j.Key, j.KeyEncoding); err != nil {
		return e, err
	}
	switch {
	case j.Value != nil && j.Hash != "":
		return e, fmt.Errorf("%w: both a value and a hash", ErrSyntax)
	case j.Value != nil:
		if e.Value, err = decodeText(value[:0], *j.Value, j.ValueEncoding); err != nil {
			return e, err
		}
		if e.Value == nil {
			e.Value = []byte{}
		}
		return e, checkValueSize(uint64(len(e.Value)))
	case j.ValueEncoding != "":
		return e, fmt.Errorf("%w: the encoding of a value that is not there", ErrSyntax)
	case j.Hash != "":
		if e.Hash, err = tree.ParseHash(j.Hash); err != nil {
			return e, fmt.Errorf("%w: %w", ErrSyntax, err)
		}
		return e, nil
	}
	return e, fmt.Errorf("%w: neither a value nor a hash", ErrSyntax)
}

func (d *jsonDecoder) end(line *jsonLine) error {
	if line.jsonEntry != (jsonEntry{}) || line.Entries == nil || line.Root == nil {
		return fmt.Errorf("%w: neither an entry, which has a key, nor the end, which has entries"+
			" and root", ErrSyntax)
	}
	h, err := tree.ParseHash(line.Root.Hash)
	if err != nil {
		return fmt.Errorf("%w: root: %w", ErrSyntax, err)
	}
	d.tail = Trailer{Count: *line.Entries, Root: tree.Root{Level: line.Root.Level, Hash: h}}
	return nil
}

func (d *jsonDecoder) trailer() Trailer { return d.tail }

// unmarshal reads one line of JSON into v. It refuses what package json would change or skip:
// bytes and escapes that are no UTF-8, and members that v does not have.
func unmarshal(line []byte, v any) error {
	if !utf8.Valid(line) {
		return fmt.Errorf("%w: not UTF-8; write other bytes in base64", ErrSyntax)
	}
	if at := loneSurrogate(line); at >= 0 {
		return fmt.Errorf("%w: the escape %s is no character; write other bytes in base64",
			ErrSyntax, line[at:at+6])
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("%w: the line is no whole JSON object", ErrSyntax)
		}
		return fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	if rest := bytes.TrimSpace(line[dec.InputOffset():]); len(rest) > 0 {
		return fmt.Errorf("%w: %.20q after the object", ErrSyntax, rest)
	}
	return nil
}

// loneSurrogate returns where in a line of JSON an escape \uXXXX is half of a pair without the
// other half, which package json would replace, or -1.
func loneSurrogate(line []byte) int {
	for i := 0; i+1 < len(line); i++ {
		if line[i] != '\\' {
			continue
		}
		i++
		first, ok := escapedUnit(line[i-1:])
		if !ok || first < 0xd800 || first > 0xdfff {
			continue
		}
		second, ok := escapedUnit(line[i+5:])
		if first >= 0xdc00 || !ok || second < 0xdc00 || second > 0xdfff {
			return i - 1
		}
		i += 6 + 4
	}
	return -1
}

// escapedUnit returns the UTF-16 unit of the escape \uXXXX that b begins with.
func escapedUnit(b []byte) (uint64, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	x, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return x, err == nil
}

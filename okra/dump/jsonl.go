package dump

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"

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
	Key           string  `json:"key"`
	KeyEncoding   string  `json:"key_encoding"`
	Value         *string `json:"value,omitempty"`
	ValueEncoding string  `json:"value_encoding,omitempty"`
	Hash          string  `json:"hash,omitempty"`
}

// jsonTrailer is the last line.
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
	line.Key, line.KeyEncoding = encodeText(e.Key)
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
	entryParser
	format tree.Format
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
	err = d.parse(line, memberOkra, memberVersion, memberK, memberQ, memberMode)
	if err != nil {
		return Header{}, d.cutOr(fmt.Errorf("%w: %w", ErrUnknown, err))
	}
	if string(d.text[memberOkra]) != jsonMagic || !d.has[memberOkra] {
		return Header{}, fmt.Errorf("%w: it has no \"okra\":%q", ErrUnknown, jsonMagic)
	}
	if v := d.whole[memberVersion]; v != jsonVersion {
		return Header{}, fmt.Errorf("%w: %d, this program reads %d", ErrVersion, v, jsonVersion)
	}
	k, q := d.whole[memberK], d.whole[memberQ]
	if k > tree.MaxHash || q > math.MaxUint32 {
		return Header{}, fmt.Errorf("%w: K is %d, Q is %d", ErrSyntax, k, q)
	}
	d.format = tree.Format{K: int(k), Q: uint32(q)}
	switch mode := string(d.text[memberMode]); mode {
	case "store":
		d.format.Mode = tree.Store
	case "index":
		d.format.Mode = tree.Index
	default:
		return Header{}, fmt.Errorf("%w: mode %.20q", ErrSyntax, mode)
	}
	return Header{Format: d.format}, checkFormat(d.format)
}

func (d *jsonDecoder) next() (Entry, bool, error) {
	line, err := d.read(maxLine)
	if err != nil {
		return Entry{}, false, cut(err)
	}
	err = d.parse(line, memberKey, memberKeyEncoding, memberValue, memberValueEncoding, memberHash,
		memberEntries, memberRoot)
	if err != nil {
		return Entry{}, false, d.cutOr(err)
	}
	if !d.has[memberKey] {
		return Entry{}, false, d.end()
	}
	if d.has[memberEntries] || d.has[memberRoot] {
		return Entry{}, false, fmt.Errorf("%w: an entry and the end in one", ErrSyntax)
	}
	e, err := d.entry()
	if err != nil {
		return Entry{}, false, err
	}
	if index := d.format.Mode == tree.Index; index != (e.Value == nil) {
		return Entry{}, false, fmt.Errorf("%w: a dump in %s mode has a value or hash where none"+
			" belongs", ErrSyntax, d.format.Mode)
	}
	return e, true, nil
}

func (d *jsonDecoder) end() error {
	if !d.has[memberEntries] || !d.has[memberRootHash] || !d.has[memberRootLevel] ||
		d.has[memberKeyEncoding] || d.has[memberValue] || d.has[memberValueEncoding] ||
		d.has[memberHash] {
		return fmt.Errorf("%w: neither an entry, which has a key, nor the end, which has entries"+
			" and root", ErrSyntax)
	}
	h, err := tree.ParseHash(string(d.text[memberRootHash]))
	if err != nil {
		return fmt.Errorf("%w: root: %w", ErrSyntax, err)
	}
	level := int(min(d.whole[memberRootLevel], tree.MaxLevel+1))
	d.tail = Trailer{Count: d.whole[memberEntries], Root: tree.Root{Level: level, Hash: h}}
	return nil
}

func (d *jsonDecoder) trailer() Trailer { return d.tail }

// An entryParser makes entries of lines of JSON.
type entryParser struct {
	jsonLine
	key, value []byte // decoded, in memory that is used again
}

// entry returns the entry of a line that has a key. It is valid until the next.
func (p *entryParser) entry() (e Entry, err error) {
	if e.Key, err = p.entryKey(); err != nil {
		return e, err
	}
	switch {
	case p.has[memberValue] && p.has[memberHash]:
		return e, fmt.Errorf("%w: both a value and a hash", ErrSyntax)
	case p.has[memberValue]:
		p.value, err = p.decode(p.value[:0], memberValue, memberValueEncoding)
		if err != nil {
			return e, err
		}
		if p.value == nil {
			p.value = []byte{}
		}
		e.Value = p.value
		return e, checkValueSize(uint64(len(e.Value)))
	case p.has[memberValueEncoding]:
		return e, fmt.Errorf("%w: the encoding of a value that is not there", ErrSyntax)
	case p.has[memberHash]:
		if e.Hash, err = tree.ParseHash(string(p.text[memberHash])); err != nil {
			return e, fmt.Errorf("%w: %w", ErrSyntax, err)
		}
		return e, nil
	}
	return e, fmt.Errorf("%w: neither a value nor a hash", ErrSyntax)
}

func (p *entryParser) entryKey() (key []byte, err error) {
	p.key, err = p.decode(p.key[:0], memberKey, memberKeyEncoding)
	return p.key, err
}

// decode appends to dst the bytes of a member that is encoded as another says.
func (p *entryParser) decode(dst []byte, m, encoding member) ([]byte, error) {
	if !p.has[encoding] {
		return append(dst, p.text[m]...), nil
	}
	return decodeText(dst, p.text[m], string(p.text[encoding]))
}

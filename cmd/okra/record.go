package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/okradb/okra-go/okra"
)

func nullFlag(usage string) cli.Flag {
	return &cli.BoolFlag{Name: "null", Aliases: []string{"0"}, Usage: usage}
}

// notationOrNull is chosenNotation for verbs with --null, which fits with neither --json nor a
// notation.
func notationOrNull(c *cli.Context) (notation, error) {
	n, err := chosenNotation(c)
	if err != nil {
		return n, err
	}
	for _, other := range []string{"json", "hex", "base64"} {
		if c.Bool("null") && c.Bool(other) {
			return n, usagef(c, "--null and --%s do not fit together", other)
		}
	}
	return n, nil
}

// checkKeySource returns an error unless keys come either from args or from --keys-from, and
// --null, where the verb writes nothing itself, is given with --keys-from only.
func checkKeySource(c *cli.Context, args []string) error {
	switch from := c.IsSet("keys-from"); {
	case from && len(args) > 0:
		return usagef(c, "KEY and --keys-from do not fit together")
	case !from && len(args) == 0:
		return usagef(c, "KEY is missing")
	case !from && c.Bool("null"):
		return usagef(c, "--null is for --keys-from")
	}
	return nil
}

// An entryWriter prints entries: as lines of key, tab and value in a notation; as JSON, one object
// a line; or raw, key and value each ended by a NUL byte. In index mode the leaf's hash in
// hexadecimal stands in the value's place.
type entryWriter struct {
	out      *bufio.Writer
	notation notation
	json     bool
	null     bool
	keysOnly bool
	line     []byte // reused from entry to entry
	encoder  *json.Encoder
}

// newEntryWriter returns an entryWriter as the options of c ask for. Call finish after the last
// entry.
func newEntryWriter(c *cli.Context, n notation) *entryWriter {
	out := bufio.NewWriterSize(c.App.Writer, 64<<10)
	return &entryWriter{
		out:      out,
		encoder:  newEncoder(out),
		notation: n,
		json:     c.Bool("json"),
		null:     c.Bool("null"),
		keysOnly: c.Bool("keys-only"),
	}
}

// finish writes out what is left, also after a failure, and returns err or the error it met.
func (w *entryWriter) finish(err error) error {
	if flushErr := w.out.Flush(); err == nil {
		return flushErr
	}
	return err
}

// write prints e, an entry of a tree in the given mode.
func (w *entryWriter) write(e okra.Entry, mode okra.Mode) error {
	if w.json {
		return w.writeJSON(e, mode)
	}
	if w.null {
		return w.writeNull(e, mode)
	}
	w.line = w.notation.appendText(w.line[:0], e.Key)
	if !w.keysOnly {
		w.line = append(w.line, '\t')
		if mode == okra.Index {
			w.line = append(w.line, e.Hash().String()...)
		} else {
			w.line = w.notation.appendText(w.line, e.Value)
		}
	}
	_, err := w.out.Write(append(w.line, '\n'))
	return err
}

func (w *entryWriter) writeNull(e okra.Entry, mode okra.Mode) error {
	parts := [][]byte{e.Key, e.Value}
	if w.keysOnly {
		parts = parts[:1]
	} else if mode == okra.Index {
		parts[1] = []byte(e.Hash().String())
	}
	for _, part := range parts {
		if bytes.IndexByte(part, 0) >= 0 {
			return fmt.Errorf("the entry %s has a NUL byte in it, which --null cannot show;"+
				" use --json, --hex or no option", escaped.text(e.Key))
		}
	}
	for _, part := range parts {
		w.out.Write(part)
		if err := w.out.WriteByte(0); err != nil {
			return err
		}
	}
	return nil
}

// An entryRecord is an entry in JSON. Value is absent where it was not asked for, Hash elsewhere
// than in index mode.
type entryRecord struct {
	Key           string  `json:"key"`
	KeyEncoding   string  `json:"key_encoding"`
	Value         *string `json:"value,omitempty"`
	ValueEncoding string  `json:"value_encoding,omitempty"`
	Hash          string  `json:"hash,omitempty"`
}

func (w *entryWriter) writeJSON(e okra.Entry, mode okra.Mode) error {
	var r entryRecord
	r.Key, r.KeyEncoding = w.notation.jsonText(e.Key)
	if !w.keysOnly && mode == okra.Index {
		r.Hash = e.Hash().String()
	} else if !w.keysOnly {
		text, encoding := w.notation.jsonText(e.Value)
		r.Value, r.ValueEncoding = &text, encoding
	}
	return w.encoder.Encode(r)
}

// newEncoder returns an encoder which writes each value to w as one line of JSON, which a terminal
// can show: what is not printable is escaped.
func newEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(printableJSON{w})
	enc.SetEscapeHTML(false)
	return enc
}

// writeJSON writes v to w as one line of JSON.
func writeJSON(w io.Writer, v any) error {
	return newEncoder(w).Encode(v)
}

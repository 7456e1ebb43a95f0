package dump

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
)

// An Op is one write of a batch: put the Entry, or delete its key.
type Op struct {
	Line   int // where it stands, from 1
	Delete bool
	Entry
}

// jsonOp is the line of a write: that of an entry in [JSONLines], and what to do.
type jsonOp struct {
	Op string `json:"op"`
	jsonEntry
}

// ReadOps yields the writes in r, one JSON object a line:
//
//	{"op":"put","key":"name","value":"Ada"}
//	{"op":"put","key":"/w==","key_encoding":"base64","value":"00ff","value_encoding":"hex"}
//	{"op":"delete","key":"name"}
//
// The encodings are utf-8, which may be left out, base64 and hex. A put with "hash" in place of
// "value" has a leaf hash, for a tree in index mode. Empty lines are skipped. The slices of an Op
// are valid until the next. On failure it yields a zero Op and the error once, with the number of
// the line, and stops.
func ReadOps(r io.Reader) iter.Seq2[Op, error] {
	return func(yield func(Op, error) bool) {
		l := lines{in: bufio.NewReaderSize(r, bufferSize)}
		var key, value []byte
		for {
			line, err := l.read(maxLine)
			if errors.Is(err, io.EOF) {
				return
			}
			var op Op
			if err == nil {
				if len(line) == 0 {
					continue
				}
				op, err = parseOp(line, key, value)
				op.Line = l.number
			}
			if err != nil {
				yield(Op{}, fmt.Errorf("%s: %w", l.where(), err))
				return
			}
			key = op.Key
			if op.Value != nil {
				value = op.Value
			}
			if !yield(op, nil) {
				return
			}
		}
	}
}

// parseOp reads one line, into the memory of key and value.
func parseOp(line, key, value []byte) (Op, error) {
	var j jsonOp
	if err := unmarshal(line, &j); err != nil {
		return Op{}, err
	}
	if j.Key == nil {
		return Op{}, fmt.Errorf("%w: no key", ErrSyntax)
	}
	op := Op{Delete: j.Op == "delete"}
	var err error
	switch j.Op {
	case "put":
		op.Entry, err = j.entry(key, value)
	case "delete":
		if j.Value != nil || j.ValueEncoding != "" || j.Hash != "" {
			return Op{}, fmt.Errorf("%w: a delete has neither value nor hash", ErrSyntax)
		}
		op.Key, err = decodeText(key[:0], *j.Key, j.KeyEncoding)
	case "":
		return Op{}, fmt.Errorf("%w: no op; it is put or delete", ErrSyntax)
	default:
		return Op{}, fmt.Errorf("%w: op %.20q is neither put nor delete", ErrSyntax, j.Op)
	}
	if err != nil {
		return Op{}, err
	}
	return op, checkKey(op.Key)
}

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
		p := opParser{lines: lines{in: bufio.NewReaderSize(r, bufferSize)}}
		for {
			line, err := p.read(maxLine)
			if errors.Is(err, io.EOF) {
				return
			}
			if err == nil && len(line) == 0 {
				continue
			}
			var op Op
			if err == nil {
				op, err = p.op(line)
			}
			if err != nil {
				yield(Op{}, fmt.Errorf("%s: %w", p.where(), err))
				return
			}
			if !yield(op, nil) {
				return
			}
		}
	}
}

// An opParser reads the lines of a batch.
type opParser struct {
	lines
	entryParser
}

// op returns what one line says to do.
func (p *opParser) op(line []byte) (Op, error) {
	err := p.parse(line, memberOp, memberKey, memberKeyEncoding, memberValue, memberValueEncoding,
		memberHash)
	if err != nil {
		return Op{}, err
	}
	if !p.has[memberKey] {
		return Op{}, fmt.Errorf("%w: no key", ErrSyntax)
	}
	if !p.has[memberOp] {
		return Op{}, fmt.Errorf("%w: no op; it is put or delete", ErrSyntax)
	}
	op := Op{Line: p.number}
	switch name := string(p.text[memberOp]); name {
	case "put":
		op.Entry, err = p.entry()
	case "delete":
		if p.has[memberValue] || p.has[memberValueEncoding] || p.has[memberHash] {
			return Op{}, fmt.Errorf("%w: a delete has neither value nor hash", ErrSyntax)
		}
		op.Delete = true
		op.Key, err = p.entryKey()
	default:
		return Op{}, fmt.Errorf("%w: op %.20q is neither put nor delete", ErrSyntax, name)
	}
	if err != nil {
		return Op{}, err
	}
	return op, checkKey(op.Key)
}

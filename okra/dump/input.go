package dump

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/okradb/okra-go/tree"
)

// maxValue is the longest value, in bytes: LMDB's limit for a record, less the longest hash.
const maxValue = math.MaxUint32 - tree.MaxHash

// pieceSize bounds in bytes what is set aside before it is known to be there.
const pieceSize = 1 << 20

// checkValueSize returns the error for a value of n bytes, if it is too long for a tree or for
// this machine.
func checkValueSize(n uint64) error {
	if n > min(maxValue, math.MaxInt/2) {
		return fmt.Errorf("%w: %d bytes", tree.ErrValueTooLong, n)
	}
	return nil
}

// checkFormat returns an error unless K and Q are set and within their limits.
func checkFormat(f tree.Format) error {
	if f.K == 0 || f.Q == 0 {
		return fmt.Errorf("%w: K is %d, Q is %d", ErrSyntax, f.K, f.Q)
	}
	if err := f.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	return nil
}

// cut turns the end of the stream, where there should be more, into ErrCut.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends before its end", ErrCut)
	}
	return err
}

// readMore appends n bytes of in to dst. The memory grows with what is there, whatever n says.
func readMore(in *bufio.Reader, dst []byte, n uint64) ([]byte, error) {
	for n > 0 {
		piece := int(min(n, pieceSize))
		dst = slices.Grow(dst, piece)
		got, err := io.ReadFull(in, dst[len(dst):len(dst)+piece])
		dst = dst[:len(dst)+got]
		if err != nil {
			return dst, cut(err)
		}
		n -= uint64(piece)
	}
	return dst, nil
}

// lines reads lines one by one.
type lines struct {
	in     *bufio.Reader
	number int // of the line read last, from 1
	line   []byte
}

// read returns the next line without its newline, valid until the next read, or io.EOF. It
// refuses a line of more than limit bytes. The last line may lack its newline.
func (l *lines) read(limit int64) ([]byte, error) {
	l.number++
	l.line = l.line[:0]
	for {
		part, err := l.in.ReadSlice('\n')
		if int64(len(l.line))+int64(len(part)) > limit+1 {
			return nil, fmt.Errorf("%w: the line is longer than %d bytes", ErrSyntax, limit)
		}
		whole := err == nil && len(l.line) == 0
		if whole {
			return part[:len(part)-1], nil
		}
		l.line = append(l.line, part...)
		switch {
		case err == nil:
			return l.line[:len(l.line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(l.line) > 0:
			return l.line, nil
		default:
			return nil, err
		}
	}
}

// where names the line read last.
func (l *lines) where() string { return fmt.Sprintf("line %d", l.number) }

// cutOr returns err, about the line read last, as ErrCut if nothing follows that line.
func (l *lines) cutOr(err error) error {
	if _, end := l.in.Peek(1); errors.Is(end, io.EOF) {
		return fmt.Errorf("%w: its last line is not whole: %w", ErrCut, err)
	}
	return err
}

package tree

import "sync"

// Records of one Scan: few at first, since most scans are short.
const (
	scanFirst = 8
	scanMost  = 256
)

// scanBuffers are of no tree: every iteration under way has one.
var scanBuffers = sync.Pool{New: func() any { return new([scanMost]Record) }}

// A scanner reads the records of one range, some at a time, while nothing writes to the tree.
type scanner struct {
	t          *Tree
	start      Start
	from, stop []byte
	buf        *[scanMost]Record
	size       int    // of the next read; 0 after the last
	used       int    // records of buf that were set
	writes     uint64 // t.writes at the begin
	moves      uint64 // *t.moves at the last read
	last       []byte // in a tree that may be written to: a copy of the key given last
}

// scan begins to read the records of a Scan. The scanner must be closed.
func (t *Tree) scan(start Start, from, stop []byte) scanner {
	return scanner{
		t: t, start: start, from: from, stop: stop, size: scanFirst, writes: t.writes,
		buf: scanBuffers.Get().(*[scanMost]Record),
	}
}

// close gives back the memory of s.
func (s *scanner) close() {
	clear(s.buf[:s.used]) // they point out of the heap, to what may be unmapped
	scanBuffers.Put(s.buf)
}

// read returns the next records, none at the end. They are valid until the next read, and their
// bytes as long as the storage says.
func (s *scanner) read() ([]Record, error) {
	if s.size == 0 {
		return nil, nil
	}
	s.moves = *s.t.moves
	n, err := s.t.s.Scan(s.start, s.from, s.stop, s.buf[:s.size])
	s.used = max(s.used, n)
	if err != nil || n < s.size {
		s.size = 0
		return s.buf[:n], err
	}
	s.goOn(s.buf[n-1].Key)
	s.size = min(4*s.size, scanMost)
	return s.buf[:n], nil
}

// goOn lets the next read begin behind key.
func (s *scanner) goOn(key []byte) {
	s.from = key
	if s.start.Backward() {
		s.start = Before
	} else {
		s.start = After
	}
}

// keep remembers the key that the caller of an iteration is about to have.
func (s *scanner) keep(key []byte) {
	if !s.t.readOnly {
		s.last = append(s.last[:0], key...)
	}
}

// moved reports whether records were moved, by a write to another tree of the transaction, since
// the last read: those in hand are spoiled then, and the next read goes on behind the last key.
func (s *scanner) moved() bool {
	if *s.t.moves == s.moves {
		return false
	}
	s.goOn(s.last)
	s.size = scanFirst
	return true
}

// check returns why reading cannot go on after the caller of an iteration had its turn.
func (s *scanner) check() error {
	if s.t.writes == s.writes {
		return nil
	}
	if s.t.err != nil {
		return s.t.err
	}
	return ErrWritten
}

// each calls fn with the records to come until it returns false, and closes s.
func (s *scanner) each(fn func(*Record) bool) error {
	defer s.close()
	for {
		recs, err := s.read()
		if err != nil || len(recs) == 0 {
			return err
		}
		for i := range recs {
			if len(recs[i].Value) < s.t.rule.Len {
				return corruptRecord(recs[i].Key)
			}
			s.keep(recs[i].Key)
			if !fn(&recs[i]) {
				return nil
			}
			if err := s.check(); err != nil {
				return err
			}
			if s.moved() {
				break
			}
		}
	}
}

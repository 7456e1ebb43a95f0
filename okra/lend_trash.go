//go:build okra_trash

package okra

import (
	"errors"

	"github.com/okradb/okra-go/tree"
)

// A lender hands out copies of what a Tx reads and overwrites them when their time ends: at the
// next write that reaches the table, and at the end of the transaction. LMDB leaves the bytes
// alone for longer sometimes, and so hides that somebody keeps them.
type lender struct{ s *trashing }

// storage returns s with copies for its bytes.
func (l *lender) storage(tx *Tx, s tree.Storage) tree.Storage {
	if s == nil {
		return nil
	}
	l.s = &trashing{Storage: s, tx: tx}
	return l.s
}

// value returns a copy of a value, which may be one that waits to be written.
func (l *lender) value(v []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return l.s.lend(v), nil
}

// end ends the time of all that was lent.
func (l *lender) end() {
	if l.s != nil {
		l.s.spoil()
	}
}

// trashing is a storage that lends copies of another's bytes.
type trashing struct {
	tree.Storage
	tx    *Tx
	room  []byte   // where the next copies go
	lent  [][]byte // the memory of the copies
	chunk int      // size of the last
}

// Sizes of the memory that copies share: there may be many of them.
const (
	chunkLeast = 1 << 12
	chunkMost  = 1 << 20
)

// lend returns a copy of b.
func (s *trashing) lend(b []byte) []byte {
	if b == nil {
		return nil
	}
	if s.room == nil || len(b) > cap(s.room)-len(s.room) {
		s.chunk = min(max(2*s.chunk, chunkLeast), chunkMost)
		s.room = make([]byte, 0, max(s.chunk, len(b)))
		s.lent = append(s.lent, s.room)
	}
	begin := len(s.room)
	s.room = append(s.room, b...)
	return s.room[begin:len(s.room):len(s.room)]
}

// spoil overwrites all copies. Their memory is not used again, or they might look right.
func (s *trashing) spoil() {
	for _, c := range s.lent {
		c = c[:cap(c)]
		for i := range c {
			c[i] = 0xa5
		}
	}
	s.room, s.lent, s.chunk = nil, nil, 0
}

// errGoroutine says that a writing Tx was handed to another goroutine: LMDB ties it to a thread.
var errGoroutine = errors.New("transaction is used outside its goroutine")

func (s *trashing) check() error {
	if s.tx.writes && !s.tx.db.env.InUpdate() {
		return errGoroutine
	}
	return nil
}

// Get implements tree.Storage.
func (s *trashing) Get(prefix byte, key []byte) ([]byte, bool, error) {
	if err := s.check(); err != nil {
		return nil, false, err
	}
	v, ok, err := s.Storage.Get(prefix, key)
	return s.lend(v), ok, err
}

// Scan implements tree.Storage.
func (s *trashing) Scan(start tree.Start, from, stop []byte, out []tree.Record) (int, error) {
	if err := s.check(); err != nil {
		return 0, err
	}
	n, err := s.Storage.Scan(start, from, stop, out)
	for i := range out[:n] {
		out[i] = tree.Record{Key: s.lend(out[i].Key), Value: s.lend(out[i].Value)}
	}
	return n, err
}

// Gather implements tree.Storage.
func (s *trashing) Gather(questions *tree.Batch, rule tree.Rule, out *tree.Gathered) error {
	err := s.Storage.Gather(questions, rule, out)
	for i := range out.Runs {
		out.Runs[i].First = s.lend(out.Runs[i].First)
	}
	out.End = s.lend(out.End)
	return err
}

// Floor implements tree.Storage.
func (s *trashing) Floor(keys *tree.Batch, out []tree.Record) error {
	if err := s.check(); err != nil {
		return err
	}
	err := s.Storage.Floor(keys, out)
	for i := range out[:keys.Len()] {
		out[i] = tree.Record{Key: s.lend(out[i].Key), Value: s.lend(out[i].Value)}
	}
	return err
}

// Apply implements tree.Storage.
func (s *trashing) Apply(b *tree.Batch, rule tree.Rule, effects []tree.Effect, olds []byte) error {
	if err := s.check(); err != nil {
		return err
	}
	s.spoil()
	return s.Storage.Apply(b, rule, effects, olds)
}

// Append implements tree.Storage.
func (s *trashing) Append(b *tree.Batch) error {
	s.spoil()
	return s.Storage.Append(b)
}

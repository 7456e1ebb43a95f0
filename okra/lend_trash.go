//go:build okra_trash

package okra

import (
	"errors"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
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
	l.s = &trashing{Trashing: treetest.Trashing{Storage: s}, tx: tx}
	return l.s
}

// value returns a copy of a value, which may be one that waits to be written.
func (l *lender) value(v []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return l.s.Lend(v), nil
}

// end ends the time of all that was lent.
func (l *lender) end() {
	if l.s != nil {
		l.s.Spoil()
	}
}

// trashing also refuses calls from a goroutine that is not the transaction's.
type trashing struct {
	treetest.Trashing
	tx *Tx
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
	return s.Trashing.Get(prefix, key)
}

// Scan implements tree.Storage.
func (s *trashing) Scan(start tree.Start, from, stop []byte, out []tree.Record) (int, error) {
	if err := s.check(); err != nil {
		return 0, err
	}
	return s.Trashing.Scan(start, from, stop, out)
}

// Floor implements tree.Storage.
func (s *trashing) Floor(keys *tree.Batch, out []tree.Record) error {
	if err := s.check(); err != nil {
		return err
	}
	return s.Trashing.Floor(keys, out)
}

// Apply implements tree.Storage.
func (s *trashing) Apply(b *tree.Batch, rule tree.Rule, effects []tree.Effect, olds []byte) error {
	if err := s.check(); err != nil {
		return err
	}
	return s.Trashing.Apply(b, rule, effects, olds)
}

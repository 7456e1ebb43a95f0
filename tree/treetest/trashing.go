package treetest

import (
	"bytes"

	"github.com/okradb/okra-go/tree"
)

// Trashing is a Storage that hands out copies of the bytes of another and spoils them at the
// next Apply or Append, as a database that moves its pages does.
type Trashing struct {
	tree.Storage
	lent [][]byte
}

// lend returns a copy of b to be spoiled later.
func (s *Trashing) lend(b []byte) []byte {
	if b == nil {
		return nil
	}
	c := append(make([]byte, 0, len(b)), b...)
	s.lent = append(s.lent, c)
	return c
}

// Spoil overwrites all that was lent, as the end of a transaction does.
func (s *Trashing) Spoil() {
	for _, b := range s.lent {
		copy(b, bytes.Repeat([]byte{0xa5}, len(b)))
	}
	s.lent = s.lent[:0]
}

// Get implements tree.Storage.
func (s *Trashing) Get(prefix byte, key []byte) ([]byte, bool, error) {
	v, ok, err := s.Storage.Get(prefix, key)
	return s.lend(v), ok, err
}

// Scan implements tree.Storage.
func (s *Trashing) Scan(start tree.Start, from, stop []byte, out []tree.Record) (int, error) {
	n, err := s.Storage.Scan(start, from, stop, out)
	for i := range out[:n] {
		out[i] = tree.Record{Key: s.lend(out[i].Key), Value: s.lend(out[i].Value)}
	}
	return n, err
}

// Gather implements tree.Storage.
func (s *Trashing) Gather(questions *tree.Batch, rule tree.Rule, out *tree.Gathered) error {
	err := s.Storage.Gather(questions, rule, out)
	for i := range out.Runs {
		out.Runs[i].First = s.lend(out.Runs[i].First)
	}
	out.End = s.lend(out.End)
	return err
}

// Floor implements tree.Storage.
func (s *Trashing) Floor(keys *tree.Batch, out []tree.Record) error {
	err := s.Storage.Floor(keys, out)
	for i := range out[:keys.Len()] {
		out[i] = tree.Record{Key: s.lend(out[i].Key), Value: s.lend(out[i].Value)}
	}
	return err
}

// Apply implements tree.Storage.
func (s *Trashing) Apply(b *tree.Batch, rule tree.Rule, effects []tree.Effect, olds []byte) error {
	s.Spoil()
	return s.Storage.Apply(b, rule, effects, olds)
}

// Append implements tree.Storage.
func (s *Trashing) Append(b *tree.Batch) error {
	s.Spoil()
	return s.Storage.Append(b)
}

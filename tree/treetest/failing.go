package treetest

import (
	"errors"

	"github.com/okradb/okra-go/tree"
)

// ErrInjected is the error of a call that a Failing fails.
var ErrInjected = errors.New("failed on purpose")

// Failing is a Storage one of whose calls fails with ErrInjected, in one of two ways: it is
// not done, or it is done and reported as failed all the same. The calls before and after it
// work, so that whoever goes on after the error is found out.
type Failing struct {
	tree.Storage
	At    int  // the call that fails, counted from 1; 0 means none
	Done  bool // it is done nevertheless
	Calls int  // calls made so far
}

// Failed reports whether the call to fail has been made.
func (s *Failing) Failed() bool { return s.At > 0 && s.Calls >= s.At }

// call counts a call and makes it by do, unless it is the one that fails.
func (s *Failing) call(do func() error) error {
	s.Calls++
	if s.Calls != s.At {
		return do()
	}
	if s.Done {
		if err := do(); err != nil {
			return err
		}
	}
	return ErrInjected
}

// Get implements tree.Storage.
func (s *Failing) Get(prefix byte, key []byte) (value []byte, ok bool, err error) {
	err = s.call(func() (err error) {
		value, ok, err = s.Storage.Get(prefix, key)
		return err
	})
	return value, ok, err
}

// Scan implements tree.Storage.
func (s *Failing) Scan(start tree.Start, from, stop []byte, out []tree.Record) (n int, err error) {
	err = s.call(func() (err error) {
		n, err = s.Storage.Scan(start, from, stop, out)
		return err
	})
	return n, err
}

// Gather implements tree.Storage.
func (s *Failing) Gather(starts *tree.Batch, rule tree.Rule, out *tree.Gathered) error {
	return s.call(func() error { return s.Storage.Gather(starts, rule, out) })
}

// Floor implements tree.Storage.
func (s *Failing) Floor(keys *tree.Batch, out []tree.Record) error {
	return s.call(func() error { return s.Storage.Floor(keys, out) })
}

// Apply implements tree.Storage.
func (s *Failing) Apply(b *tree.Batch, rule tree.Rule, effects []tree.Effect, olds []byte) error {
	return s.call(func() error { return s.Storage.Apply(b, rule, effects, olds) })
}

// Append implements tree.Storage.
func (s *Failing) Append(b *tree.Batch) error {
	return s.call(func() error { return s.Storage.Append(b) })
}

// Count implements tree.Storage.
func (s *Failing) Count() (n int64, err error) {
	err = s.call(func() (err error) {
		n, err = s.Storage.Count()
		return err
	})
	return n, err
}

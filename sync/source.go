package sync

import (
	"bytes"
	"errors"

	"github.com/okradb/okra-go/okra"
)

// source streams entries of a keySet, as they are now: a key that has gone meanwhile is left
// out. It holds no transaction while it writes to the peer.
type source struct {
	r      replica
	keys   *keySet
	window window
	work   *Budget
	salt   salt

	i    int    // range under way
	key  []byte // in it: the last key read, nil at its start
	mem  arena
	size int // bytes of what was read
	list []item
}

const (
	sourceBytes = 256 << 10 // read in one transaction
	sourceItems = 4096
)

// read returns the next entries as items of kind itemValue, which are valid until the next call.
// At the end there are none. A value over the limit is left out, as an itemTooLarge.
func (s *source) read(limit int64, values bool) ([]item, error) {
	s.list, s.size = s.list[:0], 0
	s.mem.reset(2 * sourceBytes)
	err := s.r.view(func(tx *okra.Tx) error {
		for s.i < s.keys.len() && s.size < sourceBytes && len(s.list) < sourceItems {
			done, err := s.readRange(tx, s.keys.at(s.i), limit, values)
			if err != nil {
				return err
			}
			if done {
				s.i, s.key = s.i+1, s.key[:0]
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.list, s.work.take(len(s.list))
}

// readRange reads what is left of a range, or some of it.
func (s *source) readRange(tx *okra.Tx, r keyRange, limit int64, values bool) (done bool, err error) {
	b := okra.Bounds{GE: s.window.lower, LT: s.window.upper}
	if len(b.GE) == 0 || bytes.Compare(r.from, b.GE) > 0 {
		b.GE = r.from
	}
	if len(b.GE) == 0 {
		b.GE = nil
	}
	if r.to != nil && (b.LT == nil || bytes.Compare(r.to, b.LT) < 0) {
		b.LT = r.to
	}
	if r.one {
		b.LE = r.from
	}
	if len(s.key) > 0 {
		b.GT = s.key
	}
	for e, err := range tx.Range(b) {
		if err != nil {
			return false, err
		}
		s.add(e, limit, values)
		if s.size >= sourceBytes || len(s.list) >= sourceItems {
			s.key = append(s.key[:0], e.Key...)
			return false, nil
		}
	}
	return true, nil
}

func (s *source) add(e okra.Entry, limit int64, values bool) {
	i := item{kind: itemName, hash: e.Hash(), size: int64(len(e.Value))}
	switch {
	case i.size > limit:
		i.kind = itemTooLarge
	case values:
		i.kind = itemValue
		var buf [32]byte
		i.check = check(s.salt.sum(i.hash, buf[:]))
	}
	i.key = s.keep(e.Key)
	if i.kind == itemValue {
		i.value = s.keep(e.Value)
	}
	s.list = append(s.list, i)
}

func (s *source) keep(b []byte) []byte {
	s.size += len(b) + 1
	return s.mem.keep(b, sourceBytes+sourceBytes/8)
}

// lookUp returns the value under key and whether there is one.
func lookUp(tx *okra.Tx, key []byte) (value []byte, ok bool, err error) {
	value, err = tx.Get(key)
	if errors.Is(err, okra.ErrNotFound) {
		return nil, false, nil
	}
	return value, err == nil, err
}

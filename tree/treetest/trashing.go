package treetest

import "github.com/okradb/okra-go/tree"

// Trashing is a Storage that hands out copies of the bytes of another and spoils them at the
// next Apply or Append, as a database that moves its pages does.
type Trashing struct {
	tree.Storage
	room  []byte   // where the next copies go
	lent  [][]byte // the memory of the copies
	chunk int      // size of the last
}

// Sizes of the memory that copies share: there may be many of them.
const (
	chunkLeast = 1 << 12
	chunkMost  = 1 << 20
)

// Lend returns a copy of b to be spoiled later.
func (s *Trashing) Lend(b []byte) []byte {
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

// Spoil overwrites all that was lent, as the end of a transaction does. The memory is not used
// again, or it might look right.
func (s *Trashing) Spoil() {
	for _, c := range s.lent {
		c = c[:cap(c)]
		for i := range c {
			c[i] = 0xa5
		}
	}
	s.room, s.lent, s.chunk = nil, nil, 0
}

// Get implements tree.Storage.
func (s *Trashing) Get(prefix byte, key []byte) ([]byte, bool, error) {
	v, ok, err := s.Storage.Get(prefix, key)
	return s.Lend(v), ok, err
}

// Scan implements tree.Storage.
func (s *Trashing) Scan(start tree.Start, from, stop []byte, out []tree.Record) (int, error) {
	n, err := s.Storage.Scan(start, from, stop, out)
	for i := range out[:n] {
		out[i] = tree.Record{Key: s.Lend(out[i].Key), Value: s.Lend(out[i].Value)}
	}
	return n, err
}

// Gather implements tree.Storage.
func (s *Trashing) Gather(questions *tree.Batch, rule tree.Rule, out *tree.Gathered) error {
	err := s.Storage.Gather(questions, rule, out)
	for i := range out.Runs {
		out.Runs[i].First = s.Lend(out.Runs[i].First)
	}
	out.End = s.Lend(out.End)
	return err
}

// Floor implements tree.Storage.
func (s *Trashing) Floor(keys *tree.Batch, out []tree.Record) error {
	err := s.Storage.Floor(keys, out)
	for i := range out[:keys.Len()] {
		out[i] = tree.Record{Key: s.Lend(out[i].Key), Value: s.Lend(out[i].Value)}
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

package tree_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

// counting is a Storage that counts the records that go through it.
type counting struct {
	tree.Storage
	read    int // records that an answer is made of
	leaves  int // of these, leaves whose hashes were gathered
	written int // records put or deleted that were not so before
	asked   int // records handed to Apply and Append
}

func (s *counting) Get(prefix byte, key []byte) ([]byte, bool, error) {
	s.read++
	return s.Storage.Get(prefix, key)
}

func (s *counting) Scan(start tree.Start, from, stop []byte, out []tree.Record) (int, error) {
	n, err := s.Storage.Scan(start, from, stop, out)
	s.read += n
	return n, err
}

func (s *counting) Gather(starts *tree.Batch, rule tree.Rule, out *tree.Gathered) error {
	err := s.Storage.Gather(starts, rule, out)
	s.read += len(out.Hashes) / rule.Len
	if q, _, ok := starts.Next(0); ok && q.Key[0] == 0 {
		s.leaves += len(out.Hashes) / rule.Len
	}
	return err
}

func (s *counting) Floor(keys *tree.Batch, out []tree.Record) error {
	s.read += keys.Len()
	return s.Storage.Floor(keys, out)
}

func (s *counting) Apply(b *tree.Batch, rule tree.Rule, effects []tree.Effect, olds []byte) error {
	err := s.Storage.Apply(b, rule, effects, olds)
	s.asked += b.Len()
	for _, e := range effects[:b.Len()] {
		if e&tree.Unchanged == 0 {
			s.written++
		}
	}
	return err
}

func (s *counting) Append(b *tree.Batch) error {
	s.asked += b.Len()
	s.written += b.Len()
	return s.Storage.Append(b)
}

// Writing what is stored already changes no record, and no node is looked at.
func TestM8SameValueAgain(t *testing.T) {
	const n = 1000
	for _, f := range []tree.Format{{Q: 2}, {Q: 32}, {Q: 4, Mode: tree.Index}} {
		m, f := create(t, f)
		put := func(tr *tree.Tree) error {
			for i := range n {
				if err := tr.Put(u32(i), fmt.Appendf(nil, "value %d", i)); err != nil {
					return err
				}
			}
			return nil
		}
		write(t, m, f, put)
		before := slices.Clone(m.Records())
		s := &counting{Storage: m}
		write(t, s, f, put)
		write(t, s, f, func(tr *tree.Tree) error { return tr.Delete([]byte("absent")) })
		if s.written != 0 || s.asked != n+1 {
			t.Errorf("%s: %d records written, %d handed over, want 0 and %d",
				f, s.written, s.asked, n+1)
		}
		if s.read > 8 {
			t.Errorf("%s: %d records were read", f, s.read)
		}
		same := func(a, b tree.Record) bool { return &a.Value[0] == &b.Value[0] }
		if !slices.EqualFunc(before, m.Records(), same) {
			t.Errorf("%s: records were put again", f)
		}
	}
}

// A batch rehashes each node once, however many of its children it writes.
func TestM17EachNodeOnce(t *testing.T) {
	const n = 5000
	m, f := create(t, tree.Format{Q: 32})
	put := func(value string) func(tr *tree.Tree) error {
		return func(tr *tree.Tree) error {
			for i := range n {
				if err := tr.Put(u32(i), []byte(value)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	write(t, m, f, put("old"))
	s := &counting{Storage: m}
	write(t, s, f, put("new"))
	leaves := map[string]treetest.Leaf{}
	for i := range n {
		leaves[string(u32(i))] = treetest.Leaf{
			Value: []byte("new"), Hash: tree.LeafHash(f.K, u32(i), []byte("new")),
		}
	}
	check(t, m, f, leaves)
	// Old nodes go, new ones come; each record is read once, and looked for once by Floor.
	if above := len(m.Records()) - n; s.asked > n+3*above {
		t.Errorf("%d records handed over for %d leaves and %d nodes above", s.asked, n, above)
	}
	if s.read > 2*len(m.Records())+len(m.Records())/4 {
		t.Errorf("%d records read of %d", s.read, len(m.Records()))
	}
}

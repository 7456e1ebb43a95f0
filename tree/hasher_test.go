package tree_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/zeebo/blake3"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

// hasher is a Storage that hashes many messages at once, or refuses to.
type hasher struct {
	tree.Storage
	refuse bool
	asked  atomic.Int64 // messages it was asked to hash
}

func (s *hasher) HashMany(joined []byte, ends []int, size int, sums []byte) bool {
	s.asked.Add(int64(len(ends)))
	if s.refuse {
		clear(sums)
		return false
	}
	begin := 0
	for i, end := range ends {
		sum := blake3.Sum256(joined[begin:end])
		copy(sums[i*size:][:size], sum[:])
		begin = end
	}
	return true
}

// A storage that can hash many messages at once is asked to, in a load and in repairs, and the
// tree is the same whether it does so or not.
func TestHasher(t *testing.T) {
	for _, refuse := range []bool{false, true} {
		for _, k := range []int{4, 16, 32} {
			m, f := create(t, tree.Format{K: k, Q: 8})
			leaves := map[string]treetest.Leaf{}
			for round, step := range []int{1, 7, 100} {
				s := &hasher{Storage: m, refuse: refuse}
				write(t, s, f, func(tr *tree.Tree) error {
					for i := 0; i < 5000; i += step {
						value := fmt.Appendf(nil, "%d in round %d", i, round)
						leaves[string(u32(i))] = treetest.Leaf{
							Value: value, Hash: tree.LeafHash(f.K, u32(i), value),
						}
						if err := tr.Put(u32(i), value); err != nil {
							return err
						}
					}
					return nil
				})
				if s.asked.Load() == 0 {
					t.Errorf("K=%d, every %d: nothing was asked to be hashed", k, step)
				}
				check(t, m, f, leaves)
			}
		}
	}
}

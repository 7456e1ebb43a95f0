package tree_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

func TestRootThroughIsThatOfTheEntriesUpToTheKey(t *testing.T) {
	for _, q := range []uint32{2, 3, 4, 32} {
		for _, n := range []int{0, 1, 2, 7, 60, 400} {
			t.Run(fmt.Sprintf("Q=%d n=%d", q, n), func(t *testing.T) {
				random := rand.New(rand.NewPCG(uint64(q), uint64(n)))
				format := tree.Format{K: 16, Q: q, Mode: tree.Store}
				var keys [][]byte
				whole := cutTree(t, format)
				for i := range n {
					key := fmt.Appendf(nil, "%05d", i*10)
					keys = append(keys, key)
					put(t, whole, key, fmt.Append(nil, random.Uint32()))
				}
				part := cutTree(t, format)
				check := func(key []byte) {
					t.Helper()
					want, err := part.Root()
					if err != nil {
						t.Fatal(err)
					}
					got, err := whole.RootThrough(key)
					if err != nil || got != want {
						t.Fatalf("through %q: %v, %v; the tree of these entries has %v", key, got, err, want)
					}
				}
				check(nil)
				check([]byte("!"))
				for _, key := range keys {
					value, err := whole.Get(key)
					if err != nil {
						t.Fatal(err)
					}
					put(t, part, key, bytes.Clone(value))
					check(key)
					check(append(bytes.Clone(key), 0))
				}
				check([]byte("~"))
			})
		}
	}
}

func cutTree(t *testing.T, f tree.Format) *tree.Tree {
	t.Helper()
	s := new(treetest.Memory)
	f, err := tree.Create(s, f)
	if err != nil {
		t.Fatal(err)
	}
	return tree.New(s, f, new(tree.Buffers))
}

func put(t *testing.T, tr *tree.Tree, key, value []byte) {
	t.Helper()
	if err := tr.Put(key, value); err != nil {
		t.Fatal(err)
	}
}

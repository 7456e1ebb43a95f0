package tree_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

// filled returns a tree of n entries.
func filled(t *testing.T, f tree.Format, n int) (*treetest.Memory, tree.Format, map[string]treetest.Leaf) {
	t.Helper()
	m, f := create(t, f)
	leaves := map[string]treetest.Leaf{}
	write(t, m, f, func(tr *tree.Tree) error {
		for i := range n {
			v := fmt.Appendf(nil, "value %d", i)
			leaves[string(u32(i))] = treetest.Leaf{Value: v, Hash: tree.LeafHash(f.K, u32(i), v)}
			if err := tr.Put(u32(i), v); err != nil {
				return err
			}
		}
		return nil
	})
	return m, f, leaves
}

// With the children of a node in the cache, a write reads none of them.
func TestCacheSparesReading(t *testing.T) {
	m, f, leaves := filled(t, tree.Format{Q: 32}, 5000)
	cache := tree.NewCache(1 << 20)
	put := func(key int, value string) (read int) {
		s := &counting{Storage: m}
		tr := tree.New(s, f, &tree.Buffers{})
		tr.Remember(cache)
		if err := tr.Put(u32(key), []byte(value)); err != nil {
			t.Fatal(err)
		}
		if err := tr.Flush(); err != nil {
			t.Fatal(err)
		}
		leaves[string(u32(key))] = treetest.Leaf{
			Value: []byte(value), Hash: tree.LeafHash(f.K, u32(key), []byte(value)),
		}
		check(t, m, f, leaves)
		return s.leaves
	}
	rule := f.Rule()
	plain := func(key int, value string) bool {
		return !rule.Boundary(tree.LeafHash(f.K, u32(key), []byte(value)).Bytes())
	}
	first := 0
	for key := 0; key < 5000; key += 97 {
		a, b := fmt.Sprint("a", key), fmt.Sprint("b", key)
		if rule.Boundary(leaves[string(u32(key))].Hash.Bytes()) || !plain(key, a) || !plain(key, b) {
			continue
		}
		first += put(key, a)
		if n := put(key, b); n > 0 {
			t.Errorf("the second put of %d reads %d leaves", key, n)
		}
	}
	if first < 32*20 {
		t.Errorf("only %d leaves were read at first", first)
	}
}

// The cache neither grows past its limit nor gives children of another node.
func TestCacheBounds(t *testing.T) {
	m, f, leaves := filled(t, tree.Format{Q: 4}, 3000)
	cache := tree.SmallCache()
	rng := rand.New(rand.NewPCG(1, 1))
	for round := range 300 {
		tr := tree.New(m, f, tree.SmallBuffers(1<<12))
		tr.Remember(cache)
		for range 1 + rng.IntN(20) {
			k, v := u32(rng.IntN(4000)), binary.BigEndian.AppendUint32(nil, rng.Uint32())
			leaves[string(k)] = treetest.Leaf{Value: v, Hash: tree.LeafHash(f.K, k, v)}
			if err := tr.Put(k, v); err != nil {
				t.Fatal(err)
			}
		}
		if err := tr.Flush(); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if n := cache.Bytes(); n > 2<<10 {
			t.Fatalf("round %d: the cache holds %d bytes", round, n)
		}
	}
	check(t, m, f, leaves)
	if cache.Bytes() == 0 {
		t.Error("nothing is remembered")
	}
}

// A full cache takes the memory that it may, however small the nodes are.
func TestCacheMemory(t *testing.T) {
	const limit = 8 << 20
	for _, children := range []int{1, 2, 32} {
		before := heap()
		cache := tree.NewCache(limit)
		hash, joined := make([]byte, 16), make([]byte, 16*children)
		for i := range uint64(400_000) {
			binary.NativeEndian.PutUint64(hash, i)
			cache.Put(hash, joined)
		}
		if n := heap() - before; n < limit/2 || n > limit*5/4 {
			t.Errorf("with %d children it takes %d bytes of %d", children, n, limit)
		}
		runtime.KeepAlive(cache)
	}
}

// heap returns the bytes in use.
func heap() int64 {
	var m runtime.MemStats
	for range 3 { // pools, of earlier tests too, keep what they have for one collection more
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Hashes of the caller's own may be equal: then no child is taken for another.
func TestCacheEqualHashes(t *testing.T) {
	m, f := create(t, tree.Format{Q: 8, Mode: tree.Index})
	cache := tree.NewCache(1 << 20)
	rng := rand.New(rand.NewPCG(2, 2))
	leaves := map[string]treetest.Leaf{}
	for round := range 400 {
		tr := tree.New(m, f, &tree.Buffers{})
		tr.Remember(cache)
		for range 1 + rng.IntN(6) {
			k := u32(rng.IntN(300))
			h, err := tree.HashFrom(bytes.Repeat([]byte{byte(0x80 + rng.IntN(3))}, f.K))
			if err != nil {
				t.Fatal(err)
			}
			if rng.IntN(16) == 0 {
				h = tree.LeafHash(f.K, k, nil)
			}
			leaves[string(k)] = treetest.Leaf{Hash: h}
			if err := tr.PutHash(k, h); err != nil {
				t.Fatal(err)
			}
		}
		if err := tr.Flush(); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		check(t, m, f, leaves)
	}
}

// Short hashes may name two nodes: no such node is remembered.
func TestCacheShortHashes(t *testing.T) {
	for k, remembered := range map[int]bool{4: false, 15: false, 16: true, 32: true} {
		m, f, _ := filled(t, tree.Format{K: k, Q: 4}, 100)
		cache := tree.NewCache(1 << 20)
		tr := tree.New(m, f, &tree.Buffers{})
		tr.Remember(cache)
		if err := tr.Put([]byte("key"), []byte("value")); err != nil {
			t.Fatal(err)
		}
		if err := tr.Flush(); err != nil {
			t.Fatal(err)
		}
		if got := cache.Bytes() > 0; got != remembered {
			t.Errorf("K=%d: remembered is %t", k, got)
		}
	}
}

// A bulk load leaves the parents of its leaves in the cache.
func TestCacheAfterLoad(t *testing.T) {
	m, f := create(t, tree.Format{Q: 8})
	cache := tree.NewCache(1 << 20)
	tr := tree.New(m, f, &tree.Buffers{})
	tr.Remember(cache)
	for i := range 2000 {
		if err := tr.Put(u32(i), []byte("value")); err != nil {
			t.Fatal(err)
		}
	}
	if err := tr.Flush(); err != nil {
		t.Fatal(err)
	}
	nodes := 0
	for n, err := range tree.New(m, f, nil).Nodes(1, tree.Bounds{}) {
		if err != nil {
			t.Fatal(err)
		}
		nodes++
		if !cache.Knows(n.Hash.Bytes()) {
			t.Errorf("the node at %x is not remembered", n.Key)
		}
	}
	if nodes < 100 {
		t.Errorf("only %d nodes", nodes)
	}
}

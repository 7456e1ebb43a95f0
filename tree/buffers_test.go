package tree_test

import (
	"bytes"
	"runtime"
	"testing"
	"weak"

	"github.com/okradb/okra-go/tree"
)

// Buffers that are kept for another tree keep neither the last one, nor its cache, nor bytes that
// its storage lent.
func TestReleaseLetsGo(t *testing.T) {
	m, f, _ := filled(t, tree.Format{K: 32, Q: 4}, 3000)
	cache, buf := tree.NewCache(1<<20), &tree.Buffers{}
	for _, value := range []string{"one", "two"} {
		tr := tree.New(m, f, buf)
		tr.Remember(cache)
		for i := range 50 {
			if err := tr.Put(u32(60*i), []byte(value)); err != nil {
				t.Fatal(err)
			}
		}
		if err := tr.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if cache.Bytes() == 0 {
		t.Fatal("nothing is remembered")
	}
	buf.Release()
	var lent []weak.Pointer[byte]
	for _, r := range m.Records() {
		lent = append(lent, weak.Make(&r.Value[0]))
	}
	remembered := weak.Make(cache)
	m, cache = nil, nil
	runtime.GC()
	if remembered.Value() != nil {
		t.Error("the cache is still there")
	}
	for _, value := range lent {
		if value.Value() != nil {
			t.Fatal("a value of the storage is still there")
		}
	}
	runtime.KeepAlive(buf)
}

// The memory that a large transaction needed does not outlive it.
func TestReleaseGivesBack(t *testing.T) {
	m, f := create(t, tree.Format{})
	buf := &tree.Buffers{}
	tr := tree.New(m, f, buf)
	for i := range 1<<16 + 1<<10 {
		if err := tr.Put(u32(i), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := tr.Flush(); err != nil {
		t.Fatal(err)
	}
	m.Set(append([]byte{0}, u32(7)...), bytes.Repeat([]byte("wrong"), 1<<20))
	if _, err := tr.Rebuild(nil, nil); err != nil {
		t.Fatal(err)
	}
	refs, batch := buf.Held()
	buf.Release()
	runtime.GC()
	if refs.Value() != nil {
		t.Error("the memory for sorting writes is still there")
	}
	if batch.Value() != nil {
		t.Error("the memory for a mended leaf is still there")
	}
	runtime.KeepAlive(buf)
}

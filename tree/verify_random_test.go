package tree_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

// A tree is found sound after each of any writes, and a rebuild of it changes nothing. One bit
// that flips in any record is found, and a rebuild makes the tree of the leaves that are left.
func TestM13RandomDamage(t *testing.T) {
	rounds, flips := 12, 40
	if testing.Short() {
		rounds, flips = 6, 20
	}
	base := seed(t)
	for _, f := range formats() {
		t.Run(f.String(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(base, 2))
			m, f := create(t, f)
			h := treetest.NewHistory(base, f, 40)
			for range rounds {
				write(t, m, f, func(tr *tree.Tree) error { return h.Write(tr, 40) })
				if got := problemsOf(t, m, f); len(got) > 0 {
					t.Fatalf("a sound tree: %q", got)
				}
				for range flips {
					flipped(t, rng, m.Clone(), f)
				}
			}
			r := rebuild(t, m, f)
			if !r.Trusted() || r.Before != r.After || r.Entries != int64(len(h.Leaves)) {
				t.Errorf("a rebuild of a sound tree: %+v", r)
			}
			check(t, m, f, h.Leaves)
		})
	}
}

// flipped flips one bit of one record of m.
func flipped(t *testing.T, rng *rand.Rand, m *treetest.Memory, f tree.Format) {
	t.Helper()
	before := m.Clone()
	r := m.Records()[rng.IntN(len(m.Records()))]
	key, value := bytes.Clone(r.Key), bytes.Clone(r.Value)
	bit := rng.IntN(8 * (len(key) + len(value)))
	if n := 8 * len(key); bit < n {
		key[bit/8] ^= 1 << (bit % 8)
	} else {
		value[(bit-n)/8] ^= 1 << (bit % 8)
	}
	m.Remove(r.Key)
	m.Set(key, value)
	what := fmt.Sprintf("record %x -> %x as %x -> %x", r.Key, r.Value, key, value)
	if got := problemsOf(t, m, f); len(got) == 0 && !silent(before, m, f) {
		t.Errorf("%s: nothing is found", what)
	}
	leaves := leavesIn(m, f)
	rebuilt := rebuild(t, m, f)
	check(t, m, f, leaves)
	if got := problemsOf(t, m, f); len(got) > 0 {
		t.Errorf("%s: after a rebuild: %q", what, got)
	}
	same := rebuilt.After == rootOf(t, before, f)
	if rebuilt.Trusted() && !same && !silent(before, m, f) {
		t.Errorf("%s: the rebuild trusts other entries: %+v", what, rebuilt)
	}
}

// silent reports whether the two differ only in keys that no hash covers: those of leaves in
// index mode that are no boundaries, and keep their order.
func silent(a, b *treetest.Memory, f tree.Format) bool {
	if f.Mode != tree.Index || len(a.Records()) != len(b.Records()) {
		return false
	}
	for i, r := range a.Records() {
		o := b.Records()[i]
		leaf := r.Key[0] == 0 && o.Key[0] == 0 && len(r.Key) > 1 && len(o.Key) > 1
		if !bytes.Equal(r.Value, o.Value) || !bytes.Equal(r.Key, o.Key) && !leaf ||
			!bytes.Equal(r.Key, o.Key) && f.Rule().Boundary(r.Value) {
			return false
		}
	}
	return true
}

// Records of any kind, and no order in them but that of their keys: Verify and Rebuild end, and
// after the one there is nothing for the other.
func FuzzVerify(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x04\x01\x04\xff\x0b"))
	f.Add([]byte("\x01\x00\x00\x04\x00a\x00\x05\x00b\x00\x03\x01\x04\x01a\x01\x04\x02\x04"))
	f.Add([]byte("\x02\x00\x00\x04\x00a\x00\x05\x02\x04\x03a\x07\x04\xfea\x01\x04\xff\x0b\xffa\x03"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 || len(data) > 1<<10 {
			return
		}
		format := tree.Format{K: 4 + int(data[0]>>4), Q: 2 + uint32(data[0]&3), Mode: tree.Store}
		if data[0]&4 != 0 {
			format.Mode = tree.Index
		}
		m := records(data[1:], format)
		all, err := verify(tree.New(m, format, nil))
		if err != nil {
			t.Fatalf("after %d problems: %v", len(all), err)
		}
		for _, p := range all {
			if p.Kind == tree.Hidden || p.String() == "" || p.Kind.String() == "" {
				t.Fatalf("problem %+v", p)
			}
		}
		leaves := leavesIn(m, format)
		r := rebuild(t, m, format)
		if r.Entries != int64(len(leaves)) || len(all) == 0 && !r.Trusted() {
			t.Errorf("%d problems, then %+v", len(all), r)
		}
		check(t, m, format, leaves)
		if got := problemsOf(t, m, format); len(got) > 0 {
			t.Errorf("after a rebuild: %q", got)
		}
	})
}

// records makes records of data: each of a level byte, a byte that is '\0' for the anchor or
// begins a key, and a byte that says how long the value is and what it begins with.
func records(data []byte, f tree.Format) *treetest.Memory {
	m := &treetest.Memory{}
	take := func() (b byte) {
		if len(data) > 0 {
			b, data = data[0], data[1:]
		}
		return b
	}
	for len(data) > 0 {
		key := []byte{take()}
		if b := take(); b != 0 {
			key = append(key, bytes.Repeat([]byte{b}, 1+int(b)/64)...)
		}
		b := take()
		value := bytes.Repeat([]byte{b}, int(b)%(f.K+4))
		switch { // what is right is more of a danger than what is not
		case b >= 0xf0 && len(key) > 1:
			value = append(tree.LeafHash(f.K, key[1:], value).Bytes(), value...)
		case b >= 0xe0:
			value = tree.EmptyHash(f.K).Bytes()
		case b >= 0xd0:
			value = tree.EncodeHeader(f)
		}
		m.Set(key, value)
	}
	return m
}

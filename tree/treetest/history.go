package treetest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/okradb/okra-go/tree"
)

// A Writer takes the writes of a History: a tree.Tree, or what stands on one.
type Writer interface {
	Put(key, value []byte) error
	PutHash(key []byte, h tree.Hash) error
	Delete(key []byte) error
	Get(key []byte) ([]byte, error)
	Has(key []byte) (bool, error)
}

// A History makes random writes from a seed and keeps what the tree must hold after them.
type History struct {
	Format tree.Format
	Leaves map[string]Leaf // the entries after all writes so far

	rng  *rand.Rand
	keys [][]byte // the universe of keys
}

// NewHistory returns a history of writes to about n keys of a tree of format f.
func NewHistory(seed uint64, f tree.Format, n int) *History {
	h := &History{
		Format: f,
		Leaves: map[string]Leaf{},
		rng:    rand.New(rand.NewPCG(seed, 0)),
	}
	long := bytes.Repeat([]byte{0xff}, tree.MaxKey)
	h.keys = append(h.keys, []byte{0}, []byte{0, 0}, []byte{0xff}, []byte{0xff, 0}, long,
		long[:tree.MaxKey-1], []byte("a"), []byte("a\x00"), []byte("ab"))
	for i := range n {
		switch i % 3 {
		case 0:
			h.keys = append(h.keys, binary.BigEndian.AppendUint32(nil, uint32(i)))
		case 1:
			h.keys = append(h.keys, fmt.Appendf(nil, "a long common prefix/%d", i))
		default:
			k := make([]byte, 1+h.rng.IntN(12))
			for j := range k {
				k[j] = byte(h.rng.Uint32())
			}
			h.keys = append(h.keys, k)
		}
	}
	return h
}

// Write makes up to n random writes and checks some of them by reading back at once.
func (h *History) Write(w Writer, n int) error {
	switch h.rng.IntN(12) {
	case 0:
		return h.empty(w)
	case 1:
		return h.edges(w)
	}
	for range 1 + h.rng.IntN(n) {
		key := h.keys[h.rng.IntN(len(h.keys))]
		var err error
		switch h.rng.IntN(10) {
		case 0, 1, 2:
			err = h.delete(w, key)
		case 3:
			err = h.again(w, key)
		case 4: // two writes of one key in one flush
			if err = h.put(w, key); err == nil && h.rng.IntN(2) == 0 {
				err = h.delete(w, key)
			}
			if err == nil && h.rng.IntN(2) == 0 {
				err = h.put(w, key)
			}
		default:
			err = h.put(w, key)
		}
		if err != nil {
			return err
		}
		if h.rng.IntN(8) == 0 {
			if err := h.read(w, h.keys[h.rng.IntN(len(h.keys))]); err != nil {
				return err
			}
		}
	}
	return nil
}

// put writes a random value, or in index mode sometimes a random hash.
func (h *History) put(w Writer, key []byte) error {
	if h.Format.Mode == tree.Index && h.rng.IntN(2) == 0 {
		b := make([]byte, h.Format.K)
		for i := range b {
			b[i] = byte(h.rng.Uint32())
		}
		hash, err := tree.HashFrom(b)
		if err != nil {
			return err
		}
		h.Leaves[string(key)] = Leaf{Hash: hash}
		return w.PutHash(key, hash)
	}
	value := make([]byte, h.rng.IntN(12))
	for i := range value {
		value[i] = byte(h.rng.Uint32())
	}
	if h.rng.IntN(50) == 0 {
		value = bytes.Repeat(value, 1000)
	}
	leaf := Leaf{Value: value, Hash: tree.LeafHash(h.Format.K, key, value)}
	if h.Format.Mode == tree.Index {
		leaf.Value = nil
	}
	h.Leaves[string(key)] = leaf
	own, ownValue := bytes.Clone(key), bytes.Clone(value)
	err := w.Put(own, ownValue)
	clear(own) // Put copies: the slices are the caller's again
	clear(ownValue)
	return err
}

// again writes what is there already.
func (h *History) again(w Writer, key []byte) error {
	leaf, ok := h.Leaves[string(key)]
	if !ok || h.Format.Mode == tree.Index {
		return h.delete(w, key)
	}
	return w.Put(key, leaf.Value)
}

func (h *History) delete(w Writer, key []byte) error {
	delete(h.Leaves, string(key))
	return w.Delete(key)
}

// read compares one key with the model.
func (h *History) read(w Writer, key []byte) error {
	leaf, want := h.Leaves[string(key)]
	if got, err := w.Has(key); err != nil || got != want {
		return fmt.Errorf("Has(%x) is %t, want %t (%v)", key, got, want, err)
	}
	if !want || h.Format.Mode == tree.Index {
		return nil
	}
	got, err := w.Get(key)
	if err != nil || !bytes.Equal(got, leaf.Value) || got == nil {
		return fmt.Errorf("Get(%x) is %x, want %x (%v)", key, got, leaf.Value, err)
	}
	return nil
}

// empty deletes every entry, or all but one.
func (h *History) empty(w Writer) error {
	all := slices.Sorted(maps.Keys(h.Leaves))
	if h.rng.IntN(2) == 0 && len(all) > 0 {
		all = append(all[:0:0], all[1:]...)
	}
	for _, key := range all {
		if err := h.delete(w, []byte(key)); err != nil {
			return err
		}
	}
	return nil
}

// edges deletes and puts first, last and boundary keys, where a tree changes its shape.
func (h *History) edges(w Writer) error {
	all := slices.Sorted(maps.Keys(h.Leaves))
	if len(all) == 0 {
		return h.put(w, h.keys[0])
	}
	rule := h.Format.Rule()
	for i, key := range all {
		edge := i == 0 || i == len(all)-1 || rule.Boundary(h.Leaves[key].Hash.Bytes())
		if !edge || h.rng.IntN(2) == 0 {
			continue
		}
		err := h.delete(w, []byte(key))
		if err == nil && h.rng.IntN(4) == 0 {
			err = h.put(w, []byte(key))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

package tree_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

// A header is read or refused with a named error; what is read is written the same.
func FuzzDecodeHeader(f *testing.F) {
	f.Add([]byte("okra\x03\x10\x00\x00\x00\x20\x01"))
	f.Add([]byte("okra\x03\x10\x00\x00\x00\x20\x00"))
	f.Add([]byte("okra\x03\x10\x00\x00\x00\x20"))
	f.Add([]byte("okra\x03\x03\x00\x00\x00\x01\x02"))
	f.Add([]byte("okra\x04\x10\x00\x00\x00\x20\x01"))
	f.Add([]byte("okra"))
	f.Fuzz(func(t *testing.T, b []byte) {
		format, err := tree.DecodeHeader(b)
		if err != nil {
			if !errors.Is(err, tree.ErrNotOkra) && !errors.Is(err, tree.ErrFormat) {
				t.Errorf("error %v", err)
			}
			return
		}
		if format.K == 0 || format.Q == 0 || format.Validate() != nil {
			t.Errorf("read %+v", format)
		}
		switch again := tree.EncodeHeader(format); {
		case len(b) == 10 && (format.Mode != tree.AnyMode || !bytes.Equal(again[:10], b)):
			t.Errorf("read %s from 10 bytes", format)
		case len(b) == 11 && !bytes.Equal(again, b):
			t.Errorf("%s is written %x", format, again)
		case len(b) != 10 && len(b) != 11:
			t.Errorf("read %s from %d bytes", format, len(b))
		}
	})
}

// A hash in text is read or refused; what is read is written the same, in lower case.
func FuzzParseHash(f *testing.F) {
	f.Add("af1349b9f5f9a1a6a0404dea36dcc949")
	f.Add("AF1349B9")
	f.Add("af1349b")
	f.Add(strings.Repeat("00", 33))
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		h, err := tree.ParseHash(s)
		if err != nil {
			if h != (tree.Hash{}) {
				t.Errorf("the error %v comes with %s", err, h)
			}
			return
		}
		if h.String() != strings.ToLower(s) || h.Len() != len(s)/2 {
			t.Errorf("%q is read as %s of %d bytes", s, h, h.Len())
		}
		from, err := tree.HashFrom(h.Bytes())
		if err != nil || from != h {
			t.Errorf("its bytes are %s (%v)", from, err)
		}
		if text, err := h.MarshalText(); err != nil || string(text) != h.String() {
			t.Errorf("its text is %s (%v)", text, err)
		}
	})
}

// Next gives back the items of a batch as they were put in.
func FuzzBatch(f *testing.F) {
	f.Add([]byte("\x00\x01a\x03val\x01\x02bc\x02\x00"))
	f.Add([]byte("\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		take := func(n int) (p []byte) {
			n = min(n, len(data))
			p, data = data[:n:n], data[n:]
			return p
		}
		var b tree.Batch
		b.At(1, []byte("forgotten"))
		b.Reset()
		var want []tree.Item
		for len(data) > 0 {
			head := append(take(3), 0, 0)
			item := tree.Item{Key: append([]byte{head[2]}, take(int(head[1]))...)}
			switch head[0] % 4 {
			case 0:
				hash, value := take(int(head[2]%8)), take(int(head[1]))
				item.Value = append(append([]byte{}, hash...), value...)
				b.Put(head[2], item.Key[1:], hash, value)
			case 1:
				item.Value = take(int(head[2]))
				place := b.Put(head[2], item.Key[1:], nil, make([]byte, len(item.Value)))
				copy(place, item.Value)
			case 2:
				item.Delete = true
				b.Delete(head[2], item.Key[1:])
			default:
				b.At(head[2], item.Key[1:])
			}
			want = append(want, item)
		}
		at, ok := 0, true
		for i, w := range want {
			rest := b.Rest(at, len(want)-i)
			again, _, _ := rest.Next(0)
			var item tree.Item
			item, at, ok = b.Next(at)
			for _, got := range []tree.Item{item, again} {
				if !ok || !bytes.Equal(got.Key, w.Key) || !bytes.Equal(got.Value, w.Value) ||
					got.Delete != w.Delete {
					t.Fatalf("item %d is %+v, want %+v", i, got, w)
				}
			}
		}
		if _, _, ok := b.Next(at); ok || b.Len() != len(want) || at != len(b.Bytes()) {
			t.Errorf("there are more items than %d; Len is %d", len(want), b.Len())
		}
	})
}

// The bounds of a prefix admit exactly the keys that have it.
func FuzzPrefixBounds(f *testing.F) {
	f.Add([]byte("a\xff"), []byte("b"))
	f.Add([]byte("\xff\xff"), []byte("\xff\xff\xff"))
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, prefix, key []byte) {
		if got := tree.PrefixBounds(prefix).Contains(key); got != bytes.HasPrefix(key, prefix) {
			t.Errorf("prefix %x admits %x: %t", prefix, key, got)
		}
	})
}

// Any sequence of writes, flushes, commits and aborts leaves the tree of its content. A byte
// names an operation and the next ones its key and value.
func FuzzHistory(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x00\x05\x06\x40\x00\x07\x08\x60\x20\x01\x60"))
	f.Add([]byte("\x01\xe0\x10\x80\x20\x10\x20\x11\x60\xa0\x20\x12\x40\x00\x12\x13"))
	f.Add([]byte("\x02\xe0\x00\x40\xe0\x40\x60\x21\x00\xc0\x00\x00\x09\x60"))
	f.Add([]byte("\x05\x00\x03\x03\x00\x03\x04\x20\x03\x00\x03\x04\xa0\x00\x01\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 || len(data) > 1<<11 {
			return
		}
		format := tree.Format{K: 4 + int(data[0]>>3), Q: 2 + uint32(data[0]&3), Mode: tree.Store}
		if data[0]&4 != 0 {
			format.Mode = tree.Index
		}
		if format.K > tree.MaxHash {
			return
		}
		h := fuzzHistory{m: &treetest.Memory{}, c: content{}, data: data[1:], cache: tree.SmallCache()}
		var err error
		if h.f, err = tree.Create(h.m, format); err != nil {
			t.Fatal(err)
		}
		h.begin()
		for len(h.data) > 0 {
			if err := h.step(); err != nil {
				t.Fatal(err)
			}
		}
		if err := h.tr.Flush(); err != nil {
			t.Fatal(err)
		}
		check(t, h.m, h.f, h.c.leaves(h.f))
	})
}

type fuzzHistory struct {
	m    *treetest.Memory
	f    tree.Format
	tr   *tree.Tree
	c    content
	data []byte

	cache *tree.Cache // of all transactions

	saved        *treetest.Memory // as the last commit left it
	savedContent content
}

// begin begins a transaction.
func (h *fuzzHistory) begin() {
	h.saved, h.savedContent = h.m.Clone(), maps.Clone(h.c)
	h.tr = tree.New(&treetest.Trashing{Storage: h.m}, h.f, tree.SmallBuffers(5*h.f.K))
	h.tr.Remember(h.cache)
}

func (h *fuzzHistory) next() int {
	if len(h.data) == 0 {
		return 0
	}
	b := h.data[0]
	h.data = h.data[1:]
	return int(b)
}

// key returns one of 256 keys, some of which are prefixes of others.
func (h *fuzzHistory) key() string {
	b := h.next()
	return strings.Repeat(string(rune('a'+b%16)), 1+b/16)
}

func (h *fuzzHistory) step() (err error) {
	switch h.next() >> 5 {
	case 0:
		k, v := h.key(), fmt.Sprint(h.next())
		h.c[k] = v
		return h.tr.Put([]byte(k), []byte(v))
	case 1:
		k := h.key()
		delete(h.c, k)
		return h.tr.Delete([]byte(k))
	case 2:
		return h.tr.Flush()
	case 3: // commit
		err = h.tr.Flush()
		h.begin()
	case 4:
		_, err = h.tr.Root()
	case 5: // abort
		h.m, h.c = h.saved, h.savedContent
		h.begin()
	case 6: // apply to level 0 only
		err = h.tr.Settle()
	default: // many at once
		from := h.next()
		for i := range 300 {
			k := string(binary.BigEndian.AppendUint16(nil, uint16(from+i)))
			h.c[k] = "many"
			err = errors.Join(err, h.tr.Put([]byte(k), []byte("many")))
		}
	}
	return err
}

package dump_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/okradb/okra-go/okra/dump"
	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

var (
	store = tree.Format{K: 16, Q: 4, Mode: tree.Store}
	index = tree.Format{K: 16, Q: 4, Mode: tree.Index}
)

var kinds = []dump.Kind{dump.Binary, dump.JSONLines, dump.MDB, dump.MDBPrint}

// oddEntries are keys and values that text formats stumble over.
func oddEntries() []dump.Entry {
	keys := []string{
		"\x00", "\n", "\xff", "\xff\xff", "a\nb", "a\\b", "\\5c", "é", "日本", "\xc3", "\xed\xa0\x80",
		" ", " lead", "DATA=END", "HEADER=END", "\"quoted\"", "<&>", "\u2028", "\ufffd", "\r", "\t",
		"a", "ab", "b", string(bytes.Repeat([]byte{0xff}, 510)), string(bytes.Repeat([]byte("k"), 510)),
	}
	slices.Sort(keys)
	var all []dump.Entry
	for i, key := range keys {
		value := []byte(keys[len(keys)-1-i])
		if i%5 == 0 {
			value = []byte{}
		}
		all = append(all, dump.Entry{Key: []byte(key), Value: value})
	}
	return all
}

// randomEntries returns n entries in order, with values of up to 40 bytes, the same each time.
func randomEntries(n int) []dump.Entry {
	rnd := rand.New(rand.NewPCG(uint64(n), 1))
	m := map[string][]byte{}
	for len(m) < n {
		key := fmt.Appendf(nil, "key/%d", rnd.IntN(100*n))
		value := make([]byte, rnd.IntN(40))
		for i := range value {
			value[i] = byte(rnd.Uint32())
		}
		m[string(key)] = value
	}
	var all []dump.Entry
	for _, key := range slices.Sorted(maps.Keys(m)) {
		all = append(all, dump.Entry{Key: []byte(key), Value: m[key]})
	}
	return all
}

// inIndexMode returns the entries as a tree in index mode has them.
func inIndexMode(entries []dump.Entry, k int) []dump.Entry {
	var all []dump.Entry
	for _, e := range entries {
		all = append(all, dump.Entry{Key: e.Key, Hash: tree.LeafHash(k, e.Key, e.Value)})
	}
	return all
}

// wantTrailer is the number of entries and the root, by the definition of the format.
func wantTrailer(f tree.Format, entries []dump.Entry) dump.Trailer {
	leaves := map[string]treetest.Leaf{}
	for _, e := range entries {
		h := e.Hash
		if f.Mode == tree.Store {
			h = tree.LeafHash(f.K, e.Key, e.Value)
		}
		leaves[string(e.Key)] = treetest.Leaf{Value: e.Value, Hash: h}
	}
	nodes := treetest.Build(f, leaves)
	top := nodes[len(nodes)-1]
	return dump.Trailer{Count: int64(len(entries)), Root: tree.Root{Level: top.Level, Hash: top.Hash}}
}

// write returns the dump of entries.
func write(t testing.TB, kind dump.Kind, h dump.Header, entries []dump.Entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := dump.NewWriter(&out, kind, h)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := w.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	got, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if want := wantTrailer(h.Format, entries); got != want {
		t.Errorf("%s: wrote %s, want %s", kind, got, want)
	}
	return out.Bytes()
}

// read returns what a dump holds, in memory of its own.
func read(b []byte, kind dump.Kind) (dump.Header, []dump.Entry, dump.Trailer, error) {
	r, err := dump.NewReader(bytes.NewReader(b), kind)
	if err != nil {
		return dump.Header{}, nil, dump.Trailer{}, err
	}
	entries, err := collect(r.Entries())
	trailer, whole := r.Trailer()
	if whole != (err == nil) {
		return dump.Header{}, nil, trailer, fmt.Errorf("whole is %v, error %w", whole, err)
	}
	return r.Header(), entries, trailer, err
}

func collect(entries iter.Seq2[dump.Entry, error]) ([]dump.Entry, error) {
	var all []dump.Entry
	for e, err := range entries {
		if err != nil {
			return all, err
		}
		all = append(all, dump.Entry{
			Key: bytes.Clone(e.Key), Value: bytes.Clone(e.Value), Hash: e.Hash,
		})
	}
	return all, nil
}

func sameEntries(a, b []dump.Entry) error {
	if len(a) != len(b) {
		return fmt.Errorf("%d entries, want %d", len(a), len(b))
	}
	for i := range a {
		if !bytes.Equal(a[i].Key, b[i].Key) || !bytes.Equal(a[i].Value, b[i].Value) ||
			(a[i].Value == nil) != (b[i].Value == nil) || a[i].Hash != b[i].Hash {
			return fmt.Errorf("entry %d is %x: %x %s, want %x: %x %s", i, a[i].Key, a[i].Value,
				a[i].Hash, b[i].Key, b[i].Value, b[i].Hash)
		}
	}
	return nil
}

// refusals are the errors with which a dump that is not whole may be refused.
var refusals = []error{
	dump.ErrUnknown, dump.ErrVersion, dump.ErrSyntax, dump.ErrCut, dump.ErrOrder, dump.ErrMismatch,
	tree.ErrKeyEmpty, tree.ErrKeyTooLong, tree.ErrValueTooLong, tree.ErrHashSize,
	tree.ErrTooTall, tree.ErrNotOkra, tree.ErrFormat,
}

func refused(err error) bool {
	return slices.ContainsFunc(refusals, func(e error) bool { return errors.Is(err, e) })
}

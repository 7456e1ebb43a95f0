package okra_test

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/okradb/okra-go/okra"
	"github.com/okradb/okra-go/tree"
)

// one yields a single entry.
func one(key, value []byte) iter.Seq2[okra.Entry, error] {
	return func(yield func(okra.Entry, error) bool) { yield(okra.Entry{Key: key, Value: value}, nil) }
}

// firstError returns the first error of a sequence, and how much it yielded before it.
func firstError[T any](seq iter.Seq2[T, error]) (n int, err error) {
	for _, err := range seq {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// Keys of 0, 1, 510, 511 and 512 bytes in every call that takes one. What cannot be a key is
// refused when written and not there when read, and the transaction goes on.
func TestL29L30KeyLength(t *testing.T) {
	for _, mode := range []okra.Mode{okra.Store, okra.Index} {
		for _, n := range []int{0, 1, tree.MaxKey, tree.MaxKey + 1, tree.MaxKey + 2, 70000} {
			t.Run(fmt.Sprintf("%s/%d bytes", mode, n), func(t *testing.T) {
				db := newStore(t, okra.Options{Mode: mode, Q: 2})
				var refused error
				switch {
				case n == 0:
					refused = okra.ErrKeyEmpty
				case n > tree.MaxKey:
					refused = okra.ErrKeyTooLong
				}
				keyLength(t, db, []byte(strings.Repeat("k", n)), refused)
			})
		}
	}
}

func keyLength(t *testing.T, db *okra.DB, key []byte, refused error) {
	var absent error
	if refused != nil {
		absent = okra.ErrNotFound
	}
	read := func(tx *okra.Tx) error {
		t.Helper()
		_, err := tx.Get(key)
		if tx.Format().Mode == okra.Index {
			wantIs(t, "Get", err, okra.ErrNoValues)
		} else {
			wantIs(t, "Get", err, absent)
		}
		has, err := tx.Has(key)
		if has != (refused == nil) || err != nil {
			t.Errorf("Has gives %t %v", has, err)
		}
		node, err := tx.Node(0, key)
		if len(key) == 0 {
			if err != nil || node.Key != nil || node.Hash != tree.EmptyHash(16) {
				t.Errorf("Node of the empty key gives %v %v, want the anchor", node, err)
			}
		} else {
			wantIs(t, "Node", err, absent)
		}
		if len(key) > tree.MaxKey {
			_, err = firstError(tx.Children(1, key))
			wantIs(t, "Children", err, okra.ErrNotFound)
		}
		for name, b := range map[string]okra.Bounds{
			"GE": {GE: key}, "GT": {GT: key}, "LE": {LE: key}, "LT": {LT: key},
			"GE and LE": {GE: key, LE: key}, "prefix": okra.PrefixBounds(key),
		} {
			if err := boundsAgree(tx, b); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		return nil
	}
	updateOK(t, db, func(tx *okra.Tx) error {
		_, err := tx.Load(one(key, []byte("loaded")))
		wantIs(t, "Load", err, refused)
		return nil
	})
	updateOK(t, db, func(tx *okra.Tx) error {
		wantIs(t, "Put", tx.Put(key, []byte("v")), refused)
		if tx.Format().Mode == okra.Index {
			wantIs(t, "PutHash", tx.PutHash(key, tree.EmptyHash(16)), refused)
		}
		if err := put("j", "1", "kk", "2", "z", "3")(tx); err != nil {
			return err
		}
		if refused != nil {
			wantIs(t, "Delete", tx.Delete(key), refused)
		}
		return read(tx)
	})
	viewOK(t, db, read)
	updateOK(t, db, func(tx *okra.Tx) error {
		wantIs(t, "Delete", tx.Delete(key), refused)
		has, err := tx.Has(key)
		if has {
			t.Error("the key is there after its delete")
		}
		return err
	})
	viewOK(t, db, wholeTree)
}

// boundsAgree compares the four iterations within b with what Contains says.
func boundsAgree(tx *okra.Tx, b okra.Bounds) error {
	root, err := tx.Root()
	if err != nil {
		return err
	}
	var want, got, back []string
	for e, err := range tx.All() {
		if err != nil {
			return err
		}
		if b.Contains(e.Key) {
			want = append(want, string(e.Key))
		}
	}
	for e, err := range tx.Range(b) {
		if err != nil {
			return err
		}
		got = append(got, string(e.Key))
	}
	for e, err := range tx.Backward(b) {
		if err != nil {
			return err
		}
		back = append([]string{string(e.Key)}, back...)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || fmt.Sprint(back) != fmt.Sprint(want) {
		return fmt.Errorf("Range is %.40q and Backward %.40q, want %.40q", got, back, want)
	}
	for level := 0; level <= root.Level+1; level++ {
		want, got, back = nil, nil, nil
		for n, err := range tx.Nodes(level, okra.Bounds{}) {
			if err != nil {
				return err
			}
			if b.Contains(n.Key) {
				want = append(want, string(n.Key))
			}
		}
		for n, err := range tx.Nodes(level, b) {
			if err != nil {
				return err
			}
			got = append(got, string(n.Key))
		}
		for n, err := range tx.NodesBackward(level, b) {
			if err != nil {
				return err
			}
			back = append([]string{string(n.Key)}, back...)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || fmt.Sprint(back) != fmt.Sprint(want) {
			return fmt.Errorf("Nodes of level %d are %.40q and backward %.40q, want %.40q",
				level, got, back, want)
		}
	}
	return nil
}

// Combinations of bounds, empty and over-long ones among them, in LMDB: in a snapshot that
// uses a renewed reader, and in a transaction that writes.
func TestL30Bounds(t *testing.T) {
	long := []byte(strings.Repeat("\xff", 600))
	limits := [][]byte{nil, {}, {0}, []byte("a"), []byte("ab\x00"), long}
	pairs := []string{"\x00", "", "a", "", "a\x00", "", "ab", "", "b", "", "\xff", "", "\xff\xff", "",
		strings.Repeat("\xff", tree.MaxKey), ""}
	all := func(tx *okra.Tx) error {
		for i := range len(limits) * len(limits) * len(limits) * len(limits) {
			pick := func() []byte {
				p := limits[i%len(limits)]
				i /= len(limits)
				return p
			}
			b := okra.Bounds{GE: pick(), GT: pick(), LE: pick(), LT: pick()}
			if err := boundsAgree(tx, b); err != nil {
				return fmt.Errorf("%.20q: %w", b, err)
			}
		}
		return nil
	}
	db := newStore(t, okra.Options{Q: 2})
	viewOK(t, db, all) // of the empty tree
	updateOK(t, db, func(tx *okra.Tx) error { return errors.Join(put(pairs...)(tx), all(tx)) })
	viewOK(t, db, all)
}

// The empty prefix means all keys; that of 0xff ends before the header.
func TestL30Prefixes(t *testing.T) {
	db := newStore(t, okra.Options{Q: 2})
	updateOK(t, db, put("\x00", "", "a", "", "a\xff", "", "a\xff\xff", "", "b", "", "\xff", "",
		"\xff\xff", "", "\xff\xffz", ""))
	viewOK(t, db, func(tx *okra.Tx) error {
		for prefix, want := range map[string]int{
			"": 8, "\x00": 1, "a": 3, "a\xff": 2, "a\xff\xff": 1, "c": 0, "\xff": 3, "\xff\xff": 2,
			"\xff\xff\xff": 0, strings.Repeat("\xff", 600): 0,
		} {
			if n, err := firstError(tx.Prefix([]byte(prefix))); err != nil || n != want {
				t.Errorf("prefix %.8q: %d entries (%v), want %d", prefix, n, err, want)
			}
		}
		if n, err := firstError(tx.Prefix(nil)); err != nil || n != 8 {
			t.Errorf("the nil prefix: %d entries (%v), want all 8", n, err)
		}
		return nil
	})
}

package lmdbenv

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

// reads are the calls of a storage that read, as text.
func reads() map[string]func(tree.Storage) string {
	return map[string]func(tree.Storage) string{
		"Get": func(s tree.Storage) string {
			v, ok, err := s.Get(0, []byte("k"))
			return fmt.Sprintf("%x %t %v", v, ok, err)
		},
		"Scan": func(s tree.Storage) string {
			out := make([]tree.Record, 10)
			n, err := s.Scan(tree.AtOrAfter, []byte{0}, nil, out)
			return fmt.Sprintf("%x %v", out[:n], err)
		},
		"Scan backward": func(s tree.Storage) string {
			out := make([]tree.Record, 10)
			n, err := s.Scan(tree.Before, []byte{9}, nil, out)
			return fmt.Sprintf("%x %v", out[:n], err)
		},
		"Gather": func(s tree.Storage) string {
			var b tree.Batch
			b.At(0, nil)
			out := tree.Gathered{Hashes: make([]byte, 0, 64)}
			err := s.Gather(&b, tree.Rule{Len: 4, Limit: 1}, &out)
			return fmt.Sprintf("%x %v", out.Hashes, err)
		},
		"Count": func(s tree.Storage) string {
			n, err := s.Count()
			return fmt.Sprint(n, err)
		},
	}
}

// A read transaction that is used again sees the commits since, whichever call comes first, as
// does one that is new, in a table that was opened before or after it.
func TestRenewedRead(t *testing.T) {
	for name, pick := range implementations {
		for first, read := range reads() {
			e, h := openTest(t)
			m := &treetest.Memory{}
			for round := range 5 {
				var b tree.Batch
				b.Put(0, nil, nil, []byte{9, 9, 9, byte(round)})
				b.Put(0, []byte("k"), nil, []byte{1, 2, 3, byte(round)})
				b.Put(0, []byte{'m', byte(round)}, nil, []byte{1, 2, 3, 4})
				effects := make([]tree.Effect, b.Len())
				err := e.Update(context.Background(), func(txn *Txn) error {
					s, err := txn.Storage(h)
					if err != nil {
						return err
					}
					rule := tree.Rule{Len: 4, Limit: 1}
					return errors.Join(s.Apply(&b, rule, effects, nil), m.Apply(&b, rule, effects, nil))
				})
				if err != nil {
					t.Fatal(err)
				}
				txn, err := e.BeginRead()
				if err != nil {
					t.Fatal(err)
				}
				if _, err := txn.Storage(h); err != nil {
					t.Fatal(err)
				}
				s := pick(txn.tables[0])
				if got, want := read(s), read(m); got != want {
					t.Errorf("%s, round %d: %s first gives %s, want %s", name, round, first, got, want)
				}
				for next, read := range reads() {
					if got, want := read(s), read(m); got != want {
						t.Errorf("%s, round %d: %s gives %s, want %s", name, round, next, got, want)
					}
				}
				e.EndRead(txn)
			}
			if n := len(e.idle); n != 1 {
				t.Errorf("%d read transactions wait for their next use, want 1", n)
			}
		}
	}
}

// Keys longer than LMDB takes are not there, and as the ends of a scan they order like others.
func TestL29LongKeys(t *testing.T) {
	long := bytes.Repeat([]byte{'x'}, 600)
	most := bytes.Repeat([]byte{'x'}, tree.MaxKey)
	for name, pick := range implementations {
		e, h := openTest(t)
		m := &treetest.Memory{}
		err := e.Update(context.Background(), func(txn *Txn) error {
			tab, err := newTable(txn, h.dbi)
			if err != nil {
				return err
			}
			s := pick(tab)
			var b tree.Batch
			for _, k := range [][]byte{nil, []byte("a"), []byte("x"), most, []byte("y")} {
				b.Put(0, k, nil, []byte("1234"))
			}
			if err := errors.Join(s.Append(&b), m.Append(&b)); err != nil {
				return err
			}
			for _, n := range []int{tree.MaxKey + 1, tree.MaxKey + 2, len(long)} {
				if v, ok, err := s.Get(0, long[:n]); ok || err != nil {
					t.Errorf("%s: Get of %d bytes gives %x %t %v", name, n, v, ok, err)
				}
				key := append([]byte{0}, long[:n]...)
				for start := tree.AtOrAfter; start <= tree.Before; start++ {
					for _, ends := range [][2][]byte{{key, nil}, {{0}, key}, {key, key}, {{1}, key}} {
						got, want := make([]tree.Record, 9), make([]tree.Record, 9)
						n, err := s.Scan(start, ends[0], ends[1], got)
						w, _ := m.Scan(start, ends[0], ends[1], want)
						if err != nil || fmt.Sprintf("%x", got[:n]) != fmt.Sprintf("%x", want[:w]) {
							t.Errorf("%s: Scan %d from %.4x to %.4x gives %d records (%v), want %d",
								name, start, ends[0], ends[1], n, err, w)
						}
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Damage that a storage can see has the error for it.
func TestShortAndAbsentRecords(t *testing.T) {
	rule := tree.Rule{Len: 8, Limit: 1}
	for name, pick := range implementations {
		e, h := openTest(t)
		err := e.Update(context.Background(), func(txn *Txn) error {
			tab, err := newTable(txn, h.dbi)
			if err != nil {
				return err
			}
			s := pick(tab)
			var b tree.Batch
			b.Put(0, nil, nil, bytes.Repeat([]byte{9}, 8))
			b.Put(0, []byte("short"), nil, []byte("1234567"))
			b.Put(1, nil, nil, nil)
			if err := s.Append(&b); err != nil {
				return err
			}
			for _, first := range []byte{0, 1, 2} {
				var start tree.Batch
				start.At(first, nil)
				out := tree.Gathered{Hashes: make([]byte, 0, 64)}
				if err := s.Gather(&start, rule, &out); !errors.Is(err, tree.ErrCorrupt) {
					t.Errorf("%s: Gather from %d gives %v, want ErrCorrupt", name, first, err)
				}
			}
			effects := make([]tree.Effect, 3)
			b.Reset()
			b.Put(0, []byte("short"), nil, []byte("now it is long"))
			b.Delete(1, nil)
			if err := s.Apply(&b, rule, effects, nil); err != nil {
				t.Errorf("%s: Apply over short records gives %v", name, err)
			}
			if effects[0] != tree.Existed || effects[1] != tree.Existed {
				t.Errorf("%s: the effects are %v", name, effects[:2])
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A record without a key, which LMDB takes from nobody, is damage. Looking for keys may pass by
// it, but a run that holds it has the error.
func TestRecordWithoutKey(t *testing.T) {
	dir := t.TempDir()
	open := func() (*Env, Handle) {
		e, err := Open(dir, Options{NoSync: true, MapSize: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		h, err := e.OpenTable("", func(*Txn, tree.Storage) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return e, h
	}
	within := func(fn func(s *table) error) {
		e, h := open()
		err := e.Update(context.Background(), func(txn *Txn) error {
			tab, err := newTable(txn, h.dbi)
			if err != nil {
				return err
			}
			return fn(tab)
		})
		if err := errors.Join(err, e.Close(context.Background())); err != nil {
			t.Fatal(err)
		}
	}
	within(func(tab *table) error {
		var b tree.Batch
		for _, key := range []string{"", "a", "m", "z"} {
			b.Put(0, []byte(key), nil, bytes.Repeat([]byte("V"), 16))
		}
		return tab.storage().Append(&b)
	})
	path := filepath.Join(dir, "data.mdb")
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var two, none [2]byte
	binary.NativeEndian.PutUint16(two[:], 2)
	intact := append(two[:], "\x00mVVVV"...) // key length, key, value
	if !bytes.Contains(file, intact) {
		t.Fatal("the record is not in the file")
	}
	file = bytes.ReplaceAll(file, intact, append(none[:], "\x00mVVVV"...))
	if err := os.WriteFile(path, file, 0o644); err != nil {
		t.Fatal(err)
	}
	within(func(tab *table) error {
		for name, pick := range implementations {
			s := pick(tab)
			var keys tree.Batch
			keys.At(0, []byte("b"))
			keys.At(0, []byte("n"))
			if err := s.Floor(&keys, make([]tree.Record, 2)); err != nil {
				t.Errorf("%s: Floor gives %v", name, err)
			}
			for _, key := range []string{"", "a"} {
				var q tree.Batch
				q.At(0, []byte(key))
				out := tree.Gathered{Hashes: make([]byte, 0, 1024)}
				if err := s.Gather(&q, tree.Rule{Len: 8}, &out); !errors.Is(err, tree.ErrCorrupt) {
					t.Errorf("%s: Gather at %q gives %v, want ErrCorrupt", name, key, err)
				}
			}
			for _, key := range []string{"y", "z", "zz"} {
				var q tree.Batch
				q.Before(0, []byte(key))
				out := tree.Gathered{Hashes: make([]byte, 0, 1024)}
				if err := s.Gather(&q, tree.Rule{Len: 8}, &out); !errors.Is(err, tree.ErrCorrupt) {
					t.Errorf("%s: Gather before %q gives %v, want ErrCorrupt", name, key, err)
				}
			}
		}
		return nil
	})
}

package lmdbenv

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/okradb/okra-go/tree"
)

// freeList makes a file whose list of free pages has more than one level, and returns its bytes
// and how many pages LMDB says are free.
func freeList(t testing.TB) (content []byte, free int64) {
	t.Helper()
	dir := t.TempDir()
	e, err := Open(dir, Options{NoSync: true, MapSize: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	h, err := e.OpenTable("", func(*Txn, tree.Storage) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	update := func(from, to int, value []byte) {
		err := e.Update(context.Background(), func(txn *Txn) error {
			s, err := txn.Storage(h)
			if err != nil {
				return err
			}
			var b tree.Batch
			for i := from; i < to; i++ {
				key := binary.BigEndian.AppendUint16(nil, uint16(i))
				if value == nil {
					b.Delete(0, key)
				} else {
					b.Put(0, key, nil, value)
				}
			}
			return s.Apply(&b, tree.Rule{Len: 4, Limit: 1}, make([]tree.Effect, b.Len()), nil)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	update(0, 200, make([]byte, 10))
	update(200, 220, make([]byte, 10000))
	reader, err := e.BeginRead() // so that each commit adds to the list
	if err != nil {
		t.Fatal(err)
	}
	for i := range 120 {
		update(i, i+1, nil)
	}
	update(200, 220, make([]byte, 10)) // many pages in one record
	e.EndRead(reader)
	if _, free, err = countPages(e.DataFile()); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if content, err = os.ReadFile(filepath.Join(dir, "data.mdb")); err != nil {
		t.Fatal(err)
	}
	return content, free
}

// check checks the file at path, which must not take long, let alone crash.
func check(t testing.TB, path string) error {
	t.Helper()
	err := checkWhole(path)
	if err != nil && !errors.Is(err, ErrNotLMDB) && !errors.Is(err, tree.ErrCorrupt) {
		t.Errorf("the check gives %v", err)
	}
	if _, n, err := countPages(path); err == nil && n < 0 {
		t.Errorf("%d pages are free", n)
	}
	return err
}

// write makes a file of its own of the content.
func write(t testing.TB, content []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "data.mdb")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func only64(t testing.TB) {
	t.Helper()
	if strconv.IntSize != 64 {
		t.Skip("files are checked where words have 64 bits")
	}
}

// A whole file passes, with as many free pages as were freed, and one that was cut anywhere
// before its last page in use does not.
func TestL20CheckWhole(t *testing.T) {
	only64(t)
	content, free := freeList(t)
	if free < 240+60 { // at each delete the leaf and the root, and the values of three pages
		t.Fatalf("%d pages are free", free)
	}
	path := write(t, content)
	page := int64(os.Getpagesize())
	passed := 0
	for n := int64(len(content)); n > 0; n -= page {
		for _, n := range []int64{n, n - 1, n - page/2} {
			if err := os.Truncate(path, n); err != nil {
				t.Fatal(err)
			}
			if check(t, path) != nil {
				continue
			}
			if passed++; int64(len(content))-n > page*int64(passed) {
				t.Errorf("%d of %d bytes pass, and more do not", n, len(content))
			}
		}
	}
	if passed == 0 || passed > 200 {
		t.Errorf("%d lengths pass", passed)
	}
}

// The check of a file stays within bounds whatever is in it, in its meta pages and its list of
// free pages above all.
func TestL20CheckDamaged(t *testing.T) {
	only64(t)
	rounds := 3000
	if testing.Short() {
		rounds = 600
	}
	whole, _ := freeList(t)
	m, err := metaOf(write(t, whole))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(20, 1))
	for _, content := range [][]byte{whole, whole[:len(whole)-3*int(m.page)], whole[:len(whole)/2]} {
		f, err := os.OpenFile(write(t, content), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		refused := 0
		for range rounds / 3 {
			var places []int64
			for range 1 + rng.IntN(4) {
				at := rng.Int64N(2 * m.page)
				if rng.IntN(3) > 0 {
					at = int64(m.free)*m.page + rng.Int64N(200)
				}
				if at+8 > int64(len(content)) {
					continue
				}
				b := append([]byte{}, content[at:at+8]...)
				switch rng.IntN(3) {
				case 0:
					b[0] ^= 1 << rng.IntN(8)
				case 1:
					binary.NativeEndian.PutUint16(b, uint16(rng.Uint32()))
				case 2:
					binary.NativeEndian.PutUint64(b, rng.Uint64()>>rng.IntN(64))
				}
				if _, err := f.WriteAt(b, at); err != nil {
					t.Fatal(err)
				}
				places = append(places, at)
			}
			if check(t, f.Name()) != nil {
				refused++
			}
			for _, at := range places {
				if _, err := f.WriteAt(content[at:at+8], at); err != nil {
					t.Fatal(err)
				}
			}
		}
		t.Logf("of %d files with %d of %d bytes %d are refused", rounds/3, len(content), len(whole),
			refused)
	}
}

// FuzzCheckWhole overwrites a place of a good file, cut to a length.
func FuzzCheckWhole(f *testing.F) {
	only64(f)
	content, _ := freeList(f)
	m, err := metaOf(write(f, content))
	if err != nil {
		f.Fatal(err)
	}
	page := int(m.page)
	f.Add(0, len(content), []byte{})
	f.Add(16+metaPage, len(content), []byte{0, 0, 0, 0})
	f.Add(page+16+metaLast, len(content)-page, []byte{255, 255, 255, 255, 255, 255, 255, 127})
	f.Add(int(m.free)*page+pageFlags, len(content)/2, []byte{1, 0, 255, 255})
	f.Add(int(m.free)*page+pageHead, len(content)/2, []byte{255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, at, length int, with []byte) {
		b := append([]byte{}, content[:min(max(length, 0), len(content))]...)
		if at >= 0 && at < len(b) {
			copy(b[at:], with)
		}
		check(t, write(t, b))
	})
}

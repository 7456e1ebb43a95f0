package lmdbenv

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/okradb/okra-go/tree"
)

var errTest = errors.New("an error of the test")

// An Open that fails leaves no file that it has made, and the next one works.
func TestFailedOpenLeavesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	tooLarge := int64(1) << (strconv.IntSize - 2)
	if _, err := Open(dir, Options{MapSize: tooLarge}); err == nil {
		t.Fatalf("a map of %d bytes can be had", tooLarge)
	}
	if _, err := Open(dir, Options{MapSize: -1}); err == nil {
		t.Fatal("a map of -1 bytes can be had")
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 0 {
		t.Errorf("the directory holds %v (%v)", list, err)
	}
	for range 2 {
		e, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if e.ReadOnly() || e.Path() != dir || e.DataFile() != filepath.Join(dir, "data.mdb") {
			t.Errorf("ReadOnly is %t, Path %s, DataFile %s", e.ReadOnly(), e.Path(), e.DataFile())
		}
		if err := e.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if len(registry.open) != 0 {
		t.Errorf("%d files are still registered", len(registry.open))
	}
}

// Files are made with the mode asked for.
func TestFileMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such modes")
	}
	dir := filepath.Join(t.TempDir(), "store")
	e, err := Open(dir, Options{FileMode: 0o600})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.Background())
	for path, want := range map[string]os.FileMode{dir: 0o700, e.DataFile(): 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has the mode %o, want %o", path, got, want)
		}
	}
}

// Close waits for the transactions under way and refuses new ones meanwhile.
func TestCloseWaits(t *testing.T) {
	e, h := openTest(t)
	txn, err := e.BeginRead()
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error)
	go func() { closed <- e.Close(context.Background()) }()
	for refused := false; !refused; {
		other, err := e.BeginRead()
		if refused = errors.Is(err, ErrClosed); err == nil {
			e.EndRead(other) // Close has not begun yet
			time.Sleep(time.Millisecond)
		}
	}
	select {
	case err := <-closed:
		t.Fatalf("Close returns %v while a transaction is open", err)
	default:
	}
	s, err := txn.Storage(h)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Count(); err != nil {
		t.Errorf("the transaction under way gives %v", err)
	}
	e.EndRead(txn)
	if err := <-closed; err != nil {
		t.Errorf("Close gives %v", err)
	}
	if err := e.Update(context.Background(), func(*Txn) error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("Update after Close gives %v", err)
	}
	if err := e.Sync(); !errors.Is(err, ErrClosed) {
		t.Errorf("Sync after Close gives %v", err)
	}
	if err := e.Close(context.Background()); err != nil {
		t.Errorf("a second Close gives %v", err)
	}
}

// A table whose preparation fails is not there, and its name can be used after it.
func TestL32TableNotPrepared(t *testing.T) {
	e, _ := openTest(t)
	for range 3 {
		_, err := e.OpenTable("t", func(_ *Txn, s tree.Storage) error {
			var b tree.Batch
			b.Put(0, []byte("lost"), nil, nil)
			return errors.Join(s.Append(&b), errTest)
		})
		if !errors.Is(err, errTest) {
			t.Fatalf("OpenTable gives %v", err)
		}
	}
	count := func(name string) (n int64) {
		h, err := e.OpenTable(name, func(_ *Txn, s tree.Storage) (err error) {
			n, err = s.Count()
			return err
		})
		if err != nil || h.Name() != name {
			t.Fatalf("OpenTable gives %q (%v)", h.Name(), err)
		}
		return n
	}
	if n := count(""); n != 0 {
		t.Errorf("the unnamed table has %d records, want none", n)
	}
	if n := count("t"); n != 0 {
		t.Errorf("the table has %d records, want none", n)
	}
	if n := count(""); n != 1 {
		t.Errorf("the unnamed table has %d records, want the table's own", n)
	}
}

// A transaction that ends by an error or a panic has not happened.
func TestUpdateAborts(t *testing.T) {
	e, h := openTest(t)
	put := func(txn *Txn) error {
		s, err := txn.Storage(h)
		if err != nil {
			return err
		}
		var b tree.Batch
		b.Put(0, []byte("lost"), nil, nil)
		return s.Append(&b)
	}
	err := e.Update(context.Background(), func(txn *Txn) error { return errors.Join(put(txn), errTest) })
	if !errors.Is(err, errTest) {
		t.Errorf("Update gives %v", err)
	}
	func() {
		defer func() {
			if p := recover(); p != errTest {
				t.Errorf("the panic is %v", p)
			}
		}()
		e.Update(context.Background(), func(txn *Txn) error {
			if err := put(txn); err != nil {
				return err
			}
			panic(errTest)
		})
	}()
	err = e.Update(context.Background(), func(txn *Txn) error {
		s, err := txn.Storage(h)
		if err != nil {
			return err
		}
		if n, err := s.Count(); n != 0 || err != nil {
			t.Errorf("there are %d records (%v), want none", n, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Stats tells pages that hold data from those that are free, and counts readers.
func TestStats(t *testing.T) {
	e, h := openTest(t)
	fill := func(n int) {
		err := e.Update(context.Background(), func(txn *Txn) error {
			s, err := txn.Storage(h)
			if err != nil {
				return err
			}
			var b tree.Batch
			for i := range 100 {
				if i < n {
					b.Put(0, []byte{byte(i)}, nil, make([]byte, 10000))
				} else {
					b.Delete(0, []byte{byte(i)})
				}
			}
			return s.Apply(&b, tree.Rule{Len: 4, Limit: 1}, make([]tree.Effect, b.Len()), nil)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	stats := func() Stats {
		s, err := e.Stats()
		if err != nil {
			t.Fatal(err)
		}
		if s.MapSize != 1<<30 || s.MaxReaders != defaultReaders ||
			s.UsedSize+s.FreeSize > s.FileSize+1<<20 {
			t.Errorf("%+v", s)
		}
		return s
	}
	fill(100)
	full := stats()
	fill(0)
	empty := stats()
	if full.UsedSize < 1e6 || empty.UsedSize > 1e5 || empty.FreeSize < 9e5 ||
		empty.LastTxn != full.LastTxn+1 {
		t.Errorf("full %+v, empty %+v", full, empty)
	}
	txn, err := e.BeginRead()
	if err != nil {
		t.Fatal(err)
	}
	defer e.EndRead(txn)
	if got := stats().Readers; len(got) < 1 {
		t.Errorf("%d readers, want one at least", len(got))
	}
}

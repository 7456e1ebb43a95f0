package okra_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/okradb/okra-go/okra"
)

const mebi = 1 << 20

// kibi is the value of the i-th entry of fill: some 1000 bytes.
func kibi(name string, i int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "%s %06d ", name, i), 1000/(len(name)+8))
}

// fill returns a transaction that puts n entries of 1 KiB.
func fill(name string, n int) func(*okra.Tx) error {
	return func(tx *okra.Tx) error {
		for i := range n {
			if err := tx.Put(fmt.Appendf(nil, "%s %06d", name, i), kibi(name, i)); err != nil {
				return err
			}
		}
		return nil
	}
}

// entries yields what fill puts.
func entries(name string, n int) iter.Seq2[okra.Entry, error] {
	return func(yield func(okra.Entry, error) bool) {
		for i := range n {
			e := okra.Entry{Key: fmt.Appendf(nil, "%s %06d", name, i), Value: kibi(name, i)}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// filled demands n entries as fill puts them, and no other that begins with the name.
func filled(name string, n int) func(*okra.Tx) error {
	return func(tx *okra.Tx) error {
		i := 0
		for e, err := range tx.Prefix([]byte(name + " ")) {
			if err != nil {
				return err
			}
			want := fmt.Sprintf("%s %06d", name, i)
			if string(e.Key) != want || !bytes.Equal(e.Value, kibi(name, i)) {
				return fmt.Errorf("entry %d of %s has the key %q", i, name, e.Key)
			}
			i++
		}
		if i != n {
			return fmt.Errorf("there are %d entries of %s, want %d", i, name, n)
		}
		return nil
	}
}

// statsOf returns the state of db's file.
func statsOf(t *testing.T, db *okra.DB) okra.Stats {
	t.Helper()
	s, err := db.Stats()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// wantWords reports an error whose text lacks one of the words.
func wantWords(t *testing.T, err error, words ...string) {
	t.Helper()
	for _, w := range words {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("the error %q does not say %q", err, w)
		}
	}
}

// A transaction of many times the map, which is full before it is over, is begun again in a
// larger map until it fits, wherever the map was found full and whatever the function makes of
// that, and the data are right. The function runs a number of times that has a bound.
func TestL1MapFullInAWrite(t *testing.T) {
	n := 12 << 10 // entries, and about as many KiB
	if testing.Short() {
		n = 3 << 10
	}
	read := func(tx *okra.Tx) error {
		_, err := tx.Root()
		return err
	}
	cases := map[string]func(*okra.Tx) error{
		"in the flush at the end": fill("e", n),
		"in a read that flushes": func(tx *okra.Tx) error {
			return errors.Join(fill("e", n/2)(tx), read(tx), fill("e", n)(tx))
		},
		"and the error is dropped": func(tx *okra.Tx) error {
			if err := fill("e", n)(tx); err != nil {
				return err
			}
			read(tx)
			return nil
		},
		"and another error is returned": func(tx *okra.Tx) error {
			if err := fill("e", n)(tx); err != nil {
				return err
			}
			if read(tx) != nil {
				return errAborted
			}
			return nil
		},
		"in a load": func(tx *okra.Tx) error {
			loaded, err := tx.Load(entries("e", n))
			if err == nil && loaded != int64(n) {
				err = fmt.Errorf("%d entries were loaded", loaded)
			}
			return err
		},
	}
	for name, fn := range cases {
		t.Run(name, func(t *testing.T) {
			db := newStore(t, okra.Options{MapSize: mebi, Q: 8})
			runs := 0
			updateOK(t, db, func(tx *okra.Tx) error {
				runs++
				return fn(tx)
			})
			if runs < 2 || runs > 8 {
				t.Errorf("the function ran %d times for %d KiB in a map of 1 MiB", runs, n)
			}
			viewOK(t, db, filled("e", n))
			if s := statsOf(t, db); s.MapSize < s.UsedSize || s.MapSize > 64*mebi {
				t.Errorf("the map has %d bytes, of which %d are used", s.MapSize, s.UsedSize)
			}
		})
	}
}

// So many writes may wait that a Put itself applies them, and finds the map full.
func TestL1MapFullInAPut(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 60 MB several times, left out with -short")
	}
	db := newStore(t, okra.Options{MapSize: 16 * mebi})
	value := bytes.Repeat([]byte("v"), mebi)
	var inPut error
	updateOK(t, db, func(tx *okra.Tx) error {
		for i := range 60 {
			if err := tx.Put(number(i), value); err != nil {
				inPut = err
				return err
			}
		}
		return nil
	})
	wantIs(t, "Put", inPut, okra.ErrMapFull)
	viewOK(t, db, func(tx *okra.Tx) error {
		if n, err := tx.Len(); err != nil || n != 60 {
			t.Errorf("there are %d entries (%v)", n, err)
		}
		return nil
	})
}

// Small transactions grow the map as they need it. Some find it full only at the commit, when
// all of their writes are done: they are run again too.
func TestL1MapFullAtCommit(t *testing.T) {
	atCommit, sizes := 0, []int{100, 500, 1500, 4000, 9000, 20000}
	for _, size := range sizes {
		db := newStore(t, okra.Options{MapSize: mebi / 4, Q: 4})
		total := 4 * mebi
		if testing.Short() {
			total = mebi
		}
		each := 1 + 4000/size // entries of a transaction
		n, rng := 0, rand.New(rand.NewPCG(1, uint64(size)))
		for written := 0; written < total; written += each * size {
			values := make([][]byte, each)
			for i := range values {
				values[i] = bytes.Repeat([]byte{byte(n + i)}, size/2+rng.IntN(size))
			}
			complete := false
			updateOK(t, db, func(tx *okra.Tx) error {
				if complete {
					atCommit++
				}
				complete = false
				for i, v := range values {
					if err := tx.Put(number((n+i)*7919%1000003), v); err != nil {
						return err
					}
				}
				_, err := tx.Root()
				complete = err == nil
				return err
			})
			n += each
		}
		viewOK(t, db, func(tx *okra.Tx) error {
			if got, err := tx.Len(); err != nil || got != int64(n) {
				t.Errorf("there are %d entries, want %d (%v)", got, n, err)
			}
			return nil
		})
	}
	t.Logf("%d transactions found the map full only at the commit", atCommit)
	if atCommit == 0 {
		t.Error("no map was full only at the commit: the case is not covered")
	}
}

// Batch, a new table, and a first store in a map of one page grow it as Update does.
func TestL1OtherWritersGrow(t *testing.T) {
	t.Run("Batch", func(t *testing.T) {
		db := newStore(t, okra.Options{MapSize: mebi})
		const goroutines = 64
		for i, err := range batchAll(db, goroutines, func(i int, tx *okra.Tx) error {
			return fill(fmt.Sprint("batch ", i), 100)(tx)
		}) {
			if err != nil {
				t.Errorf("function %d: %v", i, err)
			}
		}
		for i := range goroutines {
			viewOK(t, db, filled(fmt.Sprint("batch ", i), 100))
		}
	})
	t.Run("Table", func(t *testing.T) {
		db := newStore(t, okra.Options{Table: "main", MapSize: mebi})
		for i := range 100 {
			size := statsOf(t, db).MapSize
			table, err := db.Table(fmt.Sprint("table ", i), okra.Format{})
			if err != nil {
				t.Fatalf("table %d in a map of %d bytes: %v", i, size, err)
			}
			updateOK(t, db, func(tx *okra.Tx) error { return fill("e", 10+i%7)(tx.Table(table)) })
		}
	})
	t.Run("the first page", func(t *testing.T) {
		db := newStore(t, okra.Options{MapSize: 1})
		updateOK(t, db, fill("e", 100))
		viewOK(t, db, filled("e", 100))
	})
}

// Making tables grows a map that has no page left for them, as any other write does: that of
// the store itself, in a map of a few pages, and more beside it.
func TestL1TablesInAFullMap(t *testing.T) {
	for pages := range 24 {
		size := int64((pages + 1) * os.Getpagesize())
		opts := okra.Options{Table: "main", MapSize: size, NoSync: true}
		db, err := okra.Open(t.TempDir(), &opts)
		if err != nil {
			t.Errorf("in a map of %d pages: %v", pages+1, err)
			continue
		}
		for i := range 100 {
			if _, err := db.Table(fmt.Sprintf("table %0100d", i), okra.Format{}); err != nil {
				t.Errorf("table %d in a map of %d pages: %v", i, pages+1, err)
				break
			}
		}
		wantIs(t, "Close", db.Close(), nil)
	}
}

// Growth ends at MaxSize with an error that says how large the map is, that it is the bound,
// and what to do. Nothing has happened then, what fits goes on, and a larger bound helps.
func TestL1L5MaxSize(t *testing.T) {
	dir := t.TempDir()
	db := storeIn(t, dir, okra.Options{MapSize: mebi, MaxSize: 3 * mebi})
	updateOK(t, db, fill("kept", 500))
	for range 3 {
		runs := 0
		err := db.Update(func(tx *okra.Tx) error { runs++; return fill("more", 8<<10)(tx) })
		wantIs(t, "Update", err, okra.ErrMapFull)
		wantWords(t, err, dir, "3 MiB", "MaxSize")
		if errors.Is(err, okra.ErrTxFailed) || runs > 8 {
			t.Errorf("after %d runs the error is %v", runs, err)
		}
		viewOK(t, db, filled("kept", 500))
		viewOK(t, db, filled("more", 0))
		updateOK(t, db, fill("kept", 500))
	}
	if s := statsOf(t, db); s.MapSize != 3*mebi || s.FileSize > 3*mebi {
		t.Errorf("the map has %d bytes and the file %d, bound by %d", s.MapSize, s.FileSize, 3*mebi)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = storeIn(t, dir, okra.Options{MaxSize: 64 * mebi})
	updateOK(t, db, fill("more", 8<<10))
	viewOK(t, db, filled("more", 8<<10))
}

// By default the map is so large that nobody meets its end, and the file no larger than the
// data. Stats tell the size in force, which is not always the one asked for.
func TestL4L5SizeInForce(t *testing.T) {
	dir := t.TempDir()
	db := storeIn(t, dir, okra.Options{})
	updateOK(t, db, fill("e", 3000))
	s := statsOf(t, db)
	if s.MapSize < 1<<28 || s.FileSize > 8*mebi {
		t.Errorf("the map has %d bytes and the file %d", s.MapSize, s.FileSize)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = storeIn(t, dir, okra.Options{MapSize: mebi})
	if s := statsOf(t, db); s.MapSize < s.UsedSize || s.MapSize > 8*mebi {
		t.Errorf("asked for 1 MiB the map has %d bytes, of which %d are used", s.MapSize, s.UsedSize)
	}
}

// A map smaller than the data is made as large as they are, and the file is never cut: all is
// there, writes grow it or meet the bound, and the next open is none the worse.
func TestL4NeverShrinks(t *testing.T) {
	dir := t.TempDir()
	db := storeIn(t, dir, okra.Options{})
	updateOK(t, db, fill("e", 6000))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	size := len(files(t, dir)["data.mdb"])
	for _, opts := range []okra.Options{
		{MapSize: mebi}, {MapSize: mebi, MaxSize: 2 * mebi}, {MaxSize: mebi}, {MapSize: 1}, {},
	} {
		db := storeIn(t, dir, opts)
		viewOK(t, db, filled("e", 6000))
		err := db.Update(fill("e", 6000)) // a write that changes nothing
		wantIs(t, "Update of what is there", err, nil)
		err = db.Update(fill("more", 3000))
		if opts.MaxSize == 0 || !errors.Is(err, okra.ErrMapFull) {
			wantIs(t, fmt.Sprintf("Update with %+v", opts), err, nil)
		}
		viewOK(t, db, filled("e", 6000))
		if err == nil {
			viewOK(t, db, filled("more", 3000))
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if got := len(files(t, dir)["data.mdb"]); got < size {
			t.Errorf("with %+v the file has %d bytes, before it had %d", opts, got, size)
		}
	}
}

// A store that was filled nearly to the end of its map takes writes from whoever opens it
// without a word about sizes, or with too small a size.
func TestL6AlmostFull(t *testing.T) {
	for _, opts := range []okra.Options{{}, {MapSize: 1}, {MapSize: 2 * mebi}} {
		dir := t.TempDir()
		db := storeIn(t, dir, okra.Options{MapSize: 2 * mebi, MaxSize: 2 * mebi})
		n := 0
		for ; statsOf(t, db).UsedSize < 2*mebi*95/100; n++ {
			updateOK(t, db, fill(fmt.Sprint("part ", n), 20))
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		db = storeIn(t, dir, opts)
		updateOK(t, db, fill("more", 4000))
		viewOK(t, db, filled("more", 4000))
		viewOK(t, db, filled(fmt.Sprint("part ", n-1), 20))
	}
}

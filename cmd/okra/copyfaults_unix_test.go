//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/okradb/okra-go/okra"
)

func noMore(io.Closer) {}

// compact does not touch a store that a program has open, for reading or for writing.
func TestL23_CompactRefusesOpenStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kv")
	fillStore(t, dir, 1000)
	before, err := os.ReadFile(filepath.Join(dir, "data.mdb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, opts := range []*okra.Options{{}, {ReadOnly: true}} {
		db, err := okra.Open(dir, opts)
		if err != nil {
			t.Fatal(err)
		}
		code, out := okraRun(t, "compact", dir)
		if code != exitFailed || !strings.Contains(out, "another program has the store open") {
			t.Errorf("compact of a store that is open: exit code %d: %s", code, out)
		}
		if code, out := okraRun(t, "compact", dir, "--to", filepath.Join(t.TempDir(), "to")); code != 0 {
			t.Errorf("compact --to of a store that is open: %s", out)
		}
		if left := leftovers(dir, "partial"); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	after, err := os.ReadFile(filepath.Join(dir, "data.mdb"))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("data.mdb has changed (%v)", err)
	}
	if code, out := okraRun(t, "compact", dir); code != exitDone {
		t.Errorf("compact once it is closed: %s", out)
	}
}

// While compacts come and go, programs that open the store in between read and write it, or are
// told that they cannot: nothing that was acknowledged is lost.
func TestL23_CompactBesideOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kv")
	fillStore(t, dir, 2000)
	// So many of both at least. Who is far ahead rests: else one that is slower may have no turn.
	const ahead = 4
	enough := int64(rounds(5, 150))
	var compacts, puts atomic.Int64
	until := time.Now().Add(5 * time.Minute)
	more := func() bool {
		return (compacts.Load() < enough || puts.Load() < enough) && time.Now().Before(until)
	}
	rest := func(ours, theirs *atomic.Int64) {
		for ours.Load() >= theirs.Load()+ahead && more() {
			time.Sleep(time.Millisecond)
		}
	}
	var wg sync.WaitGroup
	var acknowledged []string
	var refused, unlucky int
	wg.Go(func() {
		for more() {
			rest(&compacts, &puts)
			switch code, out := okraRun(t, "compact", dir); {
			case code == exitDone:
				compacts.Add(1)
			case strings.Contains(out, "another program"):
				refused++
			default:
				t.Errorf("compact: %s", out)
			}
		}
	})
	wg.Go(func() {
		for i := 0; more(); i++ {
			rest(&puts, &compacts)
			key := fmt.Sprintf("new/%d", i)
			if code, out := okraRun(t, "put", dir, key, "1"); code == exitDone {
				acknowledged = append(acknowledged, key)
				puts.Add(1)
			} else if unlucky++; !strings.Contains(out, "LMDB") && !strings.Contains(out, "MDB_") {
				t.Errorf("put: %s", out)
			} else if unlucky < 3 {
				t.Logf("put: %s", out)
			}
			// One that was acknowledged is seen from then on.
			if len(acknowledged) > 0 {
				last := acknowledged[len(acknowledged)-1]
				if code, out := okraRun(t, "get", dir, last); code == exitNo {
					t.Errorf("get %s: %s", last, out)
				}
			}
		}
	})
	wg.Wait()
	t.Logf("%d compacts, %d refused; %d puts, %d that could not open the store", compacts.Load(), refused,
		puts.Load(), unlucky)
	if compacts.Load() < enough || puts.Load() < enough {
		t.Errorf("they hardly take turns: %d compacts, %d puts", compacts.Load(), puts.Load())
	}
	want := trailerOf(t, dir)
	if want.Count != int64(2000+len(acknowledged)) {
		t.Errorf("the store has %s, of %d puts", want, len(acknowledged))
	}
	sound(t, dir, want)
	db, err := okra.Open(dir, &okra.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(func(tx *okra.Tx) error {
		for _, key := range acknowledged {
			if _, err := tx.Get([]byte(key)); err != nil {
				t.Errorf("%s was acknowledged: %v", key, err)
			}
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// Backups of a store that is written to are states of it, whole.
func TestL24_BackupBesideWriter(t *testing.T) {
	dir := t.TempDir()
	kv := filepath.Join(dir, "kv")
	filled := fillStore(t, kv, 5000)
	db, err := okra.Open(kv, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	end := make(chan bool)
	begun := make(chan bool)
	written := make(chan map[okra.Root]bool)
	go func() {
		roots := map[okra.Root]bool{filled.Root: true}
		for i := 0; ; i++ {
			if i == 1 {
				close(begun)
			}
			select {
			case <-end:
				written <- roots
				return
			default:
			}
			err := db.Update(func(tx *okra.Tx) error {
				for k := range 50 {
					key := fmt.Appendf(nil, "key%05d", (i*997+k*31)%5000)
					if err := tx.Put(key, fmt.Append(nil, i)); err != nil {
						return err
					}
				}
				root, err := tx.Root()
				roots[root] = true
				return err
			})
			if err != nil {
				t.Errorf("update: %v", err)
			}
		}
	}()
	<-begun
	var copies []string
	for i := range rounds(3, 15) {
		to := filepath.Join(dir, fmt.Sprintf("copy%d", i))
		args := []string{"backup", kv, to}
		if i%2 == 1 {
			args = []string{"compact", kv, "--to", to}
		}
		if code, out := okraRun(t, args...); code != exitDone {
			t.Errorf("%v: %s", args, out)
			continue
		}
		copies = append(copies, to)
	}
	close(end)
	roots := <-written
	for _, to := range copies {
		got := trailerOf(t, to)
		sound(t, to, got)
		if got.Count != 5000 || !roots[got.Root] {
			t.Errorf("%s has %s, which the store never had", to, got)
		}
	}
}

package sync_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/okradb/okra-go/okra"
	okrasync "github.com/okradb/okra-go/sync"
)

// open opens a new store whose commits are not flushed.
func open(t testing.TB, q uint32) *okra.DB {
	t.Helper()
	return openFormat(t, okra.Options{Q: q})
}

func openFormat(t testing.TB, opts okra.Options) *okra.DB {
	t.Helper()
	opts.NoSync = true
	opts.MapSize = 1 << 30
	db, err := okra.Open(t.TempDir(), &opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// contents is what a store holds.
type contents map[string]string

func read(t testing.TB, db *okra.DB) contents {
	t.Helper()
	c := contents{}
	err := db.View(func(tx *okra.Tx) error {
		for e, err := range tx.All() {
			if err != nil {
				return err
			}
			c[string(e.Key)] = string(e.Value)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// write makes the store hold c.
func write(t testing.TB, db *okra.DB, c contents) {
	t.Helper()
	have := read(t, db)
	err := db.Update(func(tx *okra.Tx) error {
		for k := range have {
			if _, ok := c[k]; !ok {
				if err := tx.Delete([]byte(k)); err != nil {
					return err
				}
			}
		}
		for k, v := range c {
			if err := tx.Put([]byte(k), []byte(v)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func put(t testing.TB, db *okra.DB, key, value string) {
	t.Helper()
	if err := db.Update(func(tx *okra.Tx) error { return tx.Put([]byte(key), []byte(value)) }); err != nil {
		t.Fatal(err)
	}
}

func rootOf(t testing.TB, db *okra.DB) (root okra.Root) {
	t.Helper()
	err := db.View(func(tx *okra.Tx) (err error) {
		root, err = tx.Root()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// inTime runs fn in a time that is not the machine's, which may be slow: it goes on when all of
// fn's goroutines wait for it or for each other.
func inTime(t *testing.T, fn func()) {
	t.Helper()
	synctest.Test(t, func(*testing.T) { fn() })
}

// session runs fn with one end of a pipe and Serve on the other, in time, and returns what Serve
// did.
func session(t *testing.T, server *okra.DB, opts *okrasync.ServeOptions, fn func(conn net.Conn)) (sum okrasync.Summary, err error) {
	t.Helper()
	inTime(t, func() {
		a, b := net.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer b.Close()
			sum, err = okrasync.Serve(context.Background(), b, server, opts)
		}()
		defer func() { <-done }()
		defer a.Close()
		fn(a)
	})
	return sum, err
}

type operation = func(context.Context, okrasync.Conn, *okra.DB, *okrasync.Options) (okrasync.Summary, error)

// ask runs one session between two stores.
func ask(t *testing.T, op operation, client, server *okra.DB, opts *okrasync.Options, serve *okrasync.ServeOptions) okrasync.Summary {
	t.Helper()
	if serve == nil {
		serve = &okrasync.ServeOptions{Write: true}
	}
	var sum okrasync.Summary
	var err error
	_, serveErr := session(t, server, serve, func(conn net.Conn) {
		sum, err = op(context.Background(), conn, client, opts)
	})
	if err := errors.Join(err, serveErr); err != nil {
		t.Fatal(err)
	}
	return sum
}

// pair makes the contents of two stores that share most of n entries.
func pair(random *rand.Rand, n int) (ours, theirs contents) {
	ours, theirs = contents{}, contents{}
	for i := range n {
		key := fmt.Sprintf("%c%0*d", 'a'+random.IntN(3), 1+random.IntN(20), i)
		value := fmt.Sprint(random.Uint64())
		ours[key], theirs[key] = value, value
	}
	change := func(c contents) {
		keys := slices.Sorted(maps.Keys(c))
		switch random.IntN(5) {
		case 0: // as it is
		case 1: // a range is missing
			if n > 1 {
				from := random.IntN(n)
				for _, k := range keys[from:min(n, from+1+random.IntN(n))] {
					delete(c, k)
				}
			}
		case 2:
			clear(c)
		default:
			for range random.IntN(n/4 + 2) {
				switch random.IntN(3) {
				case 0:
					c[fmt.Sprintf("%c%d", 'a'+random.IntN(4), random.IntN(2*n+1))] = "new"
				case 1:
					if len(keys) > 0 {
						delete(c, keys[random.IntN(len(keys))])
					}
				case 2:
					if len(keys) > 0 {
						c[keys[random.IntN(len(keys))]] = fmt.Sprint(random.Uint64())
					}
				}
			}
		}
	}
	change(ours)
	change(theirs)
	return ours, theirs
}

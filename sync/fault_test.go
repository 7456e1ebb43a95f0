package sync_test

import (
	"context"
	"errors"
	"maps"
	"net"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okradb/okra-go/okra"
	okrasync "github.com/okradb/okra-go/sync"
)

// TestCutAnywhere cuts a session after every number of bytes, at either side.
func TestCutAnywhere(t *testing.T) {
	step := 2
	if testing.Short() {
		step = 29
	}
	client, server := open(t, 4), open(t, 4)
	ours, theirs := with(numbered("k", 60), numbered("o", 9)), with(numbered("k", 60), numbered("t", 9))
	theirs["k000030"] = strings.Repeat("long", 1500)
	opts := okrasync.Options{Resolve: okrasync.Larger, Limits: okrasync.Limits{MaxFrame: 4 << 10}}
	all := with(ours, theirs)
	for n := 0; ; n += step {
		write(t, client, ours)
		write(t, server, theirs)
		left := new(atomic.Int64)
		left.Store(int64(n))
		sum, err, _ := through(t, okrasync.Sync, client, server, &opts, nil, func(conn net.Conn) net.Conn {
			return &wrapped{Conn: conn, left: left}
		})
		if err == nil {
			if rootOf(t, client) != rootOf(t, server) {
				t.Fatalf("after %d bytes: no error, and not equal: %+v", n, sum)
			}
			break
		}
		if !errors.Is(err, okrasync.ErrCut) || !strings.Contains(err.Error(), ": ") || sum.Complete {
			t.Fatalf("after %d bytes: %v", n, err)
		}
		if n%37 == 0 {
			verify(t, client)
			verify(t, server)
		}
		ask(t, okrasync.Sync, client, server, &opts, nil)
		if got := read(t, client); len(got) != len(all) || !maps.Equal(got, read(t, server)) {
			t.Fatalf("after %d bytes and once more: %d entries, want %d", n, len(got), len(all))
		}
	}
	noSnapshots(t, client)
	noSnapshots(t, server)
}

func TestAcceptRefuses(t *testing.T) {
	client, server := open(t, 4), open(t, 4)
	write(t, client, numbered("o", 20))
	write(t, server, numbered("t", 20))
	accept := func(key, _ []byte) error {
		if key[len(key)-1] == '7' {
			return errors.New("ends in 7")
		}
		return nil
	}
	opts := okrasync.Options{Accept: accept}
	sum := ask(t, okrasync.Sync, client, server, &opts, &okrasync.ServeOptions{Write: true, Accept: accept})
	if sum.Here.Added != 18 || sum.There.Added != 18 || len(sum.Refused) != 2 || sum.Complete || sum.Equal {
		t.Errorf("%+v", sum)
	}
	for _, r := range sum.Refused {
		if r.Reason != okrasync.ReasonAccept || r.Count != 2 || len(r.Keys) != 2 || r.Detail != "ends in 7" {
			t.Errorf("%+v", r)
		}
	}
	limits := okrasync.Limits{MaxRefused: 1}
	_, err, _ := through(t, okrasync.Sync, client, server, &okrasync.Options{Accept: accept, Limits: limits}, nil, func(c net.Conn) net.Conn { return c })
	wantErr(t, "MaxRefused here", err, okrasync.ErrLimit, "MaxRefused")
	write(t, client, numbered("o", 40))
	_, err, serveErr := through(t, okrasync.Push, client, server, nil, &okrasync.ServeOptions{Write: true, Accept: accept, Limits: limits}, func(c net.Conn) net.Conn { return c })
	wantErr(t, "MaxRefused there", serveErr, okrasync.ErrLimit, "MaxRefused")
	wantErr(t, "MaxRefused there", err, okrasync.ErrLimit, "MaxRefused")
}

func TestPanicsPassThrough(t *testing.T) {
	client, server := open(t, 4), open(t, 4)
	write(t, client, contents{"a": "1"})
	write(t, server, contents{"a": "2", "b": "2"})
	boom := func() { panic("boom") }
	for name, opts := range map[string]okrasync.Options{
		"Accept":  {Accept: func(_, _ []byte) error { boom(); return nil }},
		"Merge":   {Resolve: okrasync.Merge(func(_, _, _ []byte) ([]byte, error) { boom(); return nil, nil })},
		"OnEvent": {OnEvent: func(okrasync.Event) { boom() }},
	} {
		write(t, client, contents{"a": "1"})
		_, _ = session(t, server, nil, func(conn net.Conn) {
			defer func() {
				if got := recover(); got != "boom" {
					t.Errorf("%s: recovered %v", name, got)
				}
			}()
			_, _ = okrasync.Pull(context.Background(), conn, client, &opts)
		})
		noSnapshots(t, client)
		put(t, client, "c", name) // no transaction is open
	}
	fail := errors.New("no idea")
	opts := okrasync.Options{Resolve: okrasync.Merge(func(_, _, _ []byte) ([]byte, error) { return nil, fail })}
	write(t, client, contents{"a": "1"})
	_, err, _ := through(t, okrasync.Sync, client, server, &opts, nil, func(c net.Conn) net.Conn { return c })
	if !errors.Is(err, fail) {
		t.Errorf("%v", err)
	}
	same(t, "after a failed Merge", read(t, client), contents{"a": "1"})
}

// The end of the context ends a session at once, wherever it is.
func TestCancelAnywhere(t *testing.T) {
	client, server := open(t, 4), open(t, 4)
	cause := errors.New("enough of that")
	for n := 1; ; n++ {
		write(t, client, numbered("o", 50))
		write(t, server, numbered("t", 50))
		calls := 0
		var err error
		_, _ = session(t, server, &okrasync.ServeOptions{Write: true}, func(conn net.Conn) {
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			start := time.Now()
			_, err = okrasync.Sync(ctx, &wrapped{Conn: conn, before: func() {
				if calls++; calls == n {
					cancel(cause)
				}
			}}, client, nil)
			if d := time.Since(start); d > 0 {
				t.Errorf("call %d: took %v", n, d)
			}
		})
		noSnapshots(t, client)
		if calls < n {
			break
		}
		if err != nil && !errors.Is(err, cause) && !errors.Is(err, context.Canceled) {
			t.Errorf("call %d: %v", n, err)
		}
	}
}

func TestStoreIsClosedMeanwhile(t *testing.T) {
	for side := range 2 {
		client, server := open(t, 4), open(t, 4)
		write(t, client, numbered("o", 50))
		write(t, server, numbered("t", 50))
		closed := make(chan error, 1)
		calls := 0
		_, err, serveErr := through(t, okrasync.Sync, client, server, nil, nil, func(conn net.Conn) net.Conn {
			return &wrapped{Conn: conn, before: func() {
				if calls++; calls == 2 {
					db := []*okra.DB{client, server}[side]
					go func() { closed <- db.Close() }()
					for db.View(func(*okra.Tx) error { return nil }) == nil {
						runtime.Gosched()
					}
				}
			}}
		})
		if side == 0 && !errors.Is(err, okra.ErrClosed) || side == 1 && (!errors.Is(serveErr, okra.ErrClosed) || !errors.Is(err, okrasync.ErrPeer) || !strings.HasSuffix(err.Error(), "its own log says why")) {
			t.Errorf("side %d: %v; %v", side, err, serveErr)
		}
		if err := <-closed; err != nil {
			t.Error(err)
		}
	}
}

func TestDeniedAndBusy(t *testing.T) {
	client, server := open(t, 4), open(t, 4)
	write(t, client, numbered("o", 500))
	write(t, server, numbered("t", 500))
	same := func(c net.Conn) net.Conn { return c }
	_, err, _ := through(t, okrasync.Push, client, server, nil, &okrasync.ServeOptions{}, same)
	wantErr(t, "push", err, okrasync.ErrDenied, "may only read")
	_, err, _ = through(t, okrasync.Pull, client, server, nil, &okrasync.ServeOptions{Budget: okrasync.NewBudget(100)}, same)
	wantErr(t, "budget", err, okrasync.ErrBusy, "try again")
	_, err, _ = through(t, okrasync.Pull, client, server, &okrasync.Options{Limits: okrasync.Limits{MaxReceive: 1000}}, nil, same)
	wantErr(t, "MaxReceive", err, okrasync.ErrLimit, "MaxReceive")
	for _, l := range []okrasync.Limits{{MaxFrame: 4095}, {MaxFrame: 1<<20 + 1}, {MaxValue: -1}, {Timeout: -1}} {
		if _, err := okrasync.Pull(context.Background(), nil, client, &okrasync.Options{Limits: l}); !errors.Is(err, okra.ErrOptions) {
			t.Errorf("%+v: %v", l, err)
		}
	}
}

func TestDiffThatIsLeft(t *testing.T) {
	client, server := open(t, 4), open(t, 4)
	write(t, client, numbered("o", 50))
	write(t, server, numbered("t", 50))
	n := 0
	_, _ = session(t, server, nil, func(conn net.Conn) {
		for d, err := range okrasync.Diff(context.Background(), conn, client, nil) {
			if err != nil || d.Change != okra.Removed {
				t.Errorf("%+v, %v", d, err)
			}
			if n++; n == 3 {
				break
			}
		}
	})
	if n != 3 {
		t.Errorf("%d differences", n)
	}
	noSnapshots(t, client)
}

// TestMemory syncs large stores within little memory. What is measured is the heap that is in
// use, sampled with a collection before each sample.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("makes large stores")
	}
	const n, every = 1_000_000, 20
	client, server := open(t, 32), open(t, 32)
	fill := func(db *okra.DB, skip int) {
		err := db.Update(func(tx *okra.Tx) error {
			for i := range n {
				if i%every == skip {
					continue
				}
				key, value := []byte("k0000000"), make([]byte, 32)
				for j, x := 7, i; x > 0; j, x = j-1, x/10 {
					key[j] = byte('0' + x%10)
				}
				if err := tx.Put(key, value); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	fill(client, 1)
	fill(server, 2)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for name, fn := range map[string]func(okrasync.Conn) error{
		"diff": func(c okrasync.Conn) error {
			for _, err := range okrasync.Diff(context.Background(), c, client, nil) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"mirror, dry": func(c okrasync.Conn) error {
			_, err := okrasync.Pull(context.Background(), c, client, &okrasync.Options{Mirror: true, DryRun: true})
			return err
		},
		"push, mirror, dry": func(c okrasync.Conn) error {
			_, err := okrasync.Push(context.Background(), c, client, &okrasync.Options{Mirror: true, DryRun: true})
			return err
		},
	} {
		for range 3 {
			heap() // what the transactions keep for the next goes in turns
		}
		before := heap()
		most, calls := before, 0
		_, err := session(t, server, &okrasync.ServeOptions{Write: true}, func(conn net.Conn) {
			err := fn(&wrapped{Conn: conn, before: func() {
				if calls++; calls < 100 || calls%8 == 0 {
					synctest.Wait() // the other side makes no garbage meanwhile
					most = max(most, heap())
				}
			}})
			if err != nil {
				t.Error(name, err)
			}
		})
		if err != nil {
			t.Error(name, err)
		}
		t.Logf("%s: %d KiB for both sides", name, (most-before)>>10)
		if most-before > 8<<20 { // of two sides
			t.Errorf("%s: %d KiB of heap", name, (most-before)>>10)
		}
	}
}

func TestMain(m *testing.M) {
	before := runtime.NumGoroutine()
	code := m.Run()
	for range 3000 {
		if runtime.NumGoroutine() <= before+1 || code != 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before+1 && code == 0 {
		buf := make([]byte, 1<<16)
		println("goroutines are left:", n, "\n", string(buf[:runtime.Stack(buf, true)]))
		code = 1
	}
	os.Exit(code)
}

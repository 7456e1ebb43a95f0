package sync_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"testing"

	"github.com/okradb/okra-go/okra"
	okrasync "github.com/okradb/okra-go/sync"
)

// TestWritersUnderTightBounds lets both trees change between the messages of sessions with many
// short passes. A key that is never written meanwhile is in the union, and in a mirror if the
// source has it; one that the target writes after the session began is never deleted with a
// value that was not there to be compared; and sessions end.
func TestWritersUnderTightBounds(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	for seed := range rounds {
		random := rand.New(rand.NewPCG(uint64(seed), 9))
		okrasync.Tighten(t, random)
		client, server := open(t, 3), open(t, 3)
		base := numbered("k", 150)
		write(t, client, with(base, numbered("o", 60)))
		write(t, server, with(base, numbered("t", 60)))
		mirror := seed%2 == 1
		opts := okrasync.Options{Mirror: mirror, Resolve: okrasync.Larger}
		calls := 0
		current := contents{} // of what is written here, by its key
		opts.OnEvent = func(e okrasync.Event) {
			if e.Action == okrasync.Deleted && !e.There {
				delete(current, string(e.Key))
			}
			if e.Action == okrasync.Added && random.IntN(3) == 0 {
				// Between a batch and the deletes of its pass: a delete must see that it is new.
				k := fmt.Sprintf("o%06d", random.IntN(60))
				current[k] = fmt.Sprint("new ", calls)
				put(t, client, k, current[k])
			}
		}
		disturb := func() {
			if calls++; calls%5 != 0 || calls > 2000 {
				return
			}
			put(t, []*okra.DB{client, server}[calls/5%2], fmt.Sprintf("k%06d+", random.IntN(150)), fmt.Sprint(calls))
		}
		op := []operation{okrasync.Sync, okrasync.Pull}[seed%2]
		sum, err, serveErr := through(t, op, client, server, &opts, nil, func(conn net.Conn) net.Conn {
			return &wrapped{Conn: conn, before: disturb}
		})
		if err != nil && !errors.Is(err, okrasync.ErrMoving) {
			t.Fatalf("seed %d: %v, %v", seed, err, serveErr)
		}
		verify(t, client)
		verify(t, server)
		want := base
		if err == nil {
			want = with(base, numbered("t", 60))
		}
		here, there := read(t, client), read(t, server)
		for k, v := range want {
			if here[k] != v {
				t.Fatalf("seed %d: %q is lost here; %+v", seed, k, sum)
			}
		}
		for k, v := range with(base, numbered("t", 60)) {
			if there[k] != v {
				t.Fatalf("seed %d: %q is lost there", seed, k)
			}
		}
		for k, v := range current {
			if here[k] != v {
				t.Fatalf("seed %d: %q was written and is %q, want %q", seed, k, here[k], v)
			}
		}
		opts.OnEvent = nil
		ask(t, op, client, server, &opts, nil)
		if rootOf(t, client) != rootOf(t, server) {
			t.Fatalf("seed %d: not equal afterwards", seed)
		}
		noSnapshots(t, client)
		noSnapshots(t, server)
	}
}

// Three replicas with tiny bounds converge, whoever syncs with whom and how.
func TestS18TightBounds(t *testing.T) {
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	for seed := range rounds {
		random := rand.New(rand.NewPCG(uint64(seed), 180))
		okrasync.Tighten(t, random)
		dbs := []*okra.DB{open(t, 2), open(t, 2), open(t, 2)}
		for _, db := range dbs {
			c, _ := pair(random, 100)
			write(t, db, c)
		}
		opts := okrasync.Options{Resolve: okrasync.Larger}
		for i := range 5 {
			ask(t, okrasync.Sync, dbs[i%3], dbs[(i+1)%3], &opts, nil)
		}
		if a := rootOf(t, dbs[0]); a != rootOf(t, dbs[1]) || a != rootOf(t, dbs[2]) {
			t.Errorf("seed %d: no convergence", seed)
		}
	}
}

// A replica of a few entries finds a large tree's, though their short hashes are few and many of
// the other's look like them.
func TestFewAgainstMany(t *testing.T) {
	few, many := open(t, 32), open(t, 32)
	n := 60_000
	if testing.Short() {
		n = 20_000
	}
	write(t, many, numbered("k", n))
	write(t, few, contents{"k000100x": "1", "k010000x": "2", "k015000x": "3", "k000007": "value 7"})
	for _, op := range []operation{okrasync.Pull, okrasync.Push} {
		client, server := few, many
		sum := ask(t, op, client, server, nil, nil)
		if !sum.Complete {
			t.Errorf("%+v", sum)
		}
	}
	if rootOf(t, few) != rootOf(t, many) {
		t.Error("not equal")
	}
	write(t, few, contents{"k000100y": "1", "k010000y": "2"})
	_, err := session(t, few, &okrasync.ServeOptions{Write: true}, func(conn net.Conn) {
		if sum, err := okrasync.Sync(context.Background(), conn, many, nil); err != nil || !sum.Equal {
			t.Errorf("%+v, %v", sum, err)
		}
	})
	if err != nil || rootOf(t, few) != rootOf(t, many) {
		t.Errorf("other way: %v", err)
	}
}

// What a replica of a few entries lacks comes once: that hashes of its leaves look like some of
// the many others must not be found out only when all has been sent.
func TestFewAreFilledAtOnce(t *testing.T) {
	many := open(t, 32)
	n := 60_000
	if testing.Short() {
		n = 20_000
	}
	all := numbered("k", n)
	write(t, many, all)
	for _, have := range []int{1, 10, 100} {
		few := open(t, 32)
		write(t, few, numbered(fmt.Sprintf("k%06d", n/2)[:5], have))
		sum := ask(t, okrasync.Pull, few, many, nil, nil)
		if sum.Passes > 1 || sum.RoundTrips > 3 {
			t.Errorf("of %d entries: %+v", have, sum)
		}
	}
}

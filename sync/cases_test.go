package sync_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/okradb/okra-go/okra"
	okrasync "github.com/okradb/okra-go/sync"
)

// numbered returns n entries whose keys begin with prefix.
func numbered(prefix string, n int) contents {
	c := contents{}
	for i := range n {
		c[fmt.Sprintf("%s%06d", prefix, i)] = fmt.Sprint("value ", i)
	}
	return c
}

func with(c contents, more contents) contents {
	c = maps.Clone(c)
	maps.Copy(c, more)
	return c
}

// through runs op with a conn that wrap has made, and returns what both sides say.
func through(t *testing.T, op operation, client, server *okra.DB, opts *okrasync.Options, serve *okrasync.ServeOptions,
	wrap func(net.Conn) net.Conn) (sum okrasync.Summary, err, serveErr error) {
	t.Helper()
	if serve == nil {
		serve = &okrasync.ServeOptions{Write: true}
	}
	_, serveErr = session(t, server, serve, func(conn net.Conn) {
		sum, err = op(context.Background(), wrap(conn), client, opts)
	})
	return sum, err, serveErr
}

func verify(t *testing.T, db *okra.DB) {
	t.Helper()
	err := db.View(func(tx *okra.Tx) error {
		for p, err := range tx.Verify() {
			if err != nil {
				return err
			}
			t.Errorf("problem: %+v", p)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func noSnapshots(t *testing.T, db *okra.DB) {
	t.Helper()
	stats, err := db.Stats()
	if err != nil {
		t.Fatal(err)
	}
	if len(stats.Snapshots) > 0 {
		t.Errorf("snapshots are left: %+v", stats.Snapshots)
	}
}

func same(t *testing.T, what string, got, want contents) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("%s: %d entries, want %d", what, len(got), len(want))
	}
}

// A writer that never stops does not keep a session from its end.
func TestS1WriterOnTheSource(t *testing.T) {
	client, server := open(t, 4), open(t, 4)
	base := numbered("k", 500)
	write(t, server, base)
	n := 0
	sum, err, serveErr := through(t, okrasync.Pull, client, server, nil, nil, func(conn net.Conn) net.Conn {
		return &wrapped{Conn: conn, before: func() {
			n++
			put(t, server, fmt.Sprintf("w%06d", n), "written meanwhile")
		}}
	})
	if err := errors.Join(err, serveErr); err != nil {
		t.Fatal(err)
	}
	got := read(t, client)
	for k, v := range base {
		if got[k] != v {
			t.Fatalf("%q is missing; %+v", k, sum)
		}
	}
	ask(t, okrasync.Pull, client, server, nil, nil)
	same(t, "afterwards", read(t, client), read(t, server))
}

// Both trees change between all messages: keys that were visited and keys to come, with a view
// that is let go at once, so that sessions begin again or give up. Nothing else may happen.
func TestS2WritersOnBothSides(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	for seed := range rounds {
		random := rand.New(rand.NewPCG(uint64(seed), 2))
		client, server := open(t, 3), open(t, 3)
		base := numbered("k", 200)
		ours, theirs := with(base, numbered("o", 50)), with(base, numbered("t", 50))
		write(t, client, ours)
		write(t, server, theirs)
		calls := 0
		disturb := func() {
			time.Sleep(time.Millisecond) // the view is let go meanwhile
			if calls++; calls%3 != 0 {
				return
			}
			db := []*okra.DB{client, server}[random.IntN(2)]
			err := db.Update(func(tx *okra.Tx) error {
				key := fmt.Appendf(nil, "k%06d-%d", random.IntN(200), random.IntN(3))
				if random.IntN(3) == 0 {
					return tx.Delete(key)
				}
				return tx.Put(key, fmt.Append(nil, calls))
			})
			if err != nil {
				t.Error(err)
			}
		}
		limits := okrasync.Limits{Hold: time.Duration(1 + random.IntN(2)*1e9)}
		opts := okrasync.Options{Limits: limits, Mirror: seed%3 == 2, Resolve: okrasync.Larger}
		op := []operation{okrasync.Pull, okrasync.Sync, okrasync.Push}[seed%3]
		_, err, serveErr := through(t, op, client, server, &opts, &okrasync.ServeOptions{Write: true, Limits: limits},
			func(conn net.Conn) net.Conn { return &wrapped{Conn: conn, before: disturb} })
		if err != nil && !errors.Is(err, okrasync.ErrMoving) {
			t.Errorf("seed %d: %v, %v", seed, err, serveErr)
		}
		want := []contents{base, ours}[bit(seed%3 != 0)]
		for _, db := range []*okra.DB{client, server} {
			verify(t, db)
			noSnapshots(t, db)
			got := read(t, db)
			for k, v := range base {
				if got[k] != v {
					t.Fatalf("seed %d: %q is lost", seed, k)
				}
			}
		}
		got := read(t, client)
		for k, v := range want {
			if got[k] != v {
				t.Fatalf("seed %d: %q is lost here", seed, k)
			}
		}
		opts.Limits = okrasync.Limits{}
		ask(t, op, client, server, &opts, nil)
		if seed%3 > 0 && rootOf(t, client) != rootOf(t, server) {
			t.Errorf("seed %d: not equal afterwards", seed)
		}
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A mirror leaves alone what has been written since it was compared.
func TestS2MirrorSparesWhatChanges(t *testing.T) {
	client, server := open(t, 4), open(t, 4)
	write(t, server, numbered("k", 100))
	write(t, client, numbered("o", 100))
	done := false
	opts := okrasync.Options{Mirror: true, OnEvent: func(e okrasync.Event) {
		if e.Action == okrasync.Added && !done { // before anything is deleted
			done = true
			put(t, client, "o000050", "written meanwhile")
			put(t, client, "p", "written meanwhile")
		}
	}}
	sum := ask(t, okrasync.Pull, client, server, &opts, nil)
	want := with(numbered("k", 100), contents{"o000050": "written meanwhile", "p": "written meanwhile"})
	same(t, "here", read(t, client), want)
	if sum.Complete || sum.Equal || len(sum.Refused) != 1 || sum.Refused[0].Reason != okrasync.ReasonChanged || sum.Here.Deleted != 99 {
		t.Errorf("summary: %+v", sum)
	}
}

// A mirror overwrites an entry here only if it is the one that was compared.
func TestS2MirrorOverwritesOnlyWhatItCompared(t *testing.T) {
	client, server := open(t, 4), open(t, 4)
	write(t, server, with(numbered("k", 100), contents{"x": "new", "y": "new"}))
	write(t, client, with(numbered("k", 100), contents{"x": "old", "y": "old"}))
	done := false
	sum, err, serveErr := through(t, okrasync.Pull, client, server, &okrasync.Options{Mirror: true}, nil, func(conn net.Conn) net.Conn {
		return &wrapped{Conn: conn, read: func([]byte) {
			if !done { // the tree that is compared is held
				done = true
				put(t, client, "x", "written meanwhile")
			}
		}}
	})
	if err := errors.Join(err, serveErr); err != nil {
		t.Fatal(err)
	}
	same(t, "here", read(t, client), with(numbered("k", 100), contents{"x": "written meanwhile", "y": "new"}))
	wantSpared(t, sum, false, "x")
}

// What a peer is to change it changes only if it is what was compared: it neither overwrites nor
// deletes what was written since, nor puts anything in its place.
func TestS2PeerSparesWhatChanges(t *testing.T) {
	for _, mirror := range []bool{true, false} {
		client, server := open(t, 4), open(t, 4)
		ours, theirs := numbered("k", 100), numbered("o", 100)
		write(t, client, with(ours, contents{"x": "ours", "y": "ours"}))
		write(t, server, with(theirs, contents{"x": "theirs", "y": "theirs"}))
		meanwhile := contents{"k000050": "written meanwhile", "x": "written meanwhile"}
		want := with(with(ours, theirs), contents{"y": "ours"})
		opts := okrasync.Options{Mirror: mirror}
		if mirror {
			meanwhile["o000050"] = "written meanwhile"
			want = with(ours, contents{"y": "ours"})
		} else {
			opts.Resolve = okrasync.Mine
		}
		done := false
		opts.OnEvent = func(e okrasync.Event) {
			if e.There && !done { // before anything is sent
				done = true
				for k, v := range meanwhile {
					put(t, server, k, v)
				}
			}
		}
		sum := ask(t, okrasync.Push, client, server, &opts, nil)
		same(t, fmt.Sprintf("there, mirror %v", mirror), read(t, server), with(want, meanwhile))
		wantSpared(t, sum, true, slices.Sorted(maps.Keys(meanwhile))...)
	}
}

// wantSpared checks that a session says which keys it left alone since they had changed.
func wantSpared(t *testing.T, sum okrasync.Summary, there bool, keys ...string) {
	t.Helper()
	if sum.Complete || sum.Equal || len(sum.Refused) != 1 {
		t.Fatalf("summary: %+v", sum)
	}
	r := sum.Refused[0]
	got := []string{}
	for _, k := range r.Keys {
		got = append(got, string(k))
	}
	if r.Reason != okrasync.ReasonChanged || r.There != there || r.Count != int64(len(keys)) || !slices.Equal(got, keys) {
		t.Errorf("refused %+v, want %q", r, keys)
	}
}

func TestS3NewerValueGoesBothWays(t *testing.T) {
	for _, mine := range []bool{true, false} {
		for _, starter := range []int{0, 1} {
			dbs := []*okra.DB{open(t, 4), open(t, 4)}
			write(t, dbs[0], with(numbered("k", 50), contents{"x": "newer"}))
			write(t, dbs[1], with(numbered("k", 50), contents{"x": "older"}))
			opts := okrasync.Options{Resolve: okrasync.Theirs}
			want := "older"
			if mine {
				opts.Resolve = okrasync.Mine
				want = "newer"
			}
			if starter == 1 {
				want = map[string]string{"newer": "older", "older": "newer"}[want]
			}
			sum := ask(t, okrasync.Sync, dbs[starter], dbs[1-starter], &opts, nil)
			if rootOf(t, dbs[0]) != rootOf(t, dbs[1]) || read(t, dbs[0])["x"] != want || !sum.Equal || !sum.Complete {
				t.Errorf("mine %v, started by %d: %q, want %q; %+v", mine, starter, read(t, dbs[0])["x"], want, sum)
			}
		}
	}
}

func TestS4ConflictsAreReported(t *testing.T) {
	client, server := open(t, 4), open(t, 4)
	write(t, client, contents{"a": "1", "b": "2", "c": "3"})
	write(t, server, contents{"a": "9", "b": "2", "c": "8"})
	var keys []string
	opts := okrasync.Options{OnEvent: func(e okrasync.Event) { keys = append(keys, e.Action.String()+" "+string(e.Key)) }}
	sum := ask(t, okrasync.Sync, client, server, &opts, nil)
	if sum.Conflicts.Left != 2 || sum.Complete || !slices.Equal(keys, []string{"conflict a", "conflict c"}) {
		t.Errorf("%v, %+v", keys, sum)
	}
	opts.Resolve = okrasync.Merge(func(key, mine, theirs []byte) ([]byte, error) {
		if string(key) == "c" {
			return nil, fmt.Errorf("too hard: %w", okrasync.ErrConflict)
		}
		return append(slices.Clone(mine), theirs...), nil
	})
	sum = ask(t, okrasync.Sync, client, server, &opts, nil)
	want := contents{"a": "19", "b": "2", "c": "3"}
	same(t, "here", read(t, client), want)
	want["c"] = "8"
	same(t, "there", read(t, server), want)
	if sum.Conflicts.Left != 1 || sum.Conflicts.Merged != 1 {
		t.Errorf("%+v", sum)
	}
}

func TestS5DeletedKeyComesBackInAUnion(t *testing.T) {
	client, server := open(t, 4), open(t, 4)
	all := numbered("k", 50)
	write(t, client, all)
	write(t, server, all)
	less := maps.Clone(all)
	delete(less, "k000007")
	write(t, client, less)
	ask(t, okrasync.Pull, client, server, nil, nil)
	same(t, "union", read(t, client), all)
	write(t, client, less)
	ask(t, okrasync.Push, client, server, &okrasync.Options{Mirror: true}, nil)
	same(t, "mirror", read(t, server), less)
}

func TestS6MirrorIsNeverTheDefault(t *testing.T) {
	ours, theirs := numbered("o", 40), with(numbered("t", 30), contents{"x": "1"})
	for name, op := range map[string]operation{"pull": okrasync.Pull, "push": okrasync.Push, "sync": okrasync.Sync} {
		client, server := open(t, 4), open(t, 4)
		write(t, client, with(ours, contents{"x": "2"}))
		write(t, server, theirs)
		sum := ask(t, op, client, server, nil, nil)
		here, there := read(t, client), read(t, server)
		if len(with(here, ours)) != len(here) || len(with(there, theirs)) != len(there) || sum.Here.Deleted+sum.There.Deleted != 0 {
			t.Errorf("%s: something was deleted: %+v", name, sum)
		}
		if name == "sync" {
			continue
		}
		write(t, client, with(ours, contents{"x": "2"}))
		write(t, server, theirs)
		before := []okra.Root{rootOf(t, client), rootOf(t, server)}
		deleted := 0
		opts := okrasync.Options{Mirror: true, DryRun: true, OnEvent: func(e okrasync.Event) { deleted += bit(e.Action == okrasync.Deleted) }}
		sum = ask(t, op, client, server, &opts, &okrasync.ServeOptions{})
		made := sum.Here
		want := okrasync.Changes{Added: 30, Changed: 1, Deleted: 40}
		if name == "push" {
			made, want = sum.There, okrasync.Changes{Added: 40, Changed: 1, Deleted: 30}
		}
		if made != want || deleted != int(want.Deleted) || !sum.DryRun || sum.Equal {
			t.Errorf("%s, dry: %+v, %d events", name, sum, deleted)
		}
		if !slices.Equal(before, []okra.Root{rootOf(t, client), rootOf(t, server)}) {
			t.Errorf("%s: a dry run has written", name)
		}
		opts.DryRun = false
		wet := ask(t, op, client, server, &opts, nil)
		if wet.Here != sum.Here || wet.There != sum.There || !wet.Equal || !wet.Complete {
			t.Errorf("%s: the dry run said %+v, and then came %+v", name, sum, wet)
		}
	}
	if _, err := okrasync.Sync(context.Background(), nil, open(t, 4), &okrasync.Options{Mirror: true}); !errors.Is(err, okra.ErrOptions) {
		t.Errorf("mirror both ways: %v", err)
	}
}

func TestS7WhatWasSentIsSentAgain(t *testing.T) {
	client, server := open(t, 4), open(t, 4)
	write(t, server, numbered("k", 50))
	for range 2 {
		ask(t, okrasync.Pull, client, server, nil, nil)
		same(t, "here", read(t, client), numbered("k", 50))
		if err := client.Update(func(tx *okra.Tx) error { return tx.Delete([]byte("k000030")) }); err != nil {
			t.Fatal(err)
		}
	}
}

func TestS8OneValueTooLarge(t *testing.T) {
	const limit = 100_000
	base := numbered("k", 1000)
	for _, size := range []int{0, limit - 1, limit, limit + 1} {
		big := contents{"k000500x": strings.Repeat("x", size)}
		for name, op := range map[string]operation{"pull": okrasync.Pull, "push": okrasync.Push, "mirror": okrasync.Pull} {
			client, server := open(t, 32), open(t, 32)
			source, target := server, client
			if name == "push" {
				source, target = client, server
			}
			write(t, source, with(base, big))
			opts := okrasync.Options{Mirror: name == "mirror", Limits: okrasync.Limits{MaxValue: limit}}
			if name == "mirror" {
				write(t, target, contents{"k000500x": "stays", "z": "goes"})
			}
			sum := ask(t, op, client, server, &opts, nil)
			want := with(base, big)
			if size > limit {
				delete(want, "k000500x")
				if name == "mirror" {
					want["k000500x"] = "stays"
				}
				if len(sum.Refused) != 1 || sum.Refused[0].Reason != okrasync.ReasonTooLarge || string(sum.Refused[0].Keys[0]) != "k000500x" ||
					!strings.Contains(sum.Refused[0].Detail, fmt.Sprint(size)) || sum.Complete {
					t.Errorf("%s, %d bytes: %+v", name, size, sum)
				}
			} else if !sum.Complete || !sum.Equal {
				t.Errorf("%s, %d bytes: %+v", name, size, sum)
			}
			same(t, fmt.Sprint(name, size), read(t, target), want)
		}
	}
}

func TestS8LongValues(t *testing.T) {
	if testing.Short() {
		t.Skip("moves 200 MiB")
	}
	large := contents{"a": "1", "b": strings.Repeat("large", 20<<20), "c": "3"}
	limits := okrasync.Limits{MaxValue: 128 << 20}
	client, server := open(t, 32), open(t, 32)
	write(t, server, large)
	ask(t, okrasync.Pull, client, server, &okrasync.Options{Limits: limits}, &okrasync.ServeOptions{Limits: limits})
	if rootOf(t, client) != rootOf(t, server) {
		t.Error("pull: not equal")
	}
	write(t, server, contents{})
	sum := ask(t, okrasync.Push, client, server, &okrasync.Options{Limits: limits}, &okrasync.ServeOptions{Write: true, Limits: limits})
	if rootOf(t, client) != rootOf(t, server) || !sum.Complete {
		t.Errorf("push: not equal: %+v", sum)
	}
}

// frames checks the frames of a stream, which begins with a preface.
type frames struct {
	buf   []byte
	begun bool
	most  int
}

func (f *frames) add(b []byte) {
	f.buf = append(f.buf, b...)
	if !f.begun && len(f.buf) >= 5 {
		f.begun, f.buf = true, f.buf[5:]
	}
	for f.begun {
		n, size := binary.Uvarint(f.buf)
		if size <= 0 || len(f.buf) < size+int(n) {
			return
		}
		f.most = max(f.most, int(n))
		f.buf = f.buf[size+int(n):]
	}
}

func TestS9ManyScatteredDifferences(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 3000
	}
	ours, theirs := numbered("k", n), numbered("k", n)
	for i := 0; i < n; i += 50 {
		delete(ours, fmt.Sprintf("k%06d", i))
		theirs[fmt.Sprintf("k%06d", i+25)] = "other"
	}
	client, server := open(t, 32), open(t, 32)
	write(t, client, ours)
	write(t, server, theirs)
	var sent, received frames
	opts := okrasync.Options{Resolve: okrasync.Theirs, Limits: okrasync.Limits{MaxFrame: 4 << 10}}
	sum, err, serveErr := through(t, okrasync.Sync, client, server, &opts, nil, func(conn net.Conn) net.Conn {
		return &wrapped{Conn: conn, write: sent.add, read: received.add}
	})
	if err := errors.Join(err, serveErr); err != nil {
		t.Fatal(err)
	}
	if rootOf(t, client) != rootOf(t, server) || sum.Here.Added != int64(n/50) || sum.Here.Changed != int64(n/50) {
		t.Errorf("%+v", sum)
	}
	if sent.most > 4<<10 || received.most > 4<<10 || received.most == 0 || len(sent.buf)+len(received.buf) > 0 {
		t.Errorf("frames of %d and %d bytes", sent.most, received.most)
	}
}

func TestS16KeysInTheOrderOfBytes(t *testing.T) {
	keys := contents{"\x00": "", "\x00\x00": "", "a": "", "a\x00": "", "a\x00\x00": "", "ab": "", "\x7f": "", "\x80": "", "\xff": "", "\xff\xff": "", strings.Repeat("\xff", 510): "longest"}
	for i := range 300 {
		keys[string(binary.AppendUvarint([]byte("v"), uint64(i*i)))] = fmt.Sprint(i)
	}
	for _, q := range []uint32{2, 32} {
		client, server := open(t, q), open(t, q)
		ours, theirs := contents{}, contents{}
		for i, k := range slices.Sorted(maps.Keys(keys)) {
			if i%3 > 0 {
				ours[k] = keys[k]
			}
			if i%3 < 2 {
				theirs[k] = keys[k]
			}
		}
		write(t, client, ours)
		write(t, server, theirs)
		ask(t, okrasync.Sync, client, server, nil, nil)
		same(t, "here", read(t, client), keys)
		same(t, "there", read(t, server), keys)
	}
}

func TestS17FewRoundTrips(t *testing.T) {
	ours := numbered("k", 20_000)
	theirs := maps.Clone(ours)
	for i := 0; i < 20_000; i += 100 {
		delete(ours, fmt.Sprintf("k%06d", i))
	}
	client, server := open(t, 32), open(t, 32)
	write(t, client, ours)
	write(t, server, theirs)
	sum := ask(t, okrasync.Pull, client, server, nil, nil)
	if sum.RoundTrips > 4 || sum.Passes != 1 || !sum.Equal {
		t.Errorf("%+v", sum)
	}
	sum = ask(t, okrasync.Pull, client, server, nil, nil)
	if sum.RoundTrips != 1 || !sum.Equal || !sum.Complete {
		t.Errorf("equal: %+v", sum)
	}
	put(t, server, "z", "appended")
	sum = ask(t, okrasync.Pull, client, server, nil, nil)
	if sum.RoundTrips != 1 || !sum.Equal || sum.Here.Added != 1 {
		t.Errorf("appended there: %+v", sum)
	}
	put(t, client, "zz", "appended")
	for _, op := range []operation{okrasync.Pull, okrasync.Push} {
		if sum = ask(t, op, client, server, nil, nil); sum.RoundTrips > 2 || !sum.Complete {
			t.Errorf("appended here: %+v", sum)
		}
	}
	if rootOf(t, client) != rootOf(t, server) {
		t.Error("not equal")
	}
}

// What a session of both directions has just received is not sent back, nor told as sent, however
// the entries of the sides lie among each other.
func TestNothingIsSentBack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	some := func(n int) contents {
		c := contents{}
		for range n {
			c[fmt.Sprintf("%016x", random.Uint64())] = strings.Repeat("v", 300)
		}
		return c
	}
	for _, n := range [][2]int{{10_000, 10_000}, {3000, 3000}, {100, 5000}, {5000, 100}, {3, 5000}, {5000, 3}} {
		client, server := open(t, 32), open(t, 32)
		ours, theirs := some(n[0]), some(n[1])
		write(t, client, ours)
		write(t, server, theirs)
		events := 0
		opts := okrasync.Options{OnEvent: func(e okrasync.Event) {
			if e.There {
				if events++; ours[string(e.Key)] == "" {
					t.Errorf("%v: sent back: %q", n, e.Key)
				}
			}
		}}
		sum := ask(t, okrasync.Sync, client, server, &opts, nil)
		if !sum.Equal || sum.There.Added != int64(n[0]) || sum.Here.Added != int64(n[1]) || events != n[0] {
			t.Errorf("%v: %d events, %+v", n, events, sum)
		}
		if most := int64(340*n[0]) + sum.Discovery; sum.BytesSent > most {
			t.Errorf("%v: %d bytes sent, want %d at most; %+v", n, sum.BytesSent, most, sum)
		}
	}
}

// A push asks the peer for what may be in conflict, not for all that only the peer has.
func TestPushLeavesThePeersEntries(t *testing.T) {
	base := numbered("k", 3000)
	part := contents{}
	for k, v := range base {
		if k < "k001000" {
			part[k] = v
		}
	}
	scattered := with(base, contents{"k000500x": "ours", "k001500x": "ours"})
	for name, c := range map[string]struct {
		ours   contents
		most   int64
		passes int
	}{
		"nothing":   {nil, 300, 1},
		"one":       {contents{"k001500": "value 1500"}, 300, 1},
		"beginning": {part, 300, 1},
		"scattered": {scattered, 4000, 1},
	} {
		client, server := open(t, 32), open(t, 32)
		write(t, client, c.ours)
		theirs := with(base, numbered("z", 3000))
		write(t, server, theirs)
		for _, dry := range []bool{true, false} {
			sum := ask(t, okrasync.Push, client, server, &okrasync.Options{DryRun: dry}, nil)
			added := int64(len(with(theirs, c.ours)) - len(theirs))
			if !sum.Complete || sum.There.Added != added || sum.BytesReceived > c.most || sum.Passes > c.passes {
				t.Errorf("%s, dry %v: %+v", name, dry, sum)
			}
		}
		same(t, name, read(t, server), with(theirs, c.ours))
	}
}

// Many conflicts take a push and a session of both directions no more passes than a pull.
func TestS9ManyConflicts(t *testing.T) {
	const n = 40_000
	base := numbered("k", n)
	changed := contents{}
	for k := range base {
		changed[k] = "theirs"
	}
	client, server := open(t, 32), open(t, 32)
	for _, op := range []operation{okrasync.Pull, okrasync.Push, okrasync.Sync} {
		write(t, client, base)
		write(t, server, changed)
		sum := ask(t, op, client, server, &okrasync.Options{Resolve: okrasync.Larger}, nil)
		if !sum.Complete || sum.Conflicts.Mine+sum.Conflicts.Theirs != n {
			t.Errorf("%+v", sum)
		}
		if sum.Passes > 2 { // the second, seldom, since hashes were alike
			t.Errorf("%d passes: %+v", sum.Passes, sum)
		}
	}
}

func TestS18ThreeReplicasConverge(t *testing.T) {
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	for seed := range rounds {
		random := rand.New(rand.NewPCG(uint64(seed), 18))
		dbs := []*okra.DB{open(t, 4), open(t, 4), open(t, 4)}
		all := map[string]bool{}
		opts := okrasync.Options{Resolve: okrasync.Larger}
		ops := []operation{okrasync.Pull, okrasync.Push, okrasync.Sync}
		for range 12 {
			db := dbs[random.IntN(3)]
			for range 5 {
				k := fmt.Sprint("k", random.IntN(80))
				all[k] = true
				put(t, db, k, fmt.Sprint(random.Uint64()))
			}
			a := random.IntN(3)
			ask(t, ops[random.IntN(3)], dbs[a], dbs[(a+1+random.IntN(2))%3], &opts, nil)
		}
		for i := range 4 {
			ask(t, okrasync.Sync, dbs[i%3], dbs[(i+1)%3], &opts, nil)
		}
		if a := rootOf(t, dbs[0]); a != rootOf(t, dbs[1]) || a != rootOf(t, dbs[2]) {
			t.Errorf("seed %d: no convergence", seed)
		}
		if got := read(t, dbs[0]); len(got) != len(all) {
			t.Errorf("seed %d: %d keys, want %d", seed, len(got), len(all))
		}
	}
}

func TestS21OnlyARange(t *testing.T) {
	client, server := open(t, 4), open(t, 4)
	write(t, client, with(numbered("a", 50), numbered("c", 50)))
	write(t, server, with(numbered("b", 50), contents{"c000099": "theirs"}))
	for _, long := range []string{"", strings.Repeat("x", 600)} {
		opts := okrasync.Options{Mirror: true, Bounds: okra.Bounds{GE: []byte("b" + long[:0]), LT: []byte("c000010" + long)}}
		ask(t, okrasync.Pull, client, server, &opts, nil)
		got := read(t, client)
		if len(got) != 50+50+40-bit(long != "") || got["c000099"] != "" {
			t.Errorf("%d entries", len(got))
		}
	}
	empty := okrasync.Options{Bounds: okra.Bounds{GE: []byte("b"), LT: []byte("a")}}
	if sum := ask(t, okrasync.Pull, client, server, &empty, nil); sum.BytesSent != 0 {
		t.Errorf("empty range: %+v", sum)
	}
}

// Leaves without a boundary among them are one node, and so one long list from the start.
func TestM1WideNode(t *testing.T) {
	const q = 1 << 30
	for _, frame := range []int{4 << 10, 1 << 20} {
		client, server := open(t, q), open(t, q)
		ours, theirs := numbered("k", 20_000), numbered("k", 20_000)
		delete(ours, "k000777")
		delete(theirs, "k019000")
		theirs["k010000"] = "other"
		write(t, client, ours)
		write(t, server, theirs)
		limits := okrasync.Limits{MaxFrame: frame, Timeout: 3 * time.Second}
		sum := ask(t, okrasync.Sync, client, server, &okrasync.Options{Resolve: okrasync.Larger, Limits: limits}, &okrasync.ServeOptions{Write: true, Limits: limits})
		if !sum.Equal || sum.Here.Added != 1 || sum.There.Added != 1 || rootOf(t, client) != rootOf(t, server) {
			t.Errorf("%+v", sum)
		}
	}
}

func TestM15OtherParameters(t *testing.T) {
	for _, test := range []struct {
		name string
		opts okra.Options
	}{{"K", okra.Options{K: 32, Q: 4}}, {"Q", okra.Options{Q: 5}}, {"mode", okra.Options{Q: 4, Mode: okra.Index}}} {
		client, server := open(t, 4), openFormat(t, test.opts)
		put(t, client, "a", "1")
		for _, dbs := range [][]*okra.DB{{client, server}, {server, client}} {
			_, err, serveErr := through(t, okrasync.Pull, dbs[0], dbs[1], nil, nil, func(c net.Conn) net.Conn { return c })
			if !errors.Is(err, okra.ErrFormat) || serveErr == nil || strings.Contains(err.Error(), dbs[1].Path()) {
				t.Errorf("%s: %v; %v", test.name, err, serveErr)
			}
		}
	}
}

func TestM15IndexModeCanBeCompared(t *testing.T) {
	client, server := open(t, 4), openFormat(t, okra.Options{Q: 4, Mode: okra.Index})
	ours, theirs := numbered("k", 100), numbered("k", 120)
	theirs["k000050"] = "other"
	write(t, client, ours)
	if err := server.Update(func(tx *okra.Tx) error {
		for k, v := range theirs {
			if err := tx.Put([]byte(k), []byte(v)); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	testDiff(t, client, server, ours, theirs, nil, nil)
	testDiff(t, server, client, theirs, ours, nil, nil)
}

// One stream carries any number of sessions.
func TestSessionsOverOneStream(t *testing.T) {
	client, server := open(t, 4), open(t, 4)
	write(t, client, numbered("a", 50))
	write(t, server, numbered("b", 50))
	_, err := session(t, server, &okrasync.ServeOptions{Write: true}, func(conn net.Conn) {
		for i, op := range []operation{okrasync.Pull, okrasync.Push, okrasync.Sync} {
			put(t, client, fmt.Sprint("c", i), "")
			if _, err := op(context.Background(), conn, client, nil); err != nil {
				t.Fatal(err)
			}
		}
	})
	if err != nil || rootOf(t, client) != rootOf(t, server) {
		t.Errorf("%v", err)
	}
}

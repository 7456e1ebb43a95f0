package sync_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"testing"

	"github.com/okradb/okra-go/okra"
	okrasync "github.com/okradb/okra-go/sync"
)

// TestRandomPairs syncs random pairs of stores in all modes and compares them with what plain
// maps give.
func TestRandomPairs(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 12
	}
	for _, q := range []uint32{2, 3, 4, 32} {
		for _, frame := range []int{0, 4 << 10} {
			t.Run(fmt.Sprintf("Q=%d frame=%d", q, frame), func(t *testing.T) {
				t.Parallel()
				client, server := open(t, q), open(t, q)
				limits := okrasync.Limits{MaxFrame: frame}
				for seed := range rounds {
					random := rand.New(rand.NewPCG(uint64(seed), uint64(q)))
					ours, theirs := pair(random, random.IntN(600))
					testPair(t, client, server, ours, theirs, limits)
					if t.Failed() {
						t.Fatalf("with seed %d", seed)
					}
				}
			})
		}
	}
}

func testPair(t *testing.T, client, server *okra.DB, ours, theirs contents, limits okrasync.Limits) {
	t.Helper()
	union := func(first, second contents) contents {
		c := maps.Clone(second)
		maps.Copy(c, first)
		return c
	}
	serve := &okrasync.ServeOptions{Write: true, Limits: limits}
	for _, test := range []struct {
		name       string
		op         operation
		opts       okrasync.Options
		here, then contents
	}{
		{"diff", nil, okrasync.Options{}, ours, theirs},
		{"pull, dry", okrasync.Pull, okrasync.Options{DryRun: true}, ours, theirs},
		{"pull", okrasync.Pull, okrasync.Options{}, union(ours, theirs), theirs},
		{"pull, theirs", okrasync.Pull, okrasync.Options{Resolve: okrasync.Theirs}, union(theirs, ours), theirs},
		{"pull, mirror", okrasync.Pull, okrasync.Options{Mirror: true}, theirs, theirs},
		{"push", okrasync.Push, okrasync.Options{}, ours, union(theirs, ours)},
		{"push, mine", okrasync.Push, okrasync.Options{Resolve: okrasync.Mine}, ours, union(ours, theirs)},
		{"push, mirror", okrasync.Push, okrasync.Options{Mirror: true}, ours, ours},
		{"sync, mine", okrasync.Sync, okrasync.Options{Resolve: okrasync.Mine}, union(ours, theirs), union(ours, theirs)},
		{"sync, theirs", okrasync.Sync, okrasync.Options{Resolve: okrasync.Theirs}, union(theirs, ours), union(theirs, ours)},
		{"sync, report", okrasync.Sync, okrasync.Options{}, union(ours, theirs), union(theirs, ours)},
	} {
		write(t, client, ours)
		write(t, server, theirs)
		test.opts.Limits = limits
		if test.op == nil {
			testDiff(t, client, server, ours, theirs, &test.opts, serve)
			continue
		}
		sum := ask(t, test.op, client, server, &test.opts, serve)
		if got := read(t, client); !maps.Equal(got, test.here) {
			t.Errorf("%s: here are %d entries, want %d; %+v", test.name, len(got), len(test.here), sum)
		}
		if got := read(t, server); !maps.Equal(got, test.then) {
			t.Errorf("%s: there are %d entries, want %d; %+v", test.name, len(got), len(test.then), sum)
		}
		if equal := rootOf(t, client) == rootOf(t, server); sum.Equal != equal {
			t.Errorf("%s: Equal is %v", test.name, sum.Equal)
		}
		if len(sum.Refused) > 0 {
			t.Errorf("%s: refused %+v", test.name, sum.Refused)
		}
	}
}

func testDiff(t *testing.T, client, server *okra.DB, ours, theirs contents, opts *okrasync.Options, serve *okrasync.ServeOptions) {
	t.Helper()
	got := map[string]okra.Change{}
	last := ""
	_, err := session(t, server, serve, func(conn net.Conn) {
		for d, err := range okrasync.Diff(context.Background(), conn, client, opts) {
			if err != nil {
				t.Error(err)
				return
			}
			if string(d.Key) <= last {
				t.Errorf("key %q after %q", d.Key, last)
			}
			last = string(d.Key)
			got[last] = d.Change
		}
	})
	if err != nil {
		t.Error(err)
	}
	want := map[string]okra.Change{}
	for k, v := range ours {
		if w, ok := theirs[k]; !ok {
			want[k] = okra.Removed
		} else if v != w {
			want[k] = okra.Changed
		}
	}
	for k := range theirs {
		if _, ok := ours[k]; !ok {
			want[k] = okra.Added
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("diff: %v, want %v", got, want)
	}
}

// Larger is what its name says, on whichever side the larger hash is.
func TestLarger(t *testing.T) {
	for i := range 8 {
		client, server := open(t, 4), open(t, 4)
		values := []string{fmt.Sprint("ours", i), fmt.Sprint("theirs", i)}
		put(t, client, "k", values[0])
		put(t, server, "k", values[1])
		ask(t, okrasync.Sync, client, server, &okrasync.Options{Resolve: okrasync.Larger}, nil)
		larger := slices.MaxFunc(values, func(a, b string) int {
			return bytes.Compare(okra.LeafHash(16, []byte("k"), []byte(a)).Bytes(), okra.LeafHash(16, []byte("k"), []byte(b)).Bytes())
		})
		if a, b := read(t, client)["k"], read(t, server)["k"]; a != larger || b != larger {
			t.Errorf("%q and %q of %q, want %q", a, b, values, larger)
		}
	}
}

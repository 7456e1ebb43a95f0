package sync_test

import (
	"math/rand/v2"
	"testing"

	okrasync "github.com/okradb/okra-go/sync"
)

// TestTightBounds syncs random pairs in passes that are cut short for all reasons that there are.
func TestTightBounds(t *testing.T) {
	rounds := 24
	if testing.Short() {
		rounds = 5
	}
	for _, q := range []uint32{2, 4, 32} {
		client, server := open(t, q), open(t, q)
		for seed := range rounds {
			random := rand.New(rand.NewPCG(uint64(seed), uint64(q)))
			okrasync.Tighten(t, random)
			ours, theirs := pair(random, random.IntN(300))
			testPair(t, client, server, ours, theirs, okrasync.Limits{MaxFrame: 4 << 10})
			if t.Failed() {
				t.Fatalf("with seed %d and Q=%d", seed, q)
			}
		}
	}
}

// TestMirrorInManyPasses deletes so much that it takes many passes, in each of which the peer has
// nothing to say. That is no fault of the peer's: it is we who end them.
func TestMirrorInManyPasses(t *testing.T) {
	client, server := open(t, 4), open(t, 4)
	write(t, client, numbered("k", 3000))
	write(t, server, contents{"z": "1"})
	okrasync.FewKeys(t, 1000)
	sum := ask(t, okrasync.Pull, client, server, &okrasync.Options{Mirror: true}, nil)
	if sum.Here.Deleted != 3000 || !sum.Equal || sum.Passes < 100 {
		t.Errorf("%+v", sum)
	}
}

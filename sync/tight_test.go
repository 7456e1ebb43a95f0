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

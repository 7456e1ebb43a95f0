//go:build (linux || darwin) && amd64 && !okra_portable

package lmdbenv

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/zeebo/blake3"
)

// Messages of every length around the edges of blocks, chunks and joins, in groups of any
// number, have the hashes of the library, by every kind of vectors that the machine has.
func TestHashMany(t *testing.T) {
	if lanes == 0 {
		t.Skip("this machine has no vectors to hash many messages by")
	}
	rng := rand.New(rand.NewPCG(1, 1))
	lengths := []int{0, 1, 63, 64, 65, 512, 1023, 1024, 1025, 2048, 2049, 3072, 3073, 5000,
		7 * 1024, 64 * 1024, 127*1024 + 1, 128 * 1024}
	for range 500 {
		lengths = append(lengths, rng.IntN(3000))
	}
	for by := 1; by <= lanes; by++ {
		for round := range 50 {
			rng.Shuffle(len(lengths), func(i, j int) { lengths[i], lengths[j] = lengths[j], lengths[i] })
			some := lengths[:1+rng.IntN(len(lengths))]
			size := 4 + rng.IntN(29)
			var joined []byte
			var ends []int
			for _, n := range some {
				for range n {
					joined = append(joined, byte(rng.Uint32()))
				}
				ends = append(ends, len(joined))
			}
			joined = bytes.Clone(joined)[:len(joined):len(joined)]
			sums := make([]byte, size*len(ends))
			if !hashMany(by, joined, ends, size, sums) {
				t.Fatalf("by %d: not hashed", by)
			}
			begin := 0
			for i, end := range ends {
				want := blake3.Sum256(joined[begin:end])
				if got := sums[i*size:][:size]; !bytes.Equal(got, want[:size]) {
					t.Fatalf("by %d, round %d: %d of %d, of %d bytes, gives %x, want %x",
						by, round, i, len(ends), end-begin, got, want[:size])
				}
				begin = end
			}
		}
	}
}

// A message too long for one group is refused, and nothing beyond the sums is written.
func TestHashManyTooLong(t *testing.T) {
	if lanes == 0 {
		t.Skip("this machine has no vectors to hash many messages by")
	}
	joined := make([]byte, 128*1024+11)
	if hashMany(lanes, joined, []int{10, len(joined)}, 16, make([]byte, 32)) {
		t.Error("128 KiB and a byte were hashed")
	}
	if !hashMany(lanes, joined, []int{11, len(joined)}, 16, make([]byte, 32)) {
		t.Error("128 KiB were not hashed")
	}
	if hashMany(0, joined, []int{10}, 16, make([]byte, 16)) {
		t.Error("hashed without vectors")
	}
}

package bench

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"testing"

	"github.com/zeebo/blake3"
)

func TestFillAll(t *testing.T) {
	const entries = 1000
	w := NewWorkload(entries, 8, 1)
	var b Batch
	w.FillAll(&b, w.random("load"))
	if b.Len() != entries {
		t.Fatalf("%d entries, want %d", b.Len(), entries)
	}
	seen := make(map[uint32]bool)
	inPlace := 0
	for j := range b.Len() {
		key := binary.BigEndian.Uint32(b.Key(j))
		seen[key] = true
		if key == uint32(j) {
			inPlace++
		}
		want := blake3.Sum256(b.Key(j))
		if !bytes.Equal(b.Value(j), want[:8]) {
			t.Fatalf("value of %x is %x, want %x", b.Key(j), b.Value(j), want[:8])
		}
	}
	if len(seen) != entries {
		t.Errorf("%d different keys, want %d", len(seen), entries)
	}
	if inPlace > entries/10 {
		t.Errorf("%d of %d keys are at their sorted place: the order is not random", inPlace, entries)
	}
}

func TestFillWrites(t *testing.T) {
	const entries, iteration, n = 1000, 3, 50
	for _, size := range []int{1, 8, 32, 33, 100} {
		w := NewWorkload(entries, size, 1)
		var b Batch
		w.FillWrites(&b, w.random("set"), iteration, n)
		if b.Len() != n {
			t.Fatalf("%d entries, want %d", b.Len(), n)
		}
		for j := range n {
			if key := binary.BigEndian.Uint32(b.Key(j)); key >= entries {
				t.Errorf("key %d is not in the store", key)
			}
			hasher := blake3.New()
			for _, x := range []uint32{entries, iteration, uint32(j)} {
				hasher.Write(binary.BigEndian.AppendUint32(nil, x))
			}
			want := make([]byte, size)
			hasher.Digest().Read(want)
			if !bytes.Equal(b.Value(j), want) {
				t.Fatalf("value %d of %d bytes is %x, want %x", j, size, b.Value(j), want)
			}
		}
	}
}

func TestFillDistinct(t *testing.T) {
	for _, entries := range []int{1, 64, 1000} {
		w := NewWorkload(entries, 8, 1)
		var b Batch
		n := min(entries, 100)
		w.FillDistinct(&b, w.random("group"), 3, n)
		seen := make(map[string]bool)
		for j := range b.Len() {
			if key := binary.BigEndian.Uint32(b.Key(j)); int(key) >= entries {
				t.Errorf("key %d of %d", key, entries)
			}
			seen[string(b.Key(j))] = true
		}
		if len(seen) != n {
			t.Errorf("%d different keys, want %d", len(seen), n)
		}
	}
}

func TestFillOdd(t *testing.T) {
	for _, entries := range []int{2, 3, 1000, 1001} {
		w := NewWorkload(entries, 8, 1)
		var b Batch
		w.FillOdd(&b, w.random("gets"), 3, 500)
		for j := range b.Len() {
			if key := binary.BigEndian.Uint32(b.Key(j)); key%2 == 0 || int(key) >= entries {
				t.Errorf("key %d of %d", key, entries)
			}
		}
	}
}

// Of the leaves of random values one in 32 is a boundary; of chosen ones none is, whatever the
// size of the values, and the others are what they would be.
func TestNoBoundary(t *testing.T) {
	const entries = 2000
	for _, size := range []int{1, 8, 100} {
		w := NewWorkload(entries, size, 1)
		var plain, chosen Batch
		for round := range 2 {
			fill := func(b *Batch) {
				if round == 0 {
					w.FillAll(b, w.random("load"))
				} else {
					w.FillWrites(b, w.random("set"), 5, entries)
				}
			}
			w.NoBoundary = false
			fill(&plain)
			w.NoBoundary = true
			fill(&chosen)
			changed := 0
			for j := range entries {
				if isBoundary(chosen.Key(j), chosen.Value(j)) {
					t.Fatalf("entry %x is a boundary", chosen.Key(j))
				}
				if !bytes.Equal(plain.Value(j), chosen.Value(j)) {
					changed++
				}
			}
			if changed < entries/64 || changed > entries/16 {
				t.Errorf("%d of %d values changed", changed, entries)
			}
		}
	}
}

// The values are fixed by the work as it is described, so that other programs can do the same.
func TestKnownValue(t *testing.T) {
	w := NewWorkload(1, 8, 1)
	var b Batch
	w.FillAll(&b, w.random("load"))
	// BLAKE3 of 00000000.
	const want = "ec2bd03bf86b935f"
	if got := hex.EncodeToString(b.Value(0)); got != want {
		t.Errorf("value of key 00000000 is %s, want %s", got, want)
	}
}

func TestRandomDependsOnSeedSizeAndRow(t *testing.T) {
	draw := func(seed uint64, entries int, row string) uint64 {
		return NewWorkload(entries, 8, seed).random(row).Uint64()
	}
	base := draw(1, 1000, "get")
	if draw(1, 1000, "get") != base {
		t.Error("the same seed gives other numbers")
	}
	for _, other := range []uint64{draw(2, 1000, "get"), draw(1, 1001, "get"), draw(1, 1000, "set")} {
		if other == base {
			t.Error("another seed, size or row gives the same numbers")
		}
	}
}

func TestBatchMemoryIsReused(t *testing.T) {
	w := NewWorkload(1000, 8, 1)
	var b Batch
	random := w.random("set")
	w.FillWrites(&b, random, 0, 100)
	allocs := testing.AllocsPerRun(10, func() { w.FillWrites(&b, random, 1, 100) })
	if allocs > 0 {
		t.Errorf("%v allocations to fill a batch again", allocs)
	}
}

package bench

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"

	"github.com/zeebo/blake3"

	"github.com/okradb/okra-go/tree"
)

// keySize is the length of a key: a u32, big-endian.
const keySize = 4

// Workload is what the stores hold at one size: Entries keys 0..Entries-1, each u32 big-endian,
// and under each a value of ValueSize bytes, at first the beginning of BLAKE3(key).
//
// A Workload is for one goroutine: it reuses its hasher and its scratch space.
type Workload struct {
	Entries   int    // 1..2^32
	ValueSize int    // bytes, at least 1
	Seed      uint64 // of the random keys

	// NoBoundary has values chosen so that no entry's leaf is a boundary in a tree of the default
	// format: of the values derived in turn, the first that makes none.
	NoBoundary bool

	hasher *blake3.Hasher
}

// NewWorkload requires 1 <= entries <= 2^32 and valueSize >= 1.
func NewWorkload(entries, valueSize int, seed uint64) *Workload {
	return &Workload{Entries: entries, ValueSize: valueSize, Seed: seed, hasher: blake3.New()}
}

// random returns the stream of random numbers of a row: it depends on the seed, the number of
// entries and the row's name only, so a row does the same work whichever rows run beside it.
func (w *Workload) random(row string) *rand.Rand {
	h := fnv.New64a()
	h.Write(binary.BigEndian.AppendUint64([]byte(row), uint64(w.Entries)))
	return rand.New(rand.NewPCG(w.Seed, h.Sum64()))
}

// derive fills dst with the first len(dst) bytes of BLAKE3(input), extended output.
func (w *Workload) derive(dst, input []byte) {
	if len(dst) <= 32 {
		sum := blake3.Sum256(input)
		copy(dst, sum[:])
		return
	}
	w.hasher.Reset()
	w.hasher.Write(input)
	// Neither Write nor Read of BLAKE3 can fail.
	_, _ = w.hasher.Digest().Read(dst)
}

// choose derives the value of entry j of b from input. If that makes a boundary and must not, it
// derives it from input and a number, 1, 2 and so on, in 4 bytes.
func (w *Workload) choose(b *Batch, j int, input []byte) {
	w.derive(b.Value(j), input)
	if !w.NoBoundary {
		return
	}
	for try := uint32(1); isBoundary(b.Key(j), b.Value(j)); try++ {
		w.derive(b.Value(j), binary.BigEndian.AppendUint32(bytes.Clone(input), try))
	}
}

// isBoundary reports whether the leaf of an entry is a boundary in a tree of the default format.
func isBoundary(key, value []byte) bool {
	rule := tree.Format{K: tree.DefaultK, Q: tree.DefaultQ}.Rule()
	return rule.Boundary(tree.LeafHash(rule.Len, key, value).Bytes())
}

// FillAll makes b the whole store at its beginning, in random order: every key once, with
// BLAKE3(key).
func (w *Workload) FillAll(b *Batch, random *rand.Rand) {
	b.reset(w.Entries, w.ValueSize)
	for j := range w.Entries {
		binary.BigEndian.PutUint32(b.Key(j), uint32(j))
	}
	var swap [keySize]byte
	random.Shuffle(w.Entries, func(i, j int) {
		copy(swap[:], b.Key(i))
		copy(b.Key(i), b.Key(j))
		copy(b.Key(j), swap[:])
	})
	for j := range w.Entries {
		w.choose(b, j, b.Key(j))
	}
}

// FillKeys makes b n random keys of the store, drawn with repetition, without values.
func (w *Workload) FillKeys(b *Batch, random *rand.Rand, n int) {
	b.reset(n, 0)
	w.drawKeys(b, random)
}

// FillWrites makes b n random keys of the store, drawn with repetition, with the values of
// iteration i: entry j has BLAKE3(Entries · i · j), each u32 big-endian.
func (w *Workload) FillWrites(b *Batch, random *rand.Rand, i, n int) {
	b.reset(n, w.ValueSize)
	w.drawKeys(b, random)
	w.deriveValues(b, i)
}

// FillDistinct is FillWrites for n different keys, n <= Entries. It takes long when n is near
// Entries and large.
func (w *Workload) FillDistinct(b *Batch, random *rand.Rand, i, n int) {
	b.reset(n, w.ValueSize)
	drawn := make(map[uint32]bool, n)
	for j := range n {
		key := uint32(random.Uint64N(uint64(w.Entries)))
		for drawn[key] {
			key = uint32(random.Uint64N(uint64(w.Entries)))
		}
		drawn[key] = true
		binary.BigEndian.PutUint32(b.Key(j), key)
	}
	w.deriveValues(b, i)
}

// FillOdd is FillWrites for odd keys. It requires Entries >= 2.
func (w *Workload) FillOdd(b *Batch, random *rand.Rand, i, n int) {
	b.reset(n, w.ValueSize)
	for j := range n {
		binary.BigEndian.PutUint32(b.Key(j), uint32(random.Uint64N(uint64(w.Entries)/2))*2+1)
	}
	w.deriveValues(b, i)
}

func (w *Workload) deriveValues(b *Batch, i int) {
	var input [12]byte
	binary.BigEndian.PutUint32(input[0:], uint32(w.Entries))
	binary.BigEndian.PutUint32(input[4:], uint32(i))
	for j := range b.Len() {
		binary.BigEndian.PutUint32(input[8:], uint32(j))
		w.choose(b, j, input[:])
	}
}

func (w *Workload) drawKeys(b *Batch, random *rand.Rand) {
	for j := range b.Len() {
		binary.BigEndian.PutUint32(b.Key(j), uint32(random.Uint64N(uint64(w.Entries))))
	}
}

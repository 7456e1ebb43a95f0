package matrix

import (
	"encoding/binary"
	"math/rand/v2"
)

const (
	keySize  = 8   // bytes of a key
	scanSize = 100 // entries of a scan

	minEntries = 2 * scanSize
	maxEntries = 1 << 30

	readFactor = 16 // a cell reads at most about so many times the data

	// writeShare is the share of writes and of scans among ops: the part of one.
	writeShare = 20
	// mixShare is the same for workload E.
	mixShare = 4
	// insertEvery has each 20th operation of workload E be an insert: 5 %.
	insertEvery = 20
)

// work is what one cell does.
type work struct {
	operation  operation
	valueSize  int // bytes
	goroutines int
	entries    int  // in the store at first
	data       int  // bytes of their keys and values
	ops        int  // gets; of others there are fewer
	budget     int  // bytes that may be read
	limited    bool // the store does not fit the memory
}

// count returns the number of operations.
func (w work) count() int {
	entry := keySize + w.valueSize
	var n int
	switch {
	case w.operation.mixed:
		n = min(w.ops/mixShare, 2*w.budget/(scanSize*entry), insertEvery*w.entries)
	case w.operation.writes:
		n = min(w.ops/writeShare, w.entries/2)
	case w.operation.scans:
		n = min(w.ops/writeShare, w.budget/(scanSize*entry))
	default:
		n = min(w.ops, w.budget/entry)
	}
	return max(n, w.goroutines, insertEvery)
}

// kind is what a step does.
type kind uint8

const (
	get    kind = iota // finds the key
	miss               // does not find the key
	scan               // reads scanSize entries from the key on
	put                // stores a value of the version
	remove             // deletes the key
)

// step is one operation, a transaction of its own.
type step struct {
	kind    kind
	version uint32
	key     uint64
}

// operation is a line of the matrix.
type operation struct {
	name   string
	writes bool
	scans  bool
	mixed  bool // scans and inserts

	// step returns operation i of count, of which goroutine g does some. pick draws from that
	// goroutine's part of the keys.
	step func(w work, i, g int, pick *picker) step
}

// operations are all lines, in order. Update, by Zipf's law, divides the keys among goroutines,
// so that it is certain which value each key has in the end.
var operations = []operation{
	{name: "insert", writes: true, step: func(w work, i, _ int, _ *picker) step {
		return step{kind: put, key: between(scatter(i, w.entries))}
	}},
	{name: "update, Zipf", writes: true, step: func(w work, i, g int, pick *picker) step {
		own := (w.entries - g + w.goroutines - 1) / w.goroutines
		return step{kind: put, version: uint32(i + 1), key: stored(g + w.goroutines*pick.zipf(own))}
	}},
	{name: "delete", writes: true, step: func(w work, i, _ int, _ *picker) step {
		return step{kind: remove, key: stored(scatter(i, w.entries))}
	}},
	{name: "get hit, Zipf", step: func(w work, _, _ int, pick *picker) step {
		return step{kind: get, key: stored(pick.zipf(w.entries))}
	}},
	{name: "get hit, uniform", step: func(w work, _, _ int, pick *picker) step {
		return step{kind: get, key: stored(pick.uniform(w.entries))}
	}},
	{name: "get miss", step: func(w work, _, _ int, pick *picker) step {
		return step{kind: miss, key: between(pick.uniform(w.entries))}
	}},
	{name: "scan, Zipf", scans: true, step: func(w work, _, _ int, pick *picker) step {
		return step{kind: scan, key: stored(pick.zipf(w.entries - scanSize + 1))}
	}},
	{name: "scan, uniform", scans: true, step: func(w work, _, _ int, pick *picker) step {
		return step{kind: scan, key: stored(pick.uniform(w.entries - scanSize + 1))}
	}},
	// Workload E of YCSB: Cooper et al., "Benchmarking cloud serving systems with YCSB", 2010.
	// There the length of a scan is drawn, and which operation is an insert.
	{name: "YCSB-E", writes: true, mixed: true, step: func(w work, i, _ int, pick *picker) step {
		if i%insertEvery == insertEvery-1 {
			return step{kind: put, key: between(scatter(i/insertEvery, w.entries))}
		}
		return step{kind: scan, key: stored(pick.zipf(w.entries - scanSize + 1))}
	}},
}

// expectation is what must come of the operations of a cell.
type expectation struct {
	bytes int64 // of keys and values, written or read
	added int64 // entries, below 0 if there are fewer
}

func (o operation) expected(w work, count int) expectation {
	n, entry := int64(count), int64(keySize+w.valueSize)
	switch {
	case o.mixed:
		inserts := n / insertEvery
		return expectation{bytes: (inserts + (n-inserts)*scanSize) * entry, added: inserts}
	case o.scans:
		return expectation{bytes: n * scanSize * entry}
	}
	switch o.step(w, 0, 0, newPicker(0, 0)).kind {
	case miss:
		return expectation{bytes: n * keySize}
	case remove:
		return expectation{bytes: n * keySize, added: -n}
	case put:
		if o.name == "insert" {
			return expectation{bytes: n * entry, added: n}
		}
	}
	return expectation{bytes: n * entry}
}

// steps returns what goroutine g does in a repetition: the operations are divided evenly.
func (w work) steps(seed uint64, g int) []step {
	count := w.count()
	from, to := count*g/w.goroutines, count*(g+1)/w.goroutines
	pick := newPicker(seed, g)
	steps := make([]step, 0, to-from)
	for i := from; i < to; i++ {
		steps = append(steps, w.operation.step(w, i, g, pick))
	}
	return steps
}

// picker draws numbers of keys for one goroutine.
type picker struct {
	random *rand.Rand
	law    *rand.Zipf
	n      int // of law
}

func newPicker(seed uint64, goroutine int) *picker {
	return &picker{random: rand.New(rand.NewPCG(seed, uint64(goroutine)+1))}
}

// uniform returns a number below n, each as likely.
func (p *picker) uniform(n int) int { return p.random.IntN(n) }

// skew is the exponent of Zipf's law. YCSB has 0.99; the generator of math/rand/v2 takes what is
// above 1. The two differ little: of 100,000 keys the first is drawn in 8 % of cases there and
// in 9 % here.
const skew = 1.01

// zipf returns a number below n by Zipf's law. As in YCSB the likely ones are scattered.
func (p *picker) zipf(n int) int {
	if p.law == nil || p.n != n {
		p.law, p.n = rand.NewZipf(p.random, skew, 1, uint64(n-1)), n
	}
	return scatter(int(p.law.Uint64()), n)
}

// scatter maps the numbers below n to themselves, each to another, and neighbours far apart.
func scatter(i, n int) int {
	const prime = 2_654_435_761 // no divisor of n, which is below it
	return int(uint64(i) * prime % uint64(n))
}

// stored returns the key of entry i.
func stored(i int) uint64 { return 2 * uint64(i) }

// between returns the key after that of entry i, which is not in the store at first.
func between(i int) uint64 { return 2*uint64(i) + 1 }

// appendKey appends the bytes of a key to b.
func appendKey(b []byte, key uint64) []byte { return binary.BigEndian.AppendUint64(b, key) }

// values are random bytes from which all values are cut, so that none has to be made while the
// clock runs.
type values struct {
	pool []byte
	size int // bytes of a value
}

const poolBits = 16

func newValues(size int) values {
	pool := make([]byte, size+1<<poolBits)
	// Reading from it cannot fail.
	_, _ = rand.NewChaCha8([32]byte{}).Read(pool)
	return values{pool, size}
}

// of returns the value of a version of a key. It must not be written to.
func (v values) of(key uint64, version uint32) []byte {
	const odd = 0x9E3779B97F4A7C15 // 2^64 over the golden ratio: its multiples are spread evenly
	at := ((key<<20 + uint64(version)) * odd) >> (64 - poolBits)
	return v.pool[at : at+uint64(v.size) : at+uint64(v.size)]
}

package lifecycle

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

const keySize = 8 // bytes: a number, big-endian

func key(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)) }

// fill makes value that of entry i, which cannot be compressed.
func fill(value []byte, i int) {
	source := rand.NewPCG(uint64(i), uint64(len(value)))
	for len(value) >= 8 {
		binary.LittleEndian.PutUint64(value, source.Uint64())
		value = value[8:]
	}
	var last [8]byte
	binary.LittleEndian.PutUint64(last[:], source.Uint64())
	copy(value, last[:])
}

// puts is writes of the entries first, first+step and so on, count of them, so many in each
// transaction, in ascending order or in a random one.
type puts struct {
	first, step, count int
	valueSize          int
	batch              int
	random             bool
}

// all returns ascending puts of the entries 0..count-1.
func all(count, valueSize, batch int) puts {
	return puts{step: 1, count: count, valueSize: valueSize, batch: batch}
}

// bytes is that of all keys and values.
func (p puts) bytes() int64 { return int64(p.count) * int64(keySize+p.valueSize) }

// run writes to s. A transaction is an operation of c; making the entries is not timed.
func (p puts) run(s store, random *rand.Rand, c *clock) (tally, error) {
	var t tally
	var order []int
	if p.random {
		order = random.Perm(p.count)
	}
	keys := make([]byte, p.batch*keySize)
	values := make([]byte, p.batch*p.valueSize)
	entry := func(j int) (key, value []byte) {
		return keys[j*keySize : (j+1)*keySize], values[j*p.valueSize : (j+1)*p.valueSize]
	}
	for done := 0; done < p.count; done += p.batch {
		n := min(p.batch, p.count-done)
		for j := range n {
			i := done + j
			if p.random {
				i = order[i]
			}
			i = p.first + i*p.step
			key, value := entry(j)
			binary.BigEndian.PutUint64(key, uint64(i))
			fill(value, i)
		}
		err := c.op(func() error {
			return s.update(func(tx txn) error {
				for j := range n {
					key, value := entry(j)
					if err := tx.put(0, key, value); err != nil {
						return err
					}
				}
				return nil
			})
		})
		if err != nil {
			return t, fmt.Errorf("put after %d entries: %w", done, err)
		}
		for j := range n {
			t.wrote(entry(j))
		}
	}
	return t, nil
}

package dump

import (
	"fmt"
	"math/rand/v2"
)

const (
	prefix    = "user/"
	keySize   = 12 // bytes: the prefix and 7 digits
	valueSize = 15 // bytes
)

// valueSeed is of the values, which are the same in all repetitions: what is prepared once serves
// all of them.
const valueSeed = 1

// each calls fn with all entries of w in the order of their keys, until it fails. The slices are
// valid during the call only.
func (w work) each(fn func(key, value []byte) error) error {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	random := rand.New(rand.NewPCG(valueSeed, uint64(w.keys)))
	key, value := make([]byte, 0, keySize), make([]byte, valueSize)
	for i := range w.keys {
		key = appendKey(key[:0], i)
		for j := range value {
			value[j] = letters[random.IntN(len(letters))]
		}
		if err := fn(key, value); err != nil {
			return fmt.Errorf("key %s: %w", key, err)
		}
	}
	return nil
}

// appendKey appends key i to b. It requires i < maxKeys.
func appendKey(b []byte, i int) []byte {
	b = append(b, prefix...)
	for unit := maxKeys / 10; unit > 0; unit /= 10 {
		b = append(b, byte('0'+i/unit%10))
	}
	return b
}

// all returns the keys and values of w, one after the other.
func (w work) all() []byte {
	all := make([]byte, 0, w.bytes())
	_ = w.each(func(key, value []byte) error { // nothing in it fails
		all = append(append(all, key...), value...)
		return nil
	})
	return all
}

// put calls fn with each entry in what all has returned, until it fails.
func put(all []byte, fn func(key, value []byte) error) error {
	for ; len(all) > 0; all = all[keySize+valueSize:] {
		if err := fn(all[:keySize], all[keySize:keySize+valueSize]); err != nil {
			return fmt.Errorf("key %s: %w", all[:keySize], err)
		}
	}
	return nil
}

// deleted reports whether the operation delete removes key i: every other one, the first
// included.
func deleted(i int) bool { return i%2 == 0 }

// deletes returns how many keys that are.
func (w work) deletes() int { return (w.keys + 1) / 2 }

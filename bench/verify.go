package bench

import (
	"bytes"
	"fmt"
)

// sampleSize is how many keys of the last batch are read back one by one.
const sampleSize = 100

// digest is the sum of the contents of a store.
type digest string

// verifyStores checks the stores of all sides after last was written to them.
func (r *runner) verifyStores(last *Batch) error {
	var first digest
	for i, store := range r.stores {
		d, err := r.verify(store, last)
		if err != nil {
			return fmt.Errorf("check %s store: %w", r.sides[i].name, err)
		}
		if i == 0 {
			first = d
		}
		if d != first {
			return fmt.Errorf("okra and %s hold different entries", r.sides[i].name)
		}
	}
	return nil
}

// verify checks that store holds as many entries as the workload and, under keys of last, the
// last batch, what was last written to them. It returns the digest of the contents.
func (r *runner) verify(store store, last *Batch) (digest, error) {
	if err := readBack(store, last); err != nil {
		return "", err
	}
	c, err := ContentsOf(store.each)
	if err != nil {
		return "", err
	}
	if c.Entries != int64(r.workload.Entries) {
		return "", fmt.Errorf("it holds %d entries instead of %d", c.Entries, r.workload.Entries)
	}
	return digest(c.Sum), nil
}

// readBack compares up to sampleSize entries of b, the last ones, with what store has. Of
// several writes of a key the last counts.
func readBack(store store, b *Batch) error {
	seen := make(map[string]bool, sampleSize)
	for j := b.Len() - 1; j >= 0 && len(seen) < sampleSize; j-- {
		key := b.Key(j)
		if seen[string(key)] {
			continue
		}
		seen[string(key)] = true
		value, err := store.get(key)
		if err != nil {
			return fmt.Errorf("read back key %x: %w", key, err)
		}
		if !bytes.Equal(value, b.Value(j)) {
			return fmt.Errorf("read back key %x: value %x instead of %x", key, value, b.Value(j))
		}
	}
	return nil
}

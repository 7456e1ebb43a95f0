package bench

import (
	"errors"
	"sync"
)

// inParts divides b among goroutines, as evenly as can be, calls fn with each part in a goroutine
// of its own, and returns the sum of what they did, and all their errors.
func inParts(b *Batch, goroutines int, fn func(part *Batch) (Tally, error)) (Tally, error) {
	tallies := make([]Tally, goroutines)
	errs := make([]error, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		part := b.part(b.Len()*g/goroutines, b.Len()*(g+1)/goroutines)
		wg.Go(func() { tallies[g], errs[g] = fn(part) })
	}
	wg.Wait()
	var sum Tally
	for _, t := range tallies {
		sum.Entries += t.Entries
		sum.Sum += t.Sum
	}
	return sum, errors.Join(errs...)
}

// chunks calls fn with the entries of b, at most size at a time, until it fails, and returns the
// sum of what it did.
func chunks(b *Batch, size int, fn func(chunk *Batch) (Tally, error)) (Tally, error) {
	var sum Tally
	for from := 0; from < b.Len(); from += size {
		t, err := fn(b.part(from, min(from+size, b.Len())))
		sum.Entries += t.Entries
		sum.Sum += t.Sum
		if err != nil {
			return sum, err
		}
	}
	return sum, nil
}

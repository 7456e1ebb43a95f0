package bench

import (
	"errors"
	"testing"
)

func TestInPartsAndChunksTouchEachEntryOnce(t *testing.T) {
	var b Batch
	for _, n := range []int{0, 1, 7, 100} {
		b.reset(n, 1)
		for _, goroutines := range []int{1, 3, 16} {
			clear(b.values)
			tally, err := inParts(&b, goroutines, func(part *Batch) (Tally, error) {
				return chunks(part, 10, func(c *Batch) (Tally, error) {
					for j := range c.Len() {
						c.Value(j)[0]++
					}
					return Tally{Entries: c.Len(), Sum: 2}, nil
				})
			})
			if err != nil || tally.Entries != n {
				t.Errorf("%d entries by %d goroutines: %+v, %v", n, goroutines, tally, err)
			}
			for j := range n {
				if b.Value(j)[0] != 1 {
					t.Errorf("%d entries by %d goroutines: entry %d was touched %d times",
						n, goroutines, j, b.Value(j)[0])
				}
			}
		}
	}
}

func TestInPartsReturnsEachError(t *testing.T) {
	var b Batch
	b.reset(4, 1)
	one, two := errors.New("one"), errors.New("two")
	b.Value(1)[0], b.Value(3)[0] = 1, 2
	_, err := inParts(&b, 4, func(part *Batch) (Tally, error) {
		return Tally{}, []error{nil, one, two}[part.Value(0)[0]]
	})
	if !errors.Is(err, one) || !errors.Is(err, two) {
		t.Errorf("error %v", err)
	}
}

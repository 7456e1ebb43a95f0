package okra_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/okradb/okra-go/okra"
)

// A log and a queue: keys that ascend are put, some of them again, and the oldest are deleted, a few
// or many in a transaction. The tree is that of the entries, and all are there.
func TestQueue(t *testing.T) {
	for _, q := range []uint32{2, 3, 4, 32} {
		for _, size := range []int{0, 10, 100, 700} {
			for _, most := range []int{1, 40, 900} {
				t.Run(fmt.Sprintf("Q %d, values of %d, up to %d at once", q, size, most), func(t *testing.T) {
					queue(t, q, size, most)
				})
			}
		}
	}
}

func queue(t *testing.T, q uint32, size, most int) {
	db := newStore(t, okra.Options{Q: q, NoSync: true})
	rng := rand.New(rand.NewPCG(uint64(q), uint64(size+most)))
	name := func(n int) string { return string(binary.BigEndian.AppendUint32([]byte("log"), uint32(n))) }
	value := func() string { return strings.Repeat(string(rune('a'+rng.IntN(26))), rng.IntN(size+1)) }
	want := make(map[string]string)
	first, last := 0, 0
	put := func(tx *okra.Tx, n int) error {
		v := value()
		want[name(n)] = v
		return tx.Put([]byte(name(n)), []byte(v))
	}
	puts := 3000
	if testing.Short() {
		puts = 600
	}
	for last < puts {
		updateOK(t, db, func(tx *okra.Tx) error {
			for range 1 + rng.IntN(most) {
				last++
				if err := put(tx, last); err != nil {
					return err
				}
				if rng.IntN(20) == 0 {
					if err := put(tx, first+rng.IntN(last-first+1)); err != nil {
						return err
					}
				}
			}
			for last-first > 1500 || rng.IntN(3) == 0 && first < last {
				delete(want, name(first))
				if err := tx.Delete([]byte(name(first))); err != nil {
					return err
				}
				first++
			}
			return nil
		})
	}
	viewOK(t, db, wantContent(contentOf(want)...))
	viewOK(t, db, wholeTree)
}

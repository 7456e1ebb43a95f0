package replication

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/okradb/okra-go/okra"
)

// Sizes of the entries.
const (
	keySize   = 16
	valueSize = 32
)

// Kind is how two replicas differ.
type Kind string

// The kinds.
const (
	Equal      Kind = "equal"   // not at all
	Uniform    Kind = "uniform" // ours lacks random entries
	Append     Kind = "append"  // ours lacks the newest entries
	Both       Kind = "both"    // each side lacks random entries that the other has
	Modify     Kind = "modify"  // random keys have another value on our side
	AppendBoth Kind = "appboth" // each side has newest entries of its own
	Empty      Kind = "empty"   // ours has nothing
)

// Kinds returns all kinds in the order of the report.
func Kinds() []Kind { return []Kind{Equal, Uniform, Append, Both, Modify, AppendBoth, Empty} }

// ParseKind returns the kind of a name.
func ParseKind(name string) (Kind, error) {
	for _, k := range Kinds() {
		if string(k) == name {
			return k, nil
		}
	}
	return "", fmt.Errorf("no kind %q: the kinds are %v", name, Kinds())
}

// key returns the i-th key: a number that grows, as of time, and bytes that look random.
func key(seed uint64, i int) []byte {
	k := binary.BigEndian.AppendUint64(nil, uint64(i))
	return binary.BigEndian.AppendUint64(k, mix(seed^uint64(i)))
}

func value(seed uint64, i int) []byte {
	v := make([]byte, 0, valueSize)
	for part := range uint64(valueSize / 8) {
		v = binary.LittleEndian.AppendUint64(v, mix(seed+uint64(i)*4+part))
	}
	return v
}

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// differ makes two equal replicas of n entries differ in d of them.
func (k Kind) differ(ours, theirs *okra.DB, seed uint64, n, d int, random *rand.Rand) error {
	picks := make([]int, 0, d)
	if k == Append || k == AppendBoth {
		for i := range d {
			picks = append(picks, n-d+i)
		}
	} else {
		seen := make(map[int]bool, d)
		for len(picks) < d {
			if i := random.IntN(n); !seen[i] {
				seen[i] = true
				picks = append(picks, i)
			}
		}
	}
	some := func(db *okra.DB, of, rest int, fn func(*okra.Tx, int) error) error {
		return db.Update(func(tx *okra.Tx) error {
			for at, i := range picks {
				if at%of != rest {
					continue
				}
				if err := fn(tx, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	remove := func(tx *okra.Tx, i int) error { return tx.Delete(key(seed, i)) }
	switch k {
	case Uniform, Append:
		return some(ours, 1, 0, remove)
	case Modify:
		return some(ours, 1, 0, func(tx *okra.Tx, i int) error {
			return tx.Put(key(seed, i), value(seed+1+random.Uint64(), i))
		})
	case Both, AppendBoth:
		if err := some(ours, 2, 0, remove); err != nil {
			return err
		}
		return some(theirs, 2, 1, remove)
	}
	return nil
}

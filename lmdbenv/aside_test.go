//go:build (linux || darwin) && !okra_portable

package lmdbenv

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

// filling is a history of writes to the first of several groups of records, most of them behind
// its last key.
type filling struct {
	value, others int  // bytes of a value, and how many records the next group begins with
	batch         int  // writes of a transaction
	behind        int  // percent of the writes that are behind the last key; others are anywhere
	last          int  // how many are
	high          bool // keys begin with ever more 0xff
	groups        bool // batches go on to the next group
}

// fill plays the history on a table, and on a Memory beside it, and returns how many leaf pages the
// table has, and how many would be full of what it holds.
func (f filling) fill(t *testing.T) (pages, full uint64) {
	e, h := openTest(t)
	m := &treetest.Memory{}
	rule := tree.Rule{Len: 4, Limit: 1 << 28}
	rng := rand.New(rand.NewPCG(uint64(f.value), uint64(f.others)))
	value := func(n int) []byte {
		v := make([]byte, n)
		for i := range v {
			v[i] = byte(rng.Uint32())
		}
		return v
	}
	key := func(n int) []byte {
		k := binary.BigEndian.AppendUint32(nil, uint32(n))
		if f.high { // some are above those that aside.c begins pages with
			k = append(bytes.Repeat([]byte{0xff}, n/40), k...)
		}
		return k
	}
	var b tree.Batch
	apply := func() {
		var got, want [1000]tree.Effect
		var gotOld, wantOld [4000]byte
		olds := [][]byte{gotOld[:4*b.Len()], wantOld[:4*b.Len()]}
		if b.Len()%2 == 0 {
			olds[0], olds[1] = nil, nil
		}
		if err := m.Apply(&b, rule, want[:], olds[1]); err != nil {
			t.Fatal(err)
		}
		err := e.Update(context.Background(), func(txn *Txn) error {
			s, err := txn.Storage(h)
			if err != nil {
				return err
			}
			return s.Apply(&b, rule, got[:], olds[0])
		})
		if err != nil || got != want || gotOld != wantOld {
			t.Fatalf("%+v: error %v, or other effects", f, err)
		}
		b.Reset()
	}
	for i := range f.others {
		b.Put(1, binary.BigEndian.AppendUint32([]byte{0}, uint32(i)<<8), nil, value(16))
	}
	for i := range 9 {
		b.Put(2, []byte{byte(i)}, nil, value(16))
	}
	b.Put(0xff, nil, nil, value(6))
	apply()
	last := 0
	for last < f.last {
		var keys []int
		for range f.batch {
			n := rng.IntN(last + 1)
			if rng.IntN(100) < f.behind {
				last++
				n = last
			}
			keys = append(keys, n)
		}
		slices.Sort(keys)
		for _, n := range slices.Compact(keys) {
			if f.behind < 100 && rng.IntN(8) == 0 {
				b.Delete(0, key(n))
			} else {
				b.Put(0, key(n), nil, value(f.value))
			}
		}
		if f.groups { // the next group gets records before, amid and behind those on the page
			first := rng.IntN(60)
			for _, n := range []int{first, first + 1, first + 30} {
				b.Put(1, binary.BigEndian.AppendUint32([]byte{0}, uint32(n)<<8|uint32(n&1)), nil, value(16))
			}
			if last%3 == 0 {
				b.Put(1, bytes.Repeat([]byte{0xff}, 6+last%4), nil, value(9))
			}
		}
		apply()
	}
	err := e.Update(context.Background(), func(txn *Txn) error {
		s, err := txn.Storage(h)
		if err != nil {
			return err
		}
		out := make([]tree.Record, len(m.Records())+1)
		n, err := s.Scan(tree.AtOrAfter, []byte{0}, nil, out)
		if err != nil {
			return err
		}
		same := slices.EqualFunc(out[:n], m.Records(), func(a, b tree.Record) bool {
			return bytes.Equal(a.Key, b.Key) && bytes.Equal(a.Value, b.Value)
		})
		if !same {
			t.Errorf("%+v: %d records, want %d, or others", f, n, len(m.Records()))
		}
		stat, err := txn.txn.Stat(h.dbi)
		if err == nil && stat.Entries != uint64(n) {
			t.Errorf("%+v: LMDB counts %d records of %d", f, stat.Entries, n)
		}
		pages = stat.LeafPages
		for _, r := range m.Records() {
			full += uint64(2 + (8+len(r.Key)+len(r.Value)+1)/2*2)
		}
		full /= uint64(stat.PSize) - 16
		return err
	})
	if err != nil {
		t.Fatalf("%+v: %v", f, err)
	}
	return pages, full
}

// Keys that ascend fill their pages though other groups of records follow, and whatever is written
// and however full the pages are, the records are those that were written.
func TestAscendingKeysFillPages(t *testing.T) {
	if !direct(true) {
		t.Skip("pages are not read directly with this LMDB")
	}
	defer direct(true)
	halves := 0
	for _, f := range []filling{
		{value: 8, others: 3}, {value: 8, others: 60}, {value: 8, others: 900}, {value: 0, others: 50},
		{value: 60, others: 20}, {value: 100, others: 5}, {value: 100, others: 300}, {value: 200, others: 40},
	} {
		for _, f.batch = range []int{1, 30, 700} {
			f.behind, f.last = 100, 2500
			if pages, full := f.fill(t); pages > full*4/3+2 {
				t.Errorf("%+v: %d leaf pages for what would fill %d", f, pages, full)
			}
			direct(false)
			if pages, full := f.fill(t); pages > full*3/2 {
				halves++
			}
			direct(true)
		}
	}
	if halves < 10 {
		t.Errorf("LMDB alone leaves pages half full %d times", halves)
	}
	for _, value := range []int{0, 17, 100, 255, 700, 1300, 5000} {
		for _, others := range []int{0, 30, 120} {
			for _, f := range []filling{
				{batch: 1, behind: 100, high: true}, {batch: 9, behind: 100}, {batch: 50, behind: 97}, {batch: 200, behind: 60},
				{batch: 40, behind: 100, high: true, groups: true}, {batch: 3, behind: 95, groups: true},
			} {
				if testing.Short() && (value+others)%3 != 0 {
					continue
				}
				f.value, f.others, f.last = value, others, 600
				pages, _ := f.fill(t)
				direct(false)
				if before, _ := f.fill(t); f.behind == 100 && !f.high && !f.groups && pages > before*102/100+2 {
					t.Errorf("%+v: %d leaf pages, and %d by LMDB alone", f, pages, before)
				}
				direct(true)
			}
		}
	}
}

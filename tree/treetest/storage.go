package treetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/okradb/okra-go/tree"
)

// CheckStorage plays random calls from a seed on s, which must be empty, and on a Memory, and
// returns the first answer in which they differ as an error. Every implementation of
// tree.Storage passes it.
func CheckStorage(s tree.Storage, seed uint64, rounds int) error {
	c := storageCheck{
		s: s, m: &Memory{}, rng: rand.New(rand.NewPCG(seed, 2)),
		rule: tree.Rule{Len: 4, Limit: 1 << 30},
	}
	if err := c.append(); err != nil {
		return fmt.Errorf("append: %w", err)
	}
	steps := []struct {
		name string
		fn   func() error
	}{
		{"apply", c.apply}, {"get", c.get}, {"scan", c.scan},
		{"floor", c.floor}, {"gather", c.gather}, {"count", c.count},
	}
	for round := range rounds {
		for _, step := range steps {
			if err := step.fn(); err != nil {
				return fmt.Errorf("round %d, %s: %w", round, step.name, err)
			}
		}
	}
	return nil
}

type storageCheck struct {
	s    tree.Storage
	m    *Memory
	rng  *rand.Rand
	rule tree.Rule
}

// key returns a random record key, often one that is stored.
func (c *storageCheck) key() []byte {
	if n := len(c.m.records); n > 0 && c.rng.IntN(2) == 0 {
		return bytes.Clone(c.m.records[c.rng.IntN(n)].Key)
	}
	size := 1 + c.rng.IntN(4)
	if c.rng.IntN(20) == 0 {
		size = 1 + tree.MaxKey
	}
	k := make([]byte, size)
	for i := range k {
		k[i] = byte(c.rng.IntN(6)) * 51 // 0x00 and 0xff among them
	}
	return k
}

func (c *storageCheck) value() []byte {
	size := c.rule.Len + c.rng.IntN(20)
	if c.rng.IntN(40) == 0 {
		size = 5000 // more than a page
	}
	v := make([]byte, size)
	for i := range v {
		v[i] = byte(c.rng.Uint32())
	}
	return v
}

func (c *storageCheck) keys(n int) [][]byte {
	var keys [][]byte
	for range n {
		keys = append(keys, c.key())
	}
	slices.SortFunc(keys, bytes.Compare)
	return slices.CompactFunc(keys, bytes.Equal)
}

func (c *storageCheck) append() error {
	var b tree.Batch
	for i := range 300 {
		b.Put(byte(i/100), []byte{byte(i % 100), byte(c.rng.Uint32())}, nil, c.value())
	}
	if err := c.m.Append(&b); err != nil {
		return err
	}
	if err := c.s.Append(&b); err != nil {
		return err
	}
	return c.scan()
}

func (c *storageCheck) apply() error {
	var b tree.Batch
	for _, k := range c.keys(1 + c.rng.IntN(40)) {
		old, ok, err := c.m.Get(k[0], k[1:])
		switch {
		case err != nil:
			return err
		case c.rng.IntN(3) == 0:
			b.Delete(k[0], k[1:])
		case ok && c.rng.IntN(3) == 0:
			b.Put(k[0], k[1:], nil, old)
		default:
			b.Put(k[0], k[1:], nil, c.value())
		}
	}
	got, want := make([]tree.Effect, b.Len()), make([]tree.Effect, b.Len())
	var gotOlds, wantOlds []byte
	if c.rng.IntN(4) > 0 {
		gotOlds = bytes.Repeat([]byte{0xa5}, b.Len()*c.rule.Len)
		wantOlds = make([]byte, len(gotOlds))
	}
	if err := c.m.Apply(&b, c.rule, want, wantOlds); err != nil {
		return err
	}
	if err := c.s.Apply(&b, c.rule, got, gotOlds); err != nil {
		return err
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("effects %v, want %v", got, want)
	}
	for i, at := 0, 0; wantOlds != nil && i < b.Len(); i++ {
		item, next, _ := b.Next(at)
		at = next
		if item.Delete && want[i]&tree.Existed == 0 {
			continue // nothing was found that could have a hash
		}
		got, want := gotOlds[i*c.rule.Len:][:c.rule.Len], wantOlds[i*c.rule.Len:][:c.rule.Len]
		if !bytes.Equal(got, want) {
			return fmt.Errorf("old hash of %x is %x, want %x", item.Key, got, want)
		}
	}
	return nil
}

func (c *storageCheck) floor() error {
	var b tree.Batch
	for _, k := range c.keys(1 + c.rng.IntN(40)) {
		b.At(k[0], k[1:])
	}
	got, want := make([]tree.Record, b.Len()), make([]tree.Record, b.Len())
	if err := c.m.Floor(&b, want); err != nil {
		return err
	}
	if err := c.s.Floor(&b, got); err != nil {
		return err
	}
	for i, at := 0, 0; i < b.Len(); i++ {
		item, next, _ := b.Next(at)
		at = next
		if !bytes.Equal(got[i].Key, want[i].Key) || !bytes.Equal(got[i].Value, want[i].Value) {
			return fmt.Errorf("floor of %x is %x, want %x", item.Key, got[i].Key, want[i].Key)
		}
	}
	return nil
}

func (c *storageCheck) get() error {
	k := c.key()
	want, wantOK, _ := c.m.Get(k[0], k[1:])
	got, ok, err := c.s.Get(k[0], k[1:])
	if err != nil || ok != wantOK || !bytes.Equal(got, want) {
		return fmt.Errorf("%x gives %x %t, want %x %t (%v)", k, got, ok, want, wantOK, err)
	}
	return nil
}

func (c *storageCheck) scan() error {
	for start := tree.AtOrAfter; start <= tree.Before; start++ {
		from, stop := c.key(), c.key()
		if !start.Backward() && c.rng.IntN(3) == 0 || start.Backward() && c.rng.IntN(3) == 0 {
			stop = nil
		}
		size := 1 + c.rng.IntN(50)
		got, want := make([]tree.Record, size), make([]tree.Record, size)
		w, _ := c.m.Scan(start, from, stop, want)
		n, err := c.s.Scan(start, from, stop, got)
		if err != nil {
			return err
		}
		same := func(a, b tree.Record) bool {
			return bytes.Equal(a.Key, b.Key) && bytes.Equal(a.Value, b.Value)
		}
		if !slices.EqualFunc(got[:n], want[:w], same) {
			return fmt.Errorf("start %d from %x stop %x: %d records %x, want %d %x",
				start, from, stop, n, got[:n], w, want[:w])
		}
	}
	return nil
}

// gather asks for runs at boundaries and before any keys, now and then for one not there.
func (c *storageCheck) gather() error {
	var b tree.Batch
	keys := c.keys(60)
	first := keys[c.rng.IntN(len(keys))][0]
	for _, k := range keys {
		if k[0] != first {
			continue
		}
		i, equal := c.m.at(k)
		begins := equal && c.m.begins(i, k[0], c.rule)
		j, anchored := c.m.at(k[:1])
		anchored = anchored && j < i
		if !equal && c.rng.IntN(400) == 0 {
			begins = true // it is not there
		}
		if anchored && c.rng.IntN(3) > 0 {
			b.Before(k[0], k[1:])
		}
		if begins && (len(k) == 1 || anchored || b.Len() == 0) {
			b.At(k[0], k[1:])
		}
	}
	room := c.rule.Len*(1+c.rng.IntN(100)) + c.rng.IntN(c.rule.Len)
	got := tree.Gathered{Hashes: make([]byte, 0, room)}
	want := tree.Gathered{Hashes: make([]byte, 0, room)}
	wantErr := c.m.Gather(&b, c.rule, &want)
	err := c.s.Gather(&b, c.rule, &got)
	if (err == nil) != (wantErr == nil) {
		return fmt.Errorf("error %v, want %v", err, wantErr)
	}
	if err != nil {
		return nil
	}
	same := func(a, b tree.Run) bool { return bytes.Equal(a.First, b.First) && a.End == b.End }
	if !bytes.Equal(got.Hashes, want.Hashes) || !slices.EqualFunc(got.Runs, want.Runs, same) ||
		got.Done != want.Done || !bytes.Equal(got.End, want.End) ||
		(got.End == nil) != (want.End == nil) {
		return fmt.Errorf("%x gives %+v, want %+v", b.Bytes(), got, want)
	}
	return nil
}

func (c *storageCheck) count() error {
	want, _ := c.m.Count()
	if got, err := c.s.Count(); err != nil || got != want {
		return fmt.Errorf("%d, want %d (%v)", got, want, err)
	}
	return nil
}

// Package treetest helps to test package tree and what stands on it: storage in memory,
// storage that fails on purpose or spoils borrowed bytes, a table of tests for any
// implementation of storage, random histories from a seed, and the tree built anew from its
// entries as the oracle.
package treetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/okradb/okra-go/tree"
)

// Memory is a tree.Storage in memory. The zero Memory is empty and ready.
type Memory struct {
	records []tree.Record
}

// Clone returns a copy that shares nothing that either may change.
func (m *Memory) Clone() *Memory { return &Memory{records: slices.Clone(m.records)} }

// Records returns all records in order. They belong to m.
func (m *Memory) Records() []tree.Record { return m.records }

// at returns the place of the first record at or above key, and whether that is key.
func (m *Memory) at(key []byte) (int, bool) {
	i := sort.Search(len(m.records), func(i int) bool {
		return bytes.Compare(m.records[i].Key, key) >= 0
	})
	return i, i < len(m.records) && bytes.Equal(m.records[i].Key, key)
}

// Set puts one raw record, and Remove takes one away, as damage to a tree would.
func (m *Memory) Set(key, value []byte) {
	r := tree.Record{Key: bytes.Clone(key), Value: append([]byte{}, value...)}
	if i, ok := m.at(key); ok {
		m.records[i] = r
	} else {
		m.records = slices.Insert(m.records, i, r)
	}
}

// Remove takes the record under key away, if there is one.
func (m *Memory) Remove(key []byte) {
	if i, ok := m.at(key); ok {
		m.records = slices.Delete(m.records, i, i+1)
	}
}

// Get implements tree.Storage.
func (m *Memory) Get(prefix byte, key []byte) (value []byte, ok bool, err error) {
	if i, ok := m.at(append([]byte{prefix}, key...)); ok {
		return m.records[i].Value, true, nil
	}
	return nil, false, nil
}

// Scan implements tree.Storage.
func (m *Memory) Scan(start tree.Start, from, stop []byte, out []tree.Record) (int, error) {
	i, equal := m.at(from)
	if start == tree.After && equal {
		i++
	}
	if start.Backward() {
		if start == tree.Before || !equal {
			i--
		}
		n := 0
		for ; i >= 0 && n < len(out) && bytes.Compare(m.records[i].Key, stop) >= 0; i-- {
			out[n] = m.records[i]
			n++
		}
		return n, nil
	}
	n := 0
	for ; i < len(m.records) && n < len(out); i++ {
		if stop != nil && bytes.Compare(m.records[i].Key, stop) >= 0 {
			break
		}
		out[n] = m.records[i]
		n++
	}
	return n, nil
}

// Floor implements tree.Storage.
func (m *Memory) Floor(keys *tree.Batch, out [][]byte) error {
	for i, at := 0, 0; ; i++ {
		item, next, ok := keys.Next(at)
		if !ok {
			return nil
		}
		at = next
		out[i] = nil
		j, equal := m.at(item.Key)
		if !equal {
			j--
		}
		if j >= 0 && m.records[j].Key[0] == item.Key[0] {
			out[i] = m.records[j].Key
		}
	}
}

// Gather implements tree.Storage.
func (m *Memory) Gather(starts *tree.Batch, rule tree.Rule, out *tree.Gathered) error {
	out.Hashes, out.Ends, out.Last = out.Hashes[:0], out.Ends[:0], nil
	for at := 0; ; {
		item, next, ok := starts.Next(at)
		if !ok {
			return nil
		}
		at = next
		i, equal := m.at(item.Key)
		if !equal {
			return fmt.Errorf("%w: there is no record %x", tree.ErrCorrupt, item.Key)
		}
		for first := true; i < len(m.records); first, i = false, i+1 {
			r := m.records[i]
			if r.Key[0] != item.Key[0] {
				break
			}
			if len(r.Value) < rule.Len {
				return fmt.Errorf("%w: record %x is too short", tree.ErrCorrupt, r.Key)
			}
			if !first && rule.Boundary(r.Value) {
				break
			}
			if len(out.Hashes)+rule.Len > cap(out.Hashes) {
				if !first {
					out.Last = m.records[i-1].Key
				}
				return nil
			}
			out.Hashes = append(out.Hashes, r.Value[:rule.Len]...)
		}
		out.Ends = append(out.Ends, len(out.Hashes))
	}
}

// Apply implements tree.Storage.
func (m *Memory) Apply(b *tree.Batch, rule tree.Rule, effects []tree.Effect) error {
	for i, at := 0, 0; ; i++ {
		item, next, ok := b.Next(at)
		if !ok {
			return nil
		}
		at = next
		effects[i] = 0
		j, found := m.at(item.Key)
		if found {
			effects[i] = tree.Existed
			if v := m.records[j].Value; len(v) >= rule.Len && rule.Boundary(v) {
				effects[i] |= tree.WasBoundary
			}
		}
		same := found && !item.Delete && bytes.Equal(m.records[j].Value, item.Value)
		switch {
		case same || item.Delete && !found:
			effects[i] |= tree.Unchanged
		case item.Delete:
			m.Remove(item.Key)
		default:
			m.Set(item.Key, item.Value)
		}
	}
}

// errOrder says that an appended record does not follow those stored.
var errOrder = errors.New("appended record is out of order")

// Append implements tree.Storage.
func (m *Memory) Append(b *tree.Batch) error {
	for at := 0; ; {
		item, next, ok := b.Next(at)
		if !ok {
			return nil
		}
		at = next
		if n := len(m.records); n > 0 && bytes.Compare(m.records[n-1].Key, item.Key) >= 0 {
			return errOrder
		}
		m.Set(item.Key, item.Value)
	}
}

// Count implements tree.Storage.
func (m *Memory) Count() (int64, error) { return int64(len(m.records)), nil }

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

// Gather implements tree.Storage.
func (m *Memory) Gather(questions *tree.Batch, rule tree.Rule, out *tree.Gathered) error {
	*out = tree.Gathered{Hashes: out.Hashes[:0], Runs: out.Runs[:0]}
	last, end := -1, -1 // the last run
	for at := 0; ; out.Done++ {
		q, next, ok := questions.Next(at)
		if !ok {
			return nil
		}
		at = next
		i, equal := m.at(q.Key)
		if q.Delete {
			for i--; i >= 0 && !m.begins(i, q.Key[0], rule); i-- {
			}
			equal = i >= 0 && m.records[i].Key[0] == q.Key[0]
		}
		if !equal {
			return fmt.Errorf("%w: there is no node at %x", tree.ErrCorrupt, q.Key)
		}
		if i == last {
			continue
		}
		begin := len(out.Hashes)
		last = i
		for end = i; end == i || end < len(m.records) && !m.begins(end, q.Key[0], rule); end++ {
			v := m.records[end].Value
			if len(v) < rule.Len {
				return fmt.Errorf("%w: record %x is too short", tree.ErrCorrupt, m.records[end].Key)
			}
			if len(out.Hashes)+rule.Len > cap(out.Hashes) {
				out.Hashes = out.Hashes[:begin]
				return nil
			}
			out.Hashes = append(out.Hashes, v[:rule.Len]...)
		}
		out.Runs = append(out.Runs, tree.Run{First: m.records[i].Key, End: len(out.Hashes)})
		out.End = nil
		if end < len(m.records) && m.records[end].Key[0] == q.Key[0] {
			out.End = m.records[end].Key
		}
	}
}

// begins reports whether a run of the records with a first byte begins at the i-th record, or
// at the end of those.
func (m *Memory) begins(i int, first byte, rule tree.Rule) bool {
	r := m.records[i]
	return r.Key[0] != first || len(r.Key) == 1 || len(r.Value) >= 4 && rule.Boundary(r.Value)
}

// Floor implements tree.Storage.
func (m *Memory) Floor(keys *tree.Batch, out []tree.Record) error {
	for i, at := 0, 0; ; i++ {
		q, next, ok := keys.Next(at)
		if !ok {
			return nil
		}
		at = next
		j, equal := m.at(q.Key)
		if !equal {
			j--
		}
		out[i] = tree.Record{}
		if j >= 0 {
			out[i] = m.records[j]
		}
	}
}

// Apply implements tree.Storage.
func (m *Memory) Apply(b *tree.Batch, rule tree.Rule, effects []tree.Effect, olds []byte) error {
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
		if olds != nil {
			before := j
			if !found && !item.Delete {
				before--
			}
			hash := olds[i*rule.Len:][:rule.Len]
			clear(hash)
			if found || before >= 0 && !item.Delete {
				if v := m.records[before].Value; len(v) >= rule.Len {
					copy(hash, v)
				}
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

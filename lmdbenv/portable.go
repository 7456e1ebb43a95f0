package lmdbenv

import (
	"bytes"
	"fmt"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"github.com/okradb/okra-go/tree"
)

// portable is the storage of one table in one transaction, by lmdb-go's calls alone. The
// transaction must read raw.
type portable struct {
	txn *lmdb.Txn
	dbi lmdb.DBI
	cur *lmdb.Cursor
	key []byte // of a Get

	stale bool // the cursor is of an earlier use of a read transaction that was renewed
}

// fresh makes the cursor ready for its transaction.
func (p *portable) fresh() error {
	if !p.stale {
		return nil
	}
	p.stale = false
	return classify("renew cursor", p.cur.Renew(p.txn))
}

// Get implements tree.Storage.
func (p *portable) Get(prefix byte, key []byte) (value []byte, ok bool, err error) {
	p.key = append(append(p.key[:0], prefix), key...)
	value, err = p.txn.Get(p.dbi, p.key)
	if lmdb.IsNotFound(err) {
		return nil, false, nil
	}
	return value, err == nil, classify("get", err)
}

// seek moves the cursor to the first record of a scan.
func (p *portable) seek(start tree.Start, from []byte) (k, v []byte, err error) {
	k, v, err = p.cur.Get(from, nil, lmdb.SetRange)
	if lmdb.IsNotFound(err) && start.Backward() {
		return p.cur.Get(nil, nil, lmdb.Last)
	}
	if err != nil {
		return nil, nil, err
	}
	equal := bytes.Equal(k, from)
	switch {
	case start == tree.After && equal:
		return p.cur.Get(nil, nil, lmdb.Next)
	case start.Backward() && (start == tree.Before || !equal):
		return p.cur.Get(nil, nil, lmdb.Prev)
	}
	return k, v, nil
}

// Scan implements tree.Storage.
func (p *portable) Scan(start tree.Start, from, stop []byte, out []tree.Record) (n int, err error) {
	if err := p.fresh(); err != nil {
		return 0, err
	}
	k, v, err := p.seek(start, from)
	op := uint(lmdb.Next)
	if start.Backward() {
		op = lmdb.Prev
	}
	for err == nil {
		past := len(stop) > 0 && bytes.Compare(k, stop) >= 0
		if start.Backward() {
			past = len(stop) > 0 && bytes.Compare(k, stop) < 0
		}
		if past {
			return n, nil
		}
		out[n] = tree.Record{Key: k, Value: v}
		if n++; n == len(out) {
			return n, nil
		}
		k, v, err = p.cur.Get(nil, nil, op)
	}
	if lmdb.IsNotFound(err) {
		err = nil
	}
	return n, classify("scan", err)
}

// Floor implements tree.Storage.
func (p *portable) Floor(keys *tree.Batch, out [][]byte) error {
	if err := p.fresh(); err != nil {
		return err
	}
	for i, at := 0, 0; ; i++ {
		item, next, ok := keys.Next(at)
		if !ok {
			return nil
		}
		at = next
		out[i] = nil
		k, _, err := p.seek(tree.AtOrBefore, item.Key)
		if err != nil && !lmdb.IsNotFound(err) {
			return classify("find node", err)
		}
		if err == nil && k[0] == item.Key[0] {
			out[i] = k
		}
	}
}

// Gather implements tree.Storage.
func (p *portable) Gather(starts *tree.Batch, rule tree.Rule, out *tree.Gathered) error {
	if err := p.fresh(); err != nil {
		return err
	}
	out.Hashes, out.Ends, out.Last = out.Hashes[:0], out.Ends[:0], nil
	for at, full := 0, false; !full; {
		item, next, ok := starts.Next(at)
		if !ok {
			return nil
		}
		at = next
		var err error
		if full, err = p.run(item.Key, rule, out); err != nil {
			return err
		}
	}
	return nil
}

// run gathers the run that begins at start, unless out is full before its end.
func (p *portable) run(start []byte, rule tree.Rule, out *tree.Gathered) (full bool, err error) {
	k, v, err := p.cur.Get(start, nil, lmdb.SetKey)
	if lmdb.IsNotFound(err) {
		return false, absent(start)
	}
	for first := true; err == nil; first = false {
		if k[0] != start[0] || !first && len(v) >= rule.Len && rule.Boundary(v) {
			break
		}
		if len(v) < rule.Len {
			return false, short(k)
		}
		if len(out.Hashes)+rule.Len > cap(out.Hashes) {
			return true, nil
		}
		out.Hashes = append(out.Hashes, v[:rule.Len]...)
		out.Last = k
		k, v, err = p.cur.Get(nil, nil, lmdb.Next)
	}
	if err != nil && !lmdb.IsNotFound(err) {
		return false, classify("read node", err)
	}
	out.Ends, out.Last = append(out.Ends, len(out.Hashes)), nil
	return false, nil
}

func absent(key []byte) error {
	return fmt.Errorf("%w: there is no record %x", tree.ErrCorrupt, key)
}

func short(key []byte) error {
	return fmt.Errorf("%w: record %x is shorter than its hash", tree.ErrCorrupt, key)
}

// Apply implements tree.Storage.
func (p *portable) Apply(b *tree.Batch, rule tree.Rule, effects []tree.Effect) error {
	for i, at := 0, 0; ; i++ {
		item, next, ok := b.Next(at)
		if !ok {
			return nil
		}
		at = next
		var err error
		if effects[i], err = p.applyOne(item, rule); err != nil {
			return classify("write", err)
		}
	}
}

func (p *portable) applyOne(item tree.Item, rule tree.Rule) (tree.Effect, error) {
	_, old, err := p.cur.Get(item.Key, nil, lmdb.SetKey)
	if lmdb.IsNotFound(err) {
		if item.Delete {
			return tree.Unchanged, nil
		}
		return 0, p.cur.Put(item.Key, item.Value, 0)
	}
	if err != nil {
		return 0, err
	}
	effect := tree.Existed
	if len(old) >= 4 && rule.Boundary(old) {
		effect |= tree.WasBoundary
	}
	switch {
	case item.Delete:
		return effect, p.cur.Del(0)
	case bytes.Equal(old, item.Value):
		return effect | tree.Unchanged, nil
	}
	return effect, p.cur.Put(item.Key, item.Value, lmdb.Current)
}

// Append implements tree.Storage.
func (p *portable) Append(b *tree.Batch) error {
	for at := 0; ; {
		item, next, ok := b.Next(at)
		if !ok {
			return nil
		}
		at = next
		if err := p.cur.Put(item.Key, item.Value, lmdb.Append); err != nil {
			return classify("append", err)
		}
	}
}

// Count implements tree.Storage.
func (p *portable) Count() (int64, error) {
	stat, err := p.txn.Stat(p.dbi)
	if err != nil {
		return 0, classify("count", err)
	}
	return int64(stat.Entries), nil
}

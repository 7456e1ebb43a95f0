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

	full  *bool // set when a write finds the map full
	stale bool  // the cursor is of an earlier use of a read transaction that was renewed
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

// keyed returns a record that was read, or the error for one without a key: LMDB takes no empty
// key, so the page is damaged.
func keyed(k, v []byte, err error) ([]byte, []byte, error) {
	if err == nil && len(k) == 0 {
		err = fmt.Errorf("%w: a record without a key", tree.ErrCorrupt)
	}
	return k, v, err
}

// Scan implements tree.Storage.
func (p *portable) Scan(start tree.Start, from, stop []byte, out []tree.Record) (n int, err error) {
	if err := p.fresh(); err != nil {
		return 0, err
	}
	k, v, err := keyed(p.seek(start, from))
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
		k, v, err = keyed(p.cur.Get(nil, nil, op))
	}
	if lmdb.IsNotFound(err) {
		err = nil
	}
	return n, classify("scan", err)
}

// Gather implements tree.Storage.
func (p *portable) Gather(questions *tree.Batch, rule tree.Rule, out *tree.Gathered) error {
	*out = tree.Gathered{Hashes: out.Hashes[:0], Runs: out.Runs[:0]}
	if err := p.fresh(); err != nil {
		return err
	}
	for at := 0; ; out.Done++ {
		q, next, ok := questions.Next(at)
		if !ok {
			return nil
		}
		at = next
		if q.Delete && len(out.Runs) > 0 && (out.End == nil || bytes.Compare(q.Key, out.End) <= 0) {
			continue // the run read last
		}
		k, v, err := p.first(q, rule)
		if lmdb.IsNotFound(err) {
			return absent(q.Key)
		}
		full, err := p.run(k, v, err, rule, out)
		if err != nil || full {
			return err
		}
	}
}

// first moves the cursor to the first record of the run asked for.
func (p *portable) first(q tree.Item, rule tree.Rule) (k, v []byte, err error) {
	if !q.Delete {
		return p.cur.Get(q.Key, nil, lmdb.SetKey)
	}
	k, v, err = keyed(p.seek(tree.Before, q.Key))
	for err == nil && k[0] == q.Key[0] && len(k) > 1 && !(len(v) >= 4 && rule.Boundary(v)) {
		k, v, err = keyed(p.cur.Get(nil, nil, lmdb.Prev))
	}
	if err == nil && k[0] != q.Key[0] {
		return nil, nil, absent(q.Key)
	}
	return k, v, err
}

// run gathers the run that begins at the record k, v, unless out is full before its end.
func (p *portable) run(
	k, v []byte, err error, rule tree.Rule, out *tree.Gathered,
) (full bool, _ error) {
	run, begin := tree.Run{First: k}, len(out.Hashes)
	for first := true; err == nil && k[0] == run.First[0]; first = false {
		if len(v) < rule.Len {
			return false, short(k)
		}
		if !first && rule.Boundary(v) {
			break
		}
		if len(out.Hashes)+rule.Len > cap(out.Hashes) {
			out.Hashes = out.Hashes[:begin]
			return true, nil
		}
		out.Hashes = append(out.Hashes, v[:rule.Len]...)
		k, v, err = keyed(p.cur.Get(nil, nil, lmdb.Next))
	}
	switch {
	case err == nil && k[0] == run.First[0]:
		out.End = k
	case err == nil || lmdb.IsNotFound(err):
		out.End = nil
	default:
		return false, classify("read node", err)
	}
	run.End = len(out.Hashes)
	out.Runs = append(out.Runs, run)
	return false, nil
}

func absent(key []byte) error {
	return fmt.Errorf("%w: there is no node at %x", tree.ErrCorrupt, key)
}

func short(key []byte) error {
	return fmt.Errorf("%w: record %x is shorter than its hash", tree.ErrCorrupt, key)
}

// Floor implements tree.Storage.
func (p *portable) Floor(keys *tree.Batch, out []tree.Record) error {
	if err := p.fresh(); err != nil {
		return err
	}
	for i, at := 0, 0; ; i++ {
		q, next, ok := keys.Next(at)
		if !ok {
			return nil
		}
		at = next
		k, v, err := p.seek(tree.AtOrBefore, q.Key)
		if err != nil && !lmdb.IsNotFound(err) {
			return classify("find record", err)
		}
		out[i] = tree.Record{Key: k, Value: v}
	}
}

// Apply implements tree.Storage.
func (p *portable) Apply(b *tree.Batch, rule tree.Rule, effects []tree.Effect, olds []byte) error {
	for i, at := 0, 0; ; i++ {
		item, next, ok := b.Next(at)
		if !ok {
			return nil
		}
		at = next
		var err error
		var old []byte
		if olds != nil {
			old = olds[i*rule.Len:][:rule.Len]
		}
		if effects[i], err = p.applyOne(item, rule, old); err != nil {
			return p.failed("write", err)
		}
	}
}

// failed classifies the error of a write.
func (p *portable) failed(doing string, err error) error {
	*p.full = *p.full || lmdb.IsMapFull(err)
	return classify(doing, err)
}

// applyOne writes one record. It sets hash, unless that is nil, to the hash of the record replaced
// or of that before.
func (p *portable) applyOne(item tree.Item, rule tree.Rule, hash []byte) (tree.Effect, error) {
	_, old, err := p.cur.Get(item.Key, nil, lmdb.SetKey)
	if lmdb.IsNotFound(err) {
		if item.Delete {
			return tree.Unchanged, nil
		}
		if err := p.cur.Put(item.Key, item.Value, 0); err != nil || hash == nil {
			return 0, err
		}
		_, old, err = p.cur.Get(nil, nil, lmdb.Prev)
		if err != nil && !lmdb.IsNotFound(err) {
			return 0, err
		}
		note(hash, old)
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	note(hash, old)
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

// note copies the hash that begins value to hash, or zeros if it is too short.
func note(hash, value []byte) {
	if len(value) < len(hash) {
		clear(hash)
		return
	}
	copy(hash, value)
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
			return p.failed("append", err)
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

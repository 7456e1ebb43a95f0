package tree

import (
	"bytes"
	"fmt"
	"iter"
)

// An Entry is a key with its value. Its bytes belong to the storage: they are valid until the
// next write of the transaction or its end, and must not be written to; bytes.Clone keeps them.
type Entry struct {
	Key   []byte
	Value []byte // nil in index mode; otherwise never nil
	hash  []byte
}

// Hash returns the leaf hash of e, as stored. The zero Entry has the zero Hash.
func (e Entry) Hash() Hash { return hashOf(e.hash) }

// A Node is one node of the tree.
type Node struct {
	Level int
	Key   []byte // of its first leaf, borrowed as an Entry's; nil for the anchor of the level
	Hash  Hash
}

// Get returns the value stored under key, or [ErrNotFound]; an empty value is not missing and
// not nil. In index mode it returns [ErrNoValues]. A key that no tree can hold is not found.
// The bytes are borrowed: in a tree that only reads, until the transaction ends, and otherwise
// until the next call on t but Get and Has, since writes that wait may be applied by it.
func (t *Tree) Get(key []byte) ([]byte, error) {
	if t.format.Mode == Index {
		return nil, ErrNoValues
	}
	value, err := t.lookUp(key)
	if err != nil {
		return nil, err
	}
	return value, nil
}

// Has reports whether there is an entry under key.
func (t *Tree) Has(key []byte) (bool, error) {
	_, err := t.lookUp(key)
	if err == ErrNotFound { // never wrapped
		return false, nil
	}
	return err == nil, err
}

// lookUp returns the value under key, or in index mode what stands for it.
func (t *Tree) lookUp(key []byte) ([]byte, error) {
	if t.err != nil {
		return nil, t.err
	}
	if len(key) == 0 || len(key) > MaxKey {
		return nil, ErrNotFound
	}
	if t.buf != nil {
		if w, ok := t.buf.pending.find(key, t.format.K); ok {
			if w.mark == markDelete {
				return nil, ErrNotFound
			}
			return w.value, nil
		}
	}
	value, ok, err := t.record(0, key)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrNotFound
	}
	return value[t.format.K:], nil
}

// record returns the stored value of a record, which has at least K bytes.
func (t *Tree) record(level byte, key []byte) (value []byte, ok bool, err error) {
	value, ok, err = t.s.Get(level, key)
	if ok && len(value) < t.format.K {
		return nil, false, corruptRecord(recordKey(level, key))
	}
	return value, ok, err
}

// Range yields the entries within b in ascending order; the zero Bounds means all. On failure
// it yields a zero Entry with the error once, then stops; [Tree.Lost] has it too. A write to the
// tree while the loop runs ends it with [ErrWritten].
func (t *Tree) Range(b Bounds) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		start, from, stop := b.ascending(0)
		if len(from) == 1 {
			start = After // the anchor is no entry
		}
		t.entries(start, from, stop, yield)
	}
}

// Backward is [Tree.Range] in descending order.
func (t *Tree) Backward(b Bounds) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		start, from, stop := b.descending(0)
		if len(stop) == 1 {
			stop = append(stop, 0)
		}
		t.entries(start, from, stop, yield)
	}
}

// lose remembers the error that an iteration ends with.
func (t *Tree) lose(err error) error {
	t.lost = err
	return err
}

func (t *Tree) entries(start Start, from, stop []byte, yield func(Entry, error) bool) {
	if err := t.Flush(); err != nil {
		yield(Entry{}, err)
		return
	}
	s := t.scan(start, from, stop)
	defer s.close()
	k, keep := t.format.K, t.format.Mode == Store
	for {
		recs, err := s.read()
		if err != nil {
			yield(Entry{}, t.lose(err))
			return
		}
		if len(recs) == 0 {
			return
		}
		for i := range recs { // not by scanner.each: here each nanosecond counts
			r := &recs[i]
			if len(r.Value) < k {
				yield(Entry{}, t.lose(corruptRecord(r.Key)))
				return
			}
			e := Entry{Key: r.Key[1:], hash: r.Value[:k:k]}
			if keep {
				e.Value = r.Value[k:]
			}
			s.keep(r.Key)
			if !yield(e, nil) {
				return
			}
			if t.writes != s.writes {
				yield(Entry{}, t.lose(s.check()))
				return
			}
			if s.moved() {
				break
			}
		}
	}
}

// Root returns the root of the tree.
func (t *Tree) Root() (Root, error) {
	if err := t.Flush(); err != nil {
		return Root{}, err
	}
	top, err := t.top()
	if err != nil {
		return Root{}, err
	}
	if top == 1 {
		// The reference leaves this level behind when the last entry goes.
		if only, err := t.onlyAnchor(0); err != nil {
			return Root{}, err
		} else if only {
			top = 0
		}
	}
	value, ok, err := t.record(top, nil)
	if err != nil {
		return Root{}, err
	}
	if !ok {
		return Root{}, fmt.Errorf("%w: level %d has no anchor", ErrCorrupt, top)
	}
	return Root{Level: int(top), Hash: hashOf(value[:t.format.K])}, nil
}

// top returns the level of the last record below the header.
func (t *Tree) top() (byte, error) {
	n, err := t.s.Scan(Before, []byte{headerLevel}, nil, t.rec[:])
	if err != nil {
		return 0, err
	}
	if n == 0 {
		return 0, fmt.Errorf("%w: there is no anchor", ErrCorrupt)
	}
	return t.rec[0].Key[0], nil
}

// Node returns the node of a level under key, nil or empty for the anchor, or [ErrNotFound].
// A level outside 0 to MaxLevel gives [ErrLevel].
func (t *Tree) Node(level int, key []byte) (Node, error) {
	if err := t.ready(level); err != nil {
		return Node{}, err
	}
	if len(key) > MaxKey {
		return Node{}, ErrNotFound
	}
	value, ok, err := t.record(byte(level), key)
	if err != nil {
		return Node{}, err
	}
	if !ok {
		return Node{}, ErrNotFound
	}
	n := Node{Level: level, Hash: hashOf(value[:t.format.K])}
	if len(key) > 0 {
		n.Key = bytes.Clone(key)
	}
	return n, nil
}

// ready flushes for a read of nodes on a level.
func (t *Tree) ready(level int) error {
	if level < 0 || level > MaxLevel {
		return fmt.Errorf("%w: %d", ErrLevel, level)
	}
	return t.Flush()
}

// Nodes yields the nodes of a level within b in ascending order, the anchor as the empty key.
// Of a level that is not there it yields none. Errors come as those of [Tree.Range] do.
func (t *Tree) Nodes(level int, b Bounds) iter.Seq2[Node, error] {
	return func(yield func(Node, error) bool) {
		if err := t.ready(level); err != nil {
			yield(Node{}, err)
			return
		}
		start, from, stop := b.ascending(byte(level))
		t.nodes(start, from, stop, yield)
	}
}

// NodesBackward is [Tree.Nodes] in descending order.
func (t *Tree) NodesBackward(level int, b Bounds) iter.Seq2[Node, error] {
	return func(yield func(Node, error) bool) {
		if err := t.ready(level); err != nil {
			yield(Node{}, err)
			return
		}
		start, from, stop := b.descending(byte(level))
		t.nodes(start, from, stop, yield)
	}
}

func (t *Tree) nodes(start Start, from, stop []byte, yield func(Node, error) bool) {
	s := t.scan(start, from, stop)
	err := s.each(func(r *Record) bool { return yield(t.node(r), nil) })
	if err != nil {
		yield(Node{}, t.lose(err))
	}
}

func (t *Tree) node(r *Record) Node {
	n := Node{Level: int(r.Key[0]), Hash: hashOf(r.Value[:t.format.K])}
	if len(r.Key) > 1 {
		n.Key = r.Key[1:]
	}
	return n
}

// Children yields the children of the node of a level, 1 or above, under key: the nodes of
// the level below from that key up to, not including, the next boundary. There is no limit to
// their number: a reader that has one breaks off and goes on by [Tree.Nodes]. If there is no
// such node it yields [ErrNotFound]; otherwise errors come as those of [Tree.Range] do.
func (t *Tree) Children(level int, key []byte) iter.Seq2[Node, error] {
	return func(yield func(Node, error) bool) {
		if level == 0 {
			yield(Node{}, fmt.Errorf("%w: a leaf has no children", ErrLevel))
			return
		}
		if _, err := t.Node(level, key); err != nil {
			yield(Node{}, err)
			return
		}
		below := byte(level - 1)
		first := true
		s := t.scan(AtOrAfter, recordKey(below, key), []byte{byte(level)})
		err := s.each(func(r *Record) bool {
			if !first && t.rule.Boundary(r.Value) {
				return false
			}
			first = false
			return yield(t.node(r), nil)
		})
		if err != nil {
			yield(Node{}, t.lose(err))
		}
	}
}

// Len returns the number of entries. It reads the nodes above level 0, one in Q of the entries,
// unless it finds none.
func (t *Tree) Len() (int64, error) {
	if err := t.Flush(); err != nil {
		return 0, err
	}
	total, err := t.s.Count()
	if err != nil {
		return 0, err
	}
	n := total - 2 // the header and the anchor of level 0
	s := t.scan(AtOrAfter, []byte{1}, []byte{headerLevel})
	err = s.each(func(*Record) bool { n--; return true })
	return n, err
}

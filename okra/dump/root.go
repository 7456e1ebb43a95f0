package dump

import (
	"encoding/binary"
	"fmt"

	"github.com/zeebo/blake3"

	"github.com/okradb/okra-go/tree"
)

// A rootHasher computes the root of a tree from its entries in key order, in memory for one node
// of each level. It follows FORMAT.md of the repository, sections 5 to 7, by itself, sharing no
// code with the trees that it checks.
type rootHasher struct {
	format tree.Format
	rule   tree.Rule
	levels []levelHasher // one for each level that has nodes so far
	count  int64         // of entries

	entry []byte         // what a leaf is the hash of, reused
	large *blake3.Hasher // for a value that is not worth copying
}

// levelHasher takes in the nodes of a level, to hash them as children of the level above.
type levelHasher struct {
	open   *blake3.Hasher // over the children of the node that has not ended
	beside bool           // the level has a node beside its anchor
}

// copiedValue is the longest value, in bytes, that is copied to be hashed together with its key.
const copiedValue = 64 << 10

// newRootHasher returns a rootHasher for trees of format f, whose K and Q must be set.
func newRootHasher(f tree.Format) *rootHasher {
	h := &rootHasher{format: f, rule: f.Rule(), large: blake3.New()}
	h.parent(0, tree.EmptyHash(f.K).Bytes())
	return h
}

// take takes in the next entry. It returns an error wrapping wrong if e brings a hash that is
// not that of its value, and tree.ErrHashSize if e brings none where the mode needs one.
func (h *rootHasher) take(e Entry, wrong error) error {
	h.count++
	if h.format.Mode == tree.Index {
		if e.Hash.Len() != h.format.K {
			return fmt.Errorf("%w: %d bytes, K is %d", tree.ErrHashSize, e.Hash.Len(), h.format.K)
		}
		h.node(0, e.Hash.Bytes())
		return nil
	}
	leaf := h.leaf(e.Key, e.Value)
	h.node(0, leaf)
	if e.Hash == (tree.Hash{}) {
		return nil
	}
	if stored, err := tree.HashFrom(leaf); err != nil || stored != e.Hash {
		return fmt.Errorf("%w: the hash kept with key %x is not that of its value", wrong, e.Key)
	}
	return nil
}

// leaf returns the hash of an entry.
func (h *rootHasher) leaf(key, value []byte) []byte {
	b := binary.BigEndian.AppendUint32(h.entry[:0], uint32(len(key)))
	b = append(b, key...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(value)))
	if len(value) > copiedValue {
		h.large.Reset()
		write(h.large, b)
		write(h.large, value)
		h.entry = h.large.Sum(b[:0])
	} else {
		h.entry = append(b, value...)
		sum := blake3.Sum256(h.entry)
		h.entry = append(h.entry[:0], sum[:]...)
	}
	return h.entry[:h.format.K]
}

// node takes in the hash of a level's next node, which is not its anchor. A boundary ends the
// open node above and begins another.
func (h *rootHasher) node(level int, hash []byte) {
	h.levels[level].beside = true
	if h.rule.Boundary(hash) {
		h.parent(level+1, h.end(level))
	}
	write(h.levels[level].open, hash)
}

// parent takes in the hash of a node that has ended. The first of a level is its anchor.
func (h *rootHasher) parent(level int, hash []byte) {
	if level < len(h.levels) {
		h.node(level, hash)
		return
	}
	h.levels = append(h.levels, levelHasher{open: blake3.New()})
	write(h.levels[level].open, hash)
}

// end returns the hash of the open node above a level and begins the next.
func (h *rootHasher) end(level int) []byte {
	open := h.levels[level].open
	sum := open.Sum(nil)
	open.Reset()
	return sum[:h.format.K]
}

// trailer returns the number of entries and the root. Nothing can be taken in after it.
func (h *rootHasher) trailer() (Trailer, error) {
	hash, level := tree.EmptyHash(h.format.K).Bytes(), 0
	for h.levels[level].beside {
		if level == tree.MaxLevel {
			return Trailer{}, tree.ErrTooTall
		}
		hash = h.end(level)
		level++
		h.parent(level, hash)
	}
	root, err := tree.HashFrom(hash)
	return Trailer{Count: h.count, Root: tree.Root{Level: level, Hash: root}}, err
}

// write hashes b. Writing to a Hasher never fails.
func write(h *blake3.Hasher, b []byte) { _, _ = h.Write(b) }

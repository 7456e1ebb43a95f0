package okra_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/okradb/okra-go/okra"
	"github.com/zeebo/blake3"
)

const testdata = "../testdata"

// A vecCase is one case of small.json.
type vecCase struct {
	Name  string
	K     int
	Q     uint32
	Mode  string
	Ops   []vecOp
	Root  vecRoot
	Nodes []vecNode
}

// A vecRoot is a root as the data files write it.
type vecRoot struct {
	Level int
	Hash  string
}

func (r vecRoot) String() string { return fmt.Sprintf("%d %s", r.Level, r.Hash) }

// A vecNode is a node as one line "level,key,hash" in hex, with "-" for an anchor's key.
type vecNode string

func (n *vecNode) UnmarshalJSON(b []byte) error {
	var level int
	var key *string
	var hash string
	if err := json.Unmarshal(b, &[]any{&level, &key, &hash}); err != nil {
		return err
	}
	if key == nil {
		anchor := "-"
		key = &anchor
	}
	*n = vecNode(fmt.Sprintf("%d,%s,%s", level, *key, hash))
	return nil
}

// A vecOp is one write.
type vecOp struct {
	del        bool
	key, value []byte
}

func (o *vecOp) UnmarshalJSON(b []byte) error {
	var s []string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	if len(s) < 2 || s[0] != "set" && s[0] != "delete" {
		return fmt.Errorf("bad operation %s", b)
	}
	var err error
	o.del = s[0] == "delete"
	if o.key, err = hex.DecodeString(s[1]); err != nil || o.del {
		return err
	}
	o.value, err = hex.DecodeString(s[2])
	return err
}

// apply does o in tx.
func (o vecOp) apply(tx *okra.Tx) error {
	if o.del {
		return tx.Delete(o.key)
	}
	return tx.Put(o.key, o.value)
}

// model does o in a plain map.
func (o vecOp) model(m map[string][]byte) {
	if o.del {
		delete(m, string(o.key))
		return
	}
	m[string(o.key)] = o.value
}

// vecMode reads a mode as the data files write it.
func vecMode(t *testing.T, s string) okra.Mode {
	t.Helper()
	switch s {
	case "store":
		return okra.Store
	case "index":
		return okra.Index
	}
	t.Fatalf("unknown mode %q", s)
	return 0
}

func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(testdata, name))
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// vecSeed returns the seed of a random test and prints it. OKRA_SEED replays one.
func vecSeed(t *testing.T) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("OKRA_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("OKRA_SEED: %v", err)
		}
	}
	t.Logf("replay with OKRA_SEED=%d", seed)
	return seed
}

// vecOpen opens the store in dir and closes it with the test.
func vecOpen(t *testing.T, dir string, opts okra.Options) *okra.DB {
	t.Helper()
	opts.NoSync = !opts.ReadOnly
	db, err := okra.Open(dir, &opts)
	if err != nil {
		t.Fatalf("open %s: %v", dir, err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close %s: %v", dir, err)
		}
	})
	return db
}

// listing returns the root and all nodes by level and key, one line each.
func listing(t *testing.T, db *okra.DB) (root okra.Root, lines []vecNode) {
	t.Helper()
	err := db.View(func(tx *okra.Tx) (err error) {
		if root, err = tx.Root(); err != nil {
			return err
		}
		for level := 0; level <= root.Level; level++ {
			for n, err := range tx.Nodes(level, okra.Bounds{}) {
				if err != nil {
					return fmt.Errorf("nodes of level %d: %w", level, err)
				}
				key := "-"
				if n.Key != nil {
					key = hex.EncodeToString(n.Key)
				}
				lines = append(lines, vecNode(fmt.Sprintf("%d,%s,%s", n.Level, key, n.Hash)))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("listing: %v", err)
	}
	return root, lines
}

// listingDigest is the digest of a listing as the data files have it.
func listingDigest(lines []vecNode) string {
	h := blake3.New()
	for _, line := range lines {
		h.WriteString(string(line))
		h.WriteString("\n")
	}
	return hex.EncodeToString(h.Sum(nil))
}

// wantTree checks the whole tree of db.
func wantTree(t *testing.T, db *okra.DB, root string, nodes []vecNode) {
	t.Helper()
	gotRoot, got := listing(t, db)
	if gotRoot.String() != root {
		t.Errorf("root is %s, want %s", gotRoot, root)
	}
	for i := range max(len(got), len(nodes)) {
		switch {
		case i >= len(got):
			t.Fatalf("node %d is missing, want %s", i, nodes[i])
		case i >= len(nodes):
			t.Fatalf("node %d is %s, want no more", i, got[i])
		case got[i] != nodes[i]:
			t.Fatalf("node %d is %s, want %s", i, got[i], nodes[i])
		}
	}
}

// wantDigest checks the whole tree of db by its root, size and digest.
func wantDigest(t *testing.T, db *okra.DB, root string, nodes int, digest string) {
	t.Helper()
	gotRoot, got := listing(t, db)
	if gotRoot.String() != root {
		t.Errorf("root is %s, want %s", gotRoot, root)
	}
	if len(got) != nodes {
		t.Errorf("%d nodes, want %d", len(got), nodes)
	}
	if d := listingDigest(got); d != digest {
		t.Errorf("digest is %s, want %s", d, digest)
	}
}

// wantEntries checks the entries of db, by scan and by look-up, against a model. Without a
// model's values (index mode) only the keys are compared.
func wantEntries(t *testing.T, db *okra.DB, model map[string][]byte) {
	t.Helper()
	keys := slices.Sorted(maps.Keys(model))
	store := db.Format().Mode == okra.Store
	err := db.View(func(tx *okra.Tx) error {
		i := 0
		for e, err := range tx.All() {
			if err != nil {
				return err
			}
			if i == len(keys) || string(e.Key) != keys[i] {
				return fmt.Errorf("entry %d has the key %x", i, e.Key)
			}
			if store && !bytes.Equal(e.Value, model[keys[i]]) {
				return fmt.Errorf("%x has the value %x, want %x", e.Key, e.Value, model[keys[i]])
			}
			i++
		}
		if i != len(keys) {
			return fmt.Errorf("%d entries, want %d", i, len(keys))
		}
		for _, k := range keys {
			if !store {
				break
			}
			if v, err := tx.Get([]byte(k)); err != nil || !bytes.Equal(v, model[k]) {
				return fmt.Errorf("get %x: %x, %v; want %x", k, v, err, model[k])
			}
		}
		return nil
	})
	if err != nil {
		t.Errorf("entries: %v", err)
	}
}

// fresh returns a new store with the entries of a model, written in one transaction.
func fresh(t *testing.T, f okra.Format, model map[string][]byte) *okra.DB {
	t.Helper()
	db := vecOpen(t, t.TempDir(), okra.Options{K: f.K, Q: f.Q, Mode: f.Mode})
	err := db.Update(func(tx *okra.Tx) error {
		for k, v := range model {
			if err := tx.Put([]byte(k), v); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("fresh store: %v", err)
	}
	return db
}

// update applies ops in one transaction.
func update(t *testing.T, db *okra.DB, ops []vecOp) {
	t.Helper()
	err := db.Update(func(tx *okra.Tx) error {
		for _, op := range ops {
			if err := op.apply(tx); err != nil {
				return fmt.Errorf("%x: %w", op.key, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("update: %v", err)
	}
}

var errVecAbort = errors.New("aborted on purpose")

// updateSplit applies ops over several transactions cut at random. Some of them are first done
// and aborted, and some ask for the root half way, which must not change the outcome.
func updateSplit(t *testing.T, db *okra.DB, ops []vecOp, rng *rand.Rand) {
	t.Helper()
	for len(ops) > 0 {
		n := 1 + rng.IntN(min(len(ops), 40))
		abort, ask := rng.IntN(6) == 0, rng.IntN(n+1)
		run := func(tx *okra.Tx) error {
			for i, op := range ops[:n] {
				if i == ask {
					if _, err := tx.Root(); err != nil {
						return err
					}
				}
				if err := op.apply(tx); err != nil {
					return fmt.Errorf("%x: %w", op.key, err)
				}
			}
			return nil
		}
		if abort {
			err := db.Update(func(tx *okra.Tx) error { return errors.Join(run(tx), errVecAbort) })
			if !errors.Is(err, errVecAbort) {
				t.Fatalf("aborted update: %v", err)
			}
		}
		if err := db.Update(run); err != nil {
			t.Fatalf("update: %v", err)
		}
		ops = ops[n:]
	}
}

func TestVectorsSmall(t *testing.T) {
	var cases []vecCase
	readJSON(t, "small.json", &cases)
	if len(cases) != 58 {
		t.Fatalf("small.json has %d cases, want 58", len(cases))
	}
	rng := rand.New(rand.NewPCG(vecSeed(t), 1))
	for _, c := range cases {
		opts := okra.Options{K: c.K, Q: c.Q, Mode: vecMode(t, c.Mode)}
		model := map[string][]byte{}
		for _, op := range c.Ops {
			op.model(model)
		}
		t.Run(c.Name+"/one transaction", func(t *testing.T) {
			db := vecOpen(t, t.TempDir(), opts)
			update(t, db, c.Ops)
			wantTree(t, db, c.Root.String(), c.Nodes)
			wantEntries(t, db, model)
		})
		t.Run(c.Name+"/several transactions", func(t *testing.T) {
			db := vecOpen(t, t.TempDir(), opts)
			updateSplit(t, db, c.Ops, rng)
			wantTree(t, db, c.Root.String(), c.Nodes)
			wantEntries(t, db, model)
		})
	}
}

// vecU32 is the key of i in the rules of the data files.
func vecU32(i int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(i)) }

// vecBlake3 is the first n bytes of the hash of key.
func vecBlake3(key []byte, n int) []byte {
	sum := blake3.Sum256(key)
	return sum[:n]
}

// vecEntries yields the entries of a rule in key order.
func vecEntries(count int, value func(key []byte) []byte) iter.Seq2[okra.Entry, error] {
	return func(yield func(okra.Entry, error) bool) {
		for i := range count {
			key := vecU32(i)
			if !yield(okra.Entry{Key: key, Value: value(key)}, nil) {
				return
			}
		}
	}
}

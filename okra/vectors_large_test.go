package okra_test

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/okradb/okra-go/okra"
)

// A vecLarge is one case of large.json, or the expect.json of a database, which has no Count.
type vecLarge struct {
	Count  int
	K      int
	Q      uint32
	Mode   string
	Key    string
	Value  string
	Root   vecRoot
	Nodes  int
	Digest string
}

// valueRules are the rules of large.json by name.
func valueRules() map[string]func(key []byte) []byte {
	return map[string]func(key []byte) []byte{
		"first 8 bytes of blake3(key)": func(key []byte) []byte { return vecBlake3(key, 8) },
		"4 bytes 0xff":                 func([]byte) []byte { return []byte("\xff\xff\xff\xff") },
	}
}

func TestVectorsLarge(t *testing.T) {
	var cases []vecLarge
	readJSON(t, "large.json", &cases)
	if len(cases) != 5 {
		t.Fatalf("large.json has %d cases, want 5", len(cases))
	}
	rng := rand.New(rand.NewPCG(vecSeed(t), 2))
	for _, c := range cases {
		value := valueRules()[c.Value]
		if value == nil || c.Key != "u32 big-endian of i" {
			t.Fatalf("unknown rule: key %q, value %q", c.Key, c.Value)
		}
		opts := okra.Options{K: c.K, Q: c.Q, Mode: vecMode(t, c.Mode)}
		name := fmt.Sprintf("%d entries Q=%d", c.Count, c.Q)
		t.Run(name+"/put in random order", func(t *testing.T) {
			if testing.Short() && c.Count > 20000 {
				t.Skip("100,000 entries are left out with -short")
			}
			db := vecOpen(t, t.TempDir(), opts)
			putShuffled(t, db, c.Count, value, rng)
			wantDigest(t, db, c.Root.String(), c.Nodes, c.Digest)
		})
		t.Run(name+"/load", func(t *testing.T) {
			if testing.Short() && c.Count > 20000 {
				t.Skip("100,000 entries are left out with -short")
			}
			db := vecOpen(t, t.TempDir(), opts)
			load(t, db, c.Count, value)
			wantDigest(t, db, c.Root.String(), c.Nodes, c.Digest)
		})
	}
}

// putShuffled puts the entries of a rule in random order, over five transactions.
func putShuffled(t *testing.T, db *okra.DB, n int, value func([]byte) []byte, rng *rand.Rand) {
	t.Helper()
	ops := make([]vecOp, n)
	for i, j := range rng.Perm(n) {
		key := vecU32(j)
		ops[i] = vecOp{key: key, value: value(key)}
	}
	for part := range 5 {
		update(t, db, ops[part*n/5:(part+1)*n/5])
	}
}

// load loads the entries of a rule into the empty tree of db.
func load(t *testing.T, db *okra.DB, count int, value func([]byte) []byte) {
	t.Helper()
	err := db.Update(func(tx *okra.Tx) error {
		n, err := tx.Load(vecEntries(count, value))
		if err == nil && n != int64(count) {
			err = fmt.Errorf("loaded %d entries, want %d", n, count)
		}
		return err
	})
	if err != nil {
		t.Fatalf("load: %v", err)
	}
}

// copyDatabase copies the data file of a database in testdata to a new folder.
func copyDatabase(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	copyFile(t, filepath.Join(dir, "data.mdb"), filepath.Join(testdata, name, "data.mdb"))
	return dir
}

func copyFile(t *testing.T, to, from string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// databaseModel is the contents of the databases in testdata.
func databaseModel(n int) map[string][]byte {
	model := map[string][]byte{}
	for i := range n {
		if i%7 != 0 {
			model[string(vecU32(i))] = vecBlake3(vecU32(i), 8)
		}
	}
	return model
}

func TestVectorsDatabases(t *testing.T) {
	rng := rand.New(rand.NewPCG(vecSeed(t), 3))
	for name, n := range map[string]int{"db-store-q32": 500, "db-index-q4": 200} {
		t.Run(name, func(t *testing.T) {
			var want vecLarge
			readJSON(t, filepath.Join(name, "expect.json"), &want)
			format := okra.Format{K: want.K, Q: want.Q, Mode: vecMode(t, want.Mode)}
			model := databaseModel(n)
			for _, opts := range []okra.Options{
				{ReadOnly: true},
				{},
				{K: want.K, Q: want.Q, Mode: format.Mode},
			} {
				db := vecOpen(t, copyDatabase(t, name), opts)
				if got := db.Format(); got != format {
					t.Fatalf("options %+v: format is %+v, want %+v", opts, got, format)
				}
				wantDigest(t, db, want.Root.String(), want.Nodes, want.Digest)
				wantEntries(t, db, model)
				if !opts.ReadOnly {
					writeOn(t, db, model, rng)
				}
				model = databaseModel(n)
			}
		})
	}
}

// writeOn writes over some transactions to a store that holds model. The tree must then be that
// of a fresh store with the same contents; model is left with these.
func writeOn(t *testing.T, db *okra.DB, model map[string][]byte, rng *rand.Rand) {
	t.Helper()
	for range 4 {
		ops := make([]vecOp, 60)
		for i := range ops {
			op := vecOp{del: rng.IntN(2) == 0, key: vecU32(rng.IntN(700))}
			if !op.del {
				op.value, _ = hex.DecodeString(fmt.Sprintf("%016x", rng.Uint64()))
			}
			ops[i] = op
			op.model(model)
		}
		update(t, db, ops)
		root, nodes := listing(t, fresh(t, db.Format(), model))
		wantTree(t, db, root.String(), nodes)
		wantEntries(t, db, model)
	}
}

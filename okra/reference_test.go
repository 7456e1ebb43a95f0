package okra_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/okradb/okra-go/okra"
	"github.com/zeebo/blake3"
)

// A refSummary is what the programs of testdata/reference print about a tree.
type refSummary struct {
	K             int
	Q             uint32
	Mode          string
	Root          vecRoot
	Nodes         int
	Digest        string
	Entries       int
	EntriesDigest string
}

// refPrograms returns a folder from which the programs of testdata/reference run, or skips.
func refPrograms(t *testing.T) string {
	t.Helper()
	installed := os.Getenv("OKRA_REFERENCE_DIR")
	if installed == "" {
		t.Skip("OKRA_REFERENCE_DIR names no folder with the reference's packages:" +
			" see testdata/README.md")
	}
	modules, err := filepath.Abs(filepath.Join(installed, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(modules); err != nil {
		t.Fatalf("OKRA_REFERENCE_DIR: %v", err)
	}
	dir := t.TempDir()
	programs, err := filepath.Glob(filepath.Join(testdata, "reference", "*.mjs"))
	if err != nil || len(programs) == 0 {
		t.Fatalf("no programs in testdata/reference: %v", err)
	}
	for _, p := range programs {
		copyFile(t, filepath.Join(dir, filepath.Base(p)), p)
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// refRun runs one program and decodes what it prints.
func refRun(t *testing.T, programs string, answer any, stdin []byte, args ...string) {
	t.Helper()
	cmd := exec.Command("node", args...)
	cmd.Dir = programs
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		t.Fatalf("node %q: %v\n%s%s", args, err, out, exit.Stderr)
	} else if err != nil {
		t.Fatalf("node %q: %v", args, err)
	}
	if err := json.Unmarshal(out, answer); err != nil {
		t.Fatalf("node %q printed %q: %v", args, out, err)
	}
}

// refJSON writes ops as apply.mjs reads them.
func refJSON(t *testing.T, ops []vecOp) []byte {
	t.Helper()
	list := make([][]string, 0, len(ops))
	for _, op := range ops {
		key, value := hex.EncodeToString(op.key), hex.EncodeToString(op.value)
		if op.del {
			list = append(list, []string{"delete", key})
			continue
		}
		list = append(list, []string{"set", key, value})
	}
	b, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// refDescribe describes the tree of db as the programs do.
func refDescribe(t *testing.T, db *okra.DB) refSummary {
	t.Helper()
	root, nodes := listing(t, db)
	f := db.Format()
	s := refSummary{K: f.K, Q: f.Q, Mode: f.Mode.String(), Nodes: len(nodes)}
	s.Root = vecRoot{root.Level, root.Hash.String()}
	s.Digest = listingDigest(nodes)
	h := blake3.New()
	err := db.View(func(tx *okra.Tx) error {
		for e, err := range tx.All() {
			if err != nil {
				return err
			}
			fmt.Fprintf(h, "%x,%s", e.Key, e.Hash())
			if f.Mode == okra.Store {
				fmt.Fprintf(h, ",%x", e.Value)
			}
			fmt.Fprintln(h)
			s.Entries++
		}
		return nil
	})
	if err != nil {
		t.Fatalf("entries: %v", err)
	}
	s.EntriesDigest = hex.EncodeToString(h.Sum(nil))
	return s
}

// refCopy copies the data file of a closed store to a new folder.
func refCopy(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	copyFile(t, filepath.Join(to, "data.mdb"), filepath.Join(dir, "data.mdb"))
	return to
}

// refOps is n random writes, a third of them deletes, to keys of 1 to 12 bytes and a few long
// ones. Values are up to 40 bytes, a few of them several pages.
func refOps(rng *rand.Rand, n int) []vecOp {
	random := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return b
	}
	var keys [][]byte
	ops := make([]vecOp, n)
	for i := range ops {
		op := vecOp{del: len(keys) > 0 && rng.IntN(3) == 0}
		switch {
		case op.del || len(keys) > 0 && rng.IntN(4) == 0:
			op.key = keys[rng.IntN(len(keys))]
		case rng.IntN(200) == 0:
			op.key = random(510 - rng.IntN(3))
		default:
			op.key = random(1 + rng.IntN(12))
		}
		if !op.del {
			op.value = random(rng.IntN(41))
			if rng.IntN(300) == 0 {
				op.value = random(10000)
			}
			keys = append(keys, op.key)
		}
		ops[i] = op
	}
	return ops
}

func eachFormat(t *testing.T, run func(t *testing.T, f okra.Format)) {
	for _, mode := range []okra.Mode{okra.Store, okra.Index} {
		for _, q := range []uint32{4, 32} {
			f := okra.Format{K: 16, Q: q, Mode: mode}
			t.Run(fmt.Sprintf("%s Q=%d", mode, q), func(t *testing.T) { run(t, f) })
		}
	}
}

// The reference reads a store of this library, finds the same tree in it, writes to it, and
// this library reads and writes on.
func TestReferenceSharesStore(t *testing.T) {
	programs := refPrograms(t)
	seed := vecSeed(t)
	eachFormat(t, func(t *testing.T, f okra.Format) {
		rng := rand.New(rand.NewPCG(seed, uint64(f.Q)+uint64(f.Mode)))
		opts := okra.Options{K: f.K, Q: f.Q, Mode: f.Mode}
		dir, model := t.TempDir(), map[string][]byte{}
		ours := func(n int) refSummary {
			ops := refOps(rng, n)
			db, err := okra.Open(dir, &opts)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			for part := range slices.Chunk(ops, 1+n/4) {
				update(t, db, part)
			}
			for _, op := range ops {
				op.model(model)
			}
			return refDescribe(t, db)
		}

		want := ours(4000)
		var got refSummary
		refRun(t, programs, &got, nil, "dump.mjs", refCopy(t, dir))
		if got != want {
			t.Fatalf("the reference reads\n%+v, this library\n%+v", got, want)
		}

		theirs := refOps(rng, 300)
		dir = refCopy(t, dir)
		refRun(t, programs, &want, refJSON(t, theirs),
			"apply.mjs", dir, f.Mode.String(), strconv.Itoa(f.K), fmt.Sprint(f.Q))
		for _, op := range theirs {
			op.model(model)
		}
		dir = refCopy(t, dir)
		if got := ours(0); got != want {
			t.Fatalf("this library reads\n%+v, the reference\n%+v", got, want)
		}
		got = ours(1000)
		if want := refDescribe(t, fresh(t, f, model)); got != want {
			t.Fatalf("after all writes\n%+v, a fresh store\n%+v", got, want)
		}
	})
}

// This library reads what the reference generates.
func TestReferenceGenerates(t *testing.T) {
	programs := refPrograms(t)
	eachFormat(t, func(t *testing.T, f okra.Format) {
		const n = 1000
		dir := t.TempDir()
		var want refSummary
		refRun(t, programs, &want, nil,
			"generate.mjs", dir, f.Mode.String(), fmt.Sprint(f.Q), strconv.Itoa(n))
		db := vecOpen(t, refCopy(t, dir), okra.Options{})
		if got := refDescribe(t, db); got != want {
			t.Errorf("this library reads\n%+v, the reference\n%+v", got, want)
		}
		wantEntries(t, db, databaseModel(n))
	})
}

// A store emptied by the reference has an anchor too many, which the next write puts right.
func TestReferenceEmpties(t *testing.T) {
	programs := refPrograms(t)
	dir := t.TempDir()
	ops := []vecOp{{key: []byte("a"), value: []byte("1")}, {del: true, key: []byte("a")}}
	var summary refSummary
	refRun(t, programs, &summary, refJSON(t, ops), "apply.mjs", dir, "store", "16", "4")
	emptied := docRecords(t, docBlocks(t, formatDoc, "emptied")[0])
	wantRecords(t, refCopy(t, dir), emptied.records)
	db := vecOpen(t, refCopy(t, dir), okra.Options{})
	update(t, db, ops[:1])
	root, nodes := listing(t, fresh(t, emptied.format, map[string][]byte{"a": []byte("1")}))
	wantTree(t, db, root.String(), nodes)
}

// The vectors are what the reference makes, but for the emptied tree.
func TestReferenceVectors(t *testing.T) {
	programs := refPrograms(t)
	dir, err := filepath.Abs(testdata)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Small, Large int
		Different    []string
	}
	refRun(t, programs, &answer, nil, "vectors.mjs", dir)
	different := []string{"set then delete everything"}
	if answer.Small != 58 || answer.Large != 5 || !slices.Equal(answer.Different, different) {
		t.Errorf("vectors.mjs answers %+v", answer)
	}
}

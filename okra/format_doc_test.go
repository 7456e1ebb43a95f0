package okra_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/PowerDNS/lmdb-go/lmdb"
	"github.com/okradb/okra-go/okra"
	"github.com/zeebo/blake3"
)

// docBlocks returns the fenced blocks of a document that carry a given mark, as lines.
func docBlocks(t *testing.T, file, mark string) [][]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var blocks [][]string
	var block []string
	inside, wanted := false, false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case inside && line == "```":
			if wanted {
				blocks = append(blocks, block)
			}
			inside, wanted, block = false, false, nil
		case inside:
			block = append(block, line)
		case strings.HasPrefix(line, "```"):
			inside, wanted = true, line == "```"+mark
		}
	}
	if inside {
		t.Fatalf("%s: a fenced block is not closed", file)
	}
	if len(blocks) == 0 {
		t.Fatalf("%s: no block is marked %s", file, mark)
	}
	return blocks
}

const formatDoc = "../FORMAT.md"

// docParams reads a line of name=value words.
func docParams(line string) map[string]string {
	params := map[string]string{}
	for _, word := range strings.Fields(line) {
		if name, value, ok := strings.Cut(word, "="); ok {
			params[name] = value
		}
	}
	return params
}

// docFormat reads K, Q and the mode from a line of parameters.
func docFormat(t *testing.T, line string) okra.Format {
	t.Helper()
	params := docParams(line)
	k, err := strconv.Atoi(params["K"])
	q, err2 := strconv.ParseUint(params["Q"], 10, 32)
	if err := errors.Join(err, err2); err != nil {
		t.Fatalf("parameters %q: %v", line, err)
	}
	mode := okra.Store
	if m := params["mode"]; m != "" {
		mode = vecMode(t, m)
	}
	return okra.Format{K: k, Q: uint32(q), Mode: mode}
}

// docHex reads hex in which blanks are free.
func docHex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatalf("hex %q: %v", s, err)
	}
	return b
}

// A docExample is one block of writes and the records they lead to.
type docExample struct {
	format  okra.Format
	ops     []vecOp
	records []docRecord
}

type docRecord struct{ key, value []byte }

func (r docRecord) String() string { return fmt.Sprintf("%x -> %x", r.key, r.value) }

func docRecords(t *testing.T, block []string) docExample {
	t.Helper()
	example := docExample{format: docFormat(t, block[0])}
	for _, line := range block[1:] {
		if key, value, ok := strings.Cut(line, "->"); ok {
			r := docRecord{docHex(t, key), docHex(t, value)}
			example.records = append(example.records, r)
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		key, value, _ := strings.Cut(rest, " ")
		op := vecOp{del: word == "delete", key: docHex(t, key)}
		if !op.del && word != "put" {
			t.Fatalf("line %q is not understood", line)
		}
		if !op.del {
			op.value = docHex(t, value)
		}
		example.ops = append(example.ops, op)
	}
	return example
}

// rawEnv opens the LMDB environment in dir without the library.
func rawEnv(t *testing.T, dir string, flags uint) *lmdb.Env {
	t.Helper()
	env, err := lmdb.NewEnv()
	if err == nil {
		err = env.SetMapSize(64 << 20)
	}
	if err == nil {
		err = env.Open(dir, flags, 0o644)
	}
	if err != nil {
		t.Fatalf("open %s with LMDB: %v", dir, err)
	}
	return env
}

// rawRecords reads all records of the unnamed table in dir with LMDB's own calls.
func rawRecords(t *testing.T, dir string) (records []docRecord) {
	t.Helper()
	env := rawEnv(t, dir, lmdb.Readonly)
	defer env.Close()
	err := env.View(func(txn *lmdb.Txn) error {
		dbi, err := txn.OpenRoot(0)
		if err != nil {
			return err
		}
		cur, err := txn.OpenCursor(dbi)
		if err != nil {
			return err
		}
		defer cur.Close()
		for {
			k, v, err := cur.Get(nil, nil, lmdb.Next)
			if lmdb.IsNotFound(err) {
				return nil
			}
			if err != nil {
				return err
			}
			records = append(records, docRecord{k, v})
		}
	})
	if err != nil {
		t.Fatalf("read %s with LMDB: %v", dir, err)
	}
	return records
}

// writeRaw makes a database of exactly these records with LMDB's own calls.
func writeRaw(t *testing.T, dir string, records []docRecord) {
	t.Helper()
	env := rawEnv(t, dir, 0)
	defer env.Close()
	err := env.Update(func(txn *lmdb.Txn) error {
		dbi, err := txn.OpenRoot(0)
		if err != nil {
			return err
		}
		for _, r := range records {
			if err := txn.Put(dbi, r.key, r.value, 0); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("write %s with LMDB: %v", dir, err)
	}
}

func wantRecords(t *testing.T, dir string, want []docRecord) {
	t.Helper()
	got := rawRecords(t, dir)
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Fatalf("record %s is missing", want[i])
		case i >= len(want):
			t.Fatalf("record %s is not in the document", got[i])
		case got[i].String() != want[i].String():
			t.Fatalf("record is %s, the document has %s", got[i], want[i])
		}
	}
}

// oneOpen opens the store in dir, runs ops in one transaction and closes it again, so that the
// file can be opened by others.
func oneOpen(t *testing.T, dir string, opts okra.Options, ops []vecOp) {
	t.Helper()
	db, err := okra.Open(dir, &opts)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	if len(ops) > 0 {
		update(t, db, ops)
	}
	if err := db.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
}

func TestFormatRecords(t *testing.T) {
	for _, block := range docBlocks(t, formatDoc, "records") {
		example := docRecords(t, block)
		f := example.format
		opts := okra.Options{K: f.K, Q: f.Q, Mode: f.Mode}
		model := map[string][]byte{}
		for _, op := range example.ops {
			op.model(model)
		}
		t.Run(fmt.Sprintf("write %+v %d ops", f, len(example.ops)), func(t *testing.T) {
			dir := t.TempDir()
			oneOpen(t, dir, opts, example.ops)
			wantRecords(t, dir, example.records)
		})
		t.Run(fmt.Sprintf("read %+v %d ops", f, len(example.ops)), func(t *testing.T) {
			dir := t.TempDir()
			writeRaw(t, dir, example.records)
			db := vecOpen(t, dir, okra.Options{ReadOnly: true})
			if db.Format() != f {
				t.Errorf("format is %+v, want %+v", db.Format(), f)
			}
			root, nodes := listing(t, fresh(t, f, model))
			wantTree(t, db, root.String(), nodes)
			wantEntries(t, db, model)
		})
	}
}

// A header without the mode byte means store mode unless asked otherwise, and is completed by
// an open for writing.
func TestFormatShortHeader(t *testing.T) {
	for _, block := range docBlocks(t, formatDoc, "records") {
		example := docRecords(t, block)
		last := len(example.records) - 1
		short := append([]docRecord(nil), example.records...)
		short[last].value = short[last].value[:10]
		opts := okra.Options{}
		if example.format.Mode == okra.Index {
			opts.Mode = okra.Index
		}
		dir := t.TempDir()
		writeRaw(t, dir, short)
		opts.ReadOnly = true
		oneOpen(t, dir, opts, nil)
		wantRecords(t, dir, short)
		opts.ReadOnly = false
		oneOpen(t, dir, opts, nil)
		wantRecords(t, dir, example.records)
	}
}

func TestFormatHashes(t *testing.T) {
	for _, block := range docBlocks(t, formatDoc, "hashes") {
		k, err := strconv.Atoi(docParams(block[0])["K"])
		if err != nil {
			t.Fatalf("%q: %v", block[0], err)
		}
		for _, line := range block[1:] {
			input, want, _ := strings.Cut(line, "->")
			sum := blake3.Sum256(docHex(t, input))
			if !bytes.Equal(sum[:k], docHex(t, want)) {
				t.Errorf("%s: hash is %x", line, sum[:k])
			}
		}
	}
}

// Supplied hashes in an index tree show on which side of the limit a hash is a boundary.
func TestFormatBoundary(t *testing.T) {
	for _, line := range docBlocks(t, formatDoc, "boundary")[0] {
		words := strings.Fields(line)
		if len(words) != 3 || words[2] != "yes" && words[2] != "no" {
			t.Fatalf("line %q is not understood", line)
		}
		q, err := strconv.ParseUint(docParams(line)["Q"], 10, 32)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		prefix := docHex(t, words[1])
		want := words[2] == "yes"
		if rule := uint64(binary.BigEndian.Uint32(prefix)) < 1<<32/q; rule != want {
			t.Errorf("%s: the formula says %t", line, rule)
		}
		hash, err := okra.HashFrom(append(prefix, make([]byte, 12)...))
		if err != nil {
			t.Fatal(err)
		}
		db := vecOpen(t, t.TempDir(), okra.Options{Q: uint32(q), Mode: okra.Index})
		err = db.Update(func(tx *okra.Tx) error { return tx.PutHash([]byte("a"), hash) })
		if err != nil {
			t.Fatal(err)
		}
		_, nodes := listing(t, db)
		got := false
		for _, n := range nodes {
			got = got || strings.HasPrefix(string(n), "1,61,")
		}
		if got != want {
			t.Errorf("%s: the tree is\n%s", line, nodes)
		}
	}
}

func TestFormatEmptied(t *testing.T) {
	records := docBlocks(t, formatDoc, "records")
	empty := docRecords(t, records[0])
	if len(empty.ops) != 0 {
		t.Fatal("the first example is not the empty tree")
	}
	emptied := docRecords(t, docBlocks(t, formatDoc, "emptied")[0])
	put := vecOp{key: []byte("a"), value: []byte("foo")}
	del := vecOp{del: true, key: []byte("a")}

	dir := t.TempDir()
	writeRaw(t, dir, emptied.records)
	db := vecOpen(t, dir, okra.Options{})
	wantEntries(t, db, map[string][]byte{})
	update(t, db, []vecOp{put})
	root, nodes := listing(t, fresh(t, emptied.format, map[string][]byte{"a": []byte("foo")}))
	wantTree(t, db, root.String(), nodes)

	dir = t.TempDir()
	writeRaw(t, dir, emptied.records)
	oneOpen(t, dir, okra.Options{}, []vecOp{put})
	oneOpen(t, dir, okra.Options{}, []vecOp{del})
	wantRecords(t, dir, empty.records)
}

func TestFormatRoots(t *testing.T) {
	for _, line := range docBlocks(t, formatDoc, "roots")[0] {
		params, want, _ := strings.Cut(line, " -> ")
		f := docFormat(t, params)
		n, err := strconv.Atoi(docParams(params)["n"])
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		value := func(key []byte) []byte { return vecBlake3(key, 16) }
		if docParams(params)["value"] == "ffffffff" {
			value = func([]byte) []byte { return []byte("\xff\xff\xff\xff") }
		}
		t.Run(params, func(t *testing.T) {
			if testing.Short() && n > 10000 {
				t.Skip("more than 10,000 entries are left out with -short")
			}
			db := vecOpen(t, t.TempDir(), okra.Options{K: f.K, Q: f.Q})
			load(t, db, n, value)
			err := db.View(func(tx *okra.Tx) error {
				root, err := tx.Root()
				if err == nil && root.String() != want {
					t.Errorf("root is %s, want %s", root, want)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

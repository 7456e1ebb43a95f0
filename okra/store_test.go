package okra_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"github.com/okradb/okra-go/okra"
	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

// storeIn opens the store in dir without flushing to disk. At the end of the test its tree is
// checked and it is closed, unless the test has closed it.
func storeIn(t *testing.T, dir string, opts okra.Options) *okra.DB {
	t.Helper()
	opts.NoSync = !opts.ReadOnly
	db, err := okra.Open(dir, &opts)
	if err != nil {
		t.Fatal(err)
	}
	finish(t, db)
	return db
}

// finish checks db's tree and closes it at the end of the test.
func finish(t *testing.T, db *okra.DB) {
	t.Cleanup(func() {
		if err := db.View(wholeTree); err != nil && !errors.Is(err, okra.ErrClosed) {
			t.Errorf("the tree at the end: %v", err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// attach makes a DB of env, to be checked and closed as that of storeIn.
func attach(t *testing.T, env *lmdb.Env, opts okra.Options) *okra.DB {
	t.Helper()
	db, err := okra.Attach(env, &opts)
	if err != nil {
		t.Fatal(err)
	}
	finish(t, db)
	return db
}

func newStore(t *testing.T, opts okra.Options) *okra.DB {
	t.Helper()
	return storeIn(t, t.TempDir(), opts)
}

// wholeTree demands that every node of tx's tree is that of its entries.
func wholeTree(tx *okra.Tx) error {
	leaves := map[string]treetest.Leaf{}
	f := tx.Format()
	for e, err := range tx.All() {
		if err != nil {
			return err
		}
		leaf := treetest.Leaf{Hash: e.Hash(), Value: bytes.Clone(e.Value)}
		if f.Mode == okra.Store && leaf.Hash != tree.LeafHash(f.K, e.Key, e.Value) {
			return fmt.Errorf("entry %x has the hash %s", e.Key, leaf.Hash)
		}
		leaves[string(e.Key)] = leaf
	}
	return treetest.Check(tx, leaves)
}

// updateOK and viewOK run a transaction that must not fail.
func updateOK(t *testing.T, db *okra.DB, fn func(*okra.Tx) error) {
	t.Helper()
	if err := db.Update(fn); err != nil {
		t.Fatal(err)
	}
}

func viewOK(t *testing.T, db *okra.DB, fn func(*okra.Tx) error) {
	t.Helper()
	if err := db.View(fn); err != nil {
		t.Fatal(err)
	}
}

// put returns a transaction that puts key and value pairs.
func put(pairs ...string) func(*okra.Tx) error {
	return func(tx *okra.Tx) error {
		for pair := range slices.Chunk(pairs, 2) {
			if err := tx.Put([]byte(pair[0]), []byte(pair[1])); err != nil {
				return err
			}
		}
		return nil
	}
}

// wantContent demands that tx's tree is that of the pairs and no others.
func wantContent(pairs ...string) func(*okra.Tx) error {
	return func(tx *okra.Tx) error {
		leaves := map[string]treetest.Leaf{}
		for pair := range slices.Chunk(pairs, 2) {
			leaf := treetest.Leaf{Hash: tree.LeafHash(tx.Format().K, []byte(pair[0]), []byte(pair[1]))}
			if tx.Format().Mode == okra.Store {
				leaf.Value = []byte(pair[1])
			}
			leaves[pair[0]] = leaf
		}
		return treetest.Check(tx, leaves)
	}
}

// wantIs reports an error that is not of the kind wanted; nil wants none.
func wantIs(t *testing.T, doing string, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("%s gives %v, want %v", doing, err, kind)
	}
}

// rootIn returns the root of db's tree.
func rootIn(t *testing.T, db *okra.DB) (root okra.Root) {
	t.Helper()
	viewOK(t, db, func(tx *okra.Tx) (err error) {
		root, err = tx.Root()
		return err
	})
	return root
}

// ownEnv opens an LMDB environment of the test's own, with room for named tables.
func ownEnv(t *testing.T, dir string, flags uint) *lmdb.Env {
	t.Helper()
	env, err := lmdb.NewEnv()
	if err == nil {
		err = errors.Join(env.SetMapSize(64<<20), env.SetMaxDBs(8))
	}
	if err == nil {
		err = env.Open(dir, flags|lmdb.NoSync, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { env.Close() })
	return env
}

// foreignTable makes a table of the test's own in env, and puts pairs of records in it.
func foreignTable(t *testing.T, env *lmdb.Env, name string, flags uint, pairs ...string) lmdb.DBI {
	t.Helper()
	var dbi lmdb.DBI
	err := env.Update(func(txn *lmdb.Txn) (err error) {
		if name == "" {
			dbi, err = txn.OpenRoot(flags)
		} else {
			dbi, err = txn.OpenDBI(name, flags|lmdb.Create)
		}
		for pair := range slices.Chunk(pairs, 2) {
			if err == nil {
				err = txn.Put(dbi, []byte(pair[0]), []byte(pair[1]), 0)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return dbi
}

// files returns the content of the files in dir, other than LMDB's lock file.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	list, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, f := range list {
		if f.Name() == "lock.mdb" {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[f.Name()] = string(b)
	}
	return all
}

// unchanged returns a function that demands that the files in dir are as they are now.
func unchanged(t *testing.T, dir string) func() {
	t.Helper()
	before := files(t, dir)
	return func() {
		t.Helper()
		if after := files(t, dir); !maps.Equal(before, after) {
			t.Errorf("%s has changed: %d files, before %d", dir, len(after), len(before))
		}
	}
}

// childVar names the test that runs in a child process.
const childVar = "OKRA_TEST_CHILD"

// inChild runs fn in a process of its own, for tests that hang or kill the process when they
// fail. It reports whether this is the child.
func inChild(t *testing.T, fn func(t *testing.T)) {
	t.Helper()
	if os.Getenv(childVar) == t.Name() {
		fn(t)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.timeout="+childTime.String())
	cmd.Env = append(os.Environ(), childVar+"="+t.Name(), "GORACE=atexit_sleep_ms=0")
	out, err := cmd.CombinedOutput()
	if err == nil {
		return
	}
	text, _, _ := strings.Cut(string(out), "\n\ngoroutine ")
	t.Errorf("%v: %s", err, text)
}

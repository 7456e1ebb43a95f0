package okra_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"github.com/okradb/okra-go/okra"
)

// An Attach that fails, a Close, and what else is particular to an environment not ours.
func TestAttach(t *testing.T) {
	env := ownEnv(t, t.TempDir(), 0)
	foreignTable(t, env, "theirs", lmdb.DupSort, "a", "1")
	for _, c := range []struct {
		opts okra.Options
		err  error
	}{
		{okra.Options{K: 3}, okra.ErrOptions},
		{okra.Options{}, okra.ErrNotOkra}, // named tables
		{okra.Options{Table: "theirs"}, okra.ErrNotOkra},
	} {
		_, err := okra.Attach(env, &c.opts)
		wantIs(t, fmt.Sprintf("Attach with %+v", c.opts), err, c.err)
	}
	db := attach(t, env, okra.Options{Table: "ours"})
	updateOK(t, db, put("a", "1"))
	if s, err := db.Stats(); err != nil || s.FileSize == 0 || s.MapSize != 64<<20 {
		t.Errorf("Stats gives %+v (%v)", s, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	err := env.Update(func(txn *lmdb.Txn) error { return db.Join(txn, put("b", "2")) })
	wantIs(t, "Join after Close", err, okra.ErrClosed)
	db = attach(t, env, okra.Options{Table: "ours"}) // the environment is still open
	viewOK(t, db, wantContent("a", "1"))
}

// An environment in a single file has the same answers as one in a directory.
func TestAttachToSingleFile(t *testing.T) {
	env := ownEnv(t, filepath.Join(t.TempDir(), "file"), lmdb.NoSubdir)
	db := attach(t, env, okra.Options{})
	updateOK(t, db, put("a", "1"))
	viewOK(t, db, wantContent("a", "1"))
	if s, err := db.Stats(); err != nil || s.FileSize == 0 {
		t.Errorf("Stats gives %+v (%v)", s, err)
	}
}

// An environment that LMDB gives no nested transactions, which Join needs, is not attached.
func TestAttachToWriteMap(t *testing.T) {
	env := ownEnv(t, t.TempDir(), lmdb.WriteMap)
	if db, err := okra.Attach(env, nil); err == nil {
		defer db.Close()
		t.Error("an environment with the WriteMap flag is attached")
		err := env.Update(func(txn *lmdb.Txn) error { return db.Join(txn, put("a", "1")) })
		t.Logf("and Join gives %v", err)
	}
}

// An environment opened for reading is attached for reading.
func TestAttachReadOnly(t *testing.T) {
	dir := t.TempDir()
	db := storeIn(t, dir, okra.Options{Table: "ours"})
	updateOK(t, db, put("a", "1"))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	env := ownEnv(t, dir, lmdb.Readonly)
	_, err := okra.Attach(env, &okra.Options{Table: "absent"})
	wantIs(t, "Attach to an absent table", err, okra.ErrNoTable)
	db = attach(t, env, okra.Options{Table: "ours"})
	viewOK(t, db, wantContent("a", "1"))
	wantIs(t, "Update", db.Update(put("b", "2")), okra.ErrReadOnly)
	err = env.View(func(txn *lmdb.Txn) error { return db.Join(txn, wantContent("a", "1")) })
	wantIs(t, "Join", err, nil)
}

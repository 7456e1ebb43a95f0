package main

import (
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/PowerDNS/lmdb-go/lmdb"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/okradb/okra-go/okra"
)

// TestVerifyScript runs the scripts in testdata/verify, which damage stores.
func TestVerifyScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/verify",
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"code":      scriptCode,
			"samebytes": scriptSameBytes,
			"fill":      scriptFill,
			"record":    scriptRecord,
			"chosen":    scriptChosen,
		},
	})
}

// scriptRecord is "record DIR KEY VALUE", both in hexadecimal: it puts one raw record into the
// unnamed LMDB table, or without VALUE takes it away.
func scriptRecord(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: record dir key [value]")
	}
	key, err := hex.DecodeString(args[1])
	ts.Check(err)
	env, err := lmdb.NewEnv()
	ts.Check(err)
	ts.Check(env.SetMapSize(1 << 30))
	ts.Check(env.Open(ts.MkAbs(args[0]), 0, 0o644))
	defer env.Close()
	ts.Check(env.Update(func(txn *lmdb.Txn) error {
		dbi, err := txn.OpenRoot(0)
		if err != nil {
			return err
		}
		if len(args) == 2 {
			return txn.Del(dbi, key, nil)
		}
		value, err := hex.DecodeString(args[2])
		if err != nil {
			return err
		}
		return txn.Put(dbi, key, value, 0)
	}))
}

// scriptChosen is "chosen DIR": it makes a store in index mode with 1,000 entries chosen so that
// none is a boundary, from the key "chosen" on.
func scriptChosen(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: chosen dir")
	}
	db, err := okra.Open(ts.MkAbs(args[0]), &okra.Options{Mode: okra.Index})
	ts.Check(err)
	err = db.Update(func(tx *okra.Tx) error {
		for i := range 1001 {
			b := make([]byte, 16)
			b[0], b[14], b[15] = 0xff, byte(i>>8), byte(i)
			if i == 0 {
				b[0] = 0
			}
			h, err := okra.HashFrom(b)
			if err == nil {
				err = tx.PutHash(append([]byte("chosen"), b[14:]...), h)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	ts.Check(errors.Join(err, db.Close()))
}

// TestC6RebuildInterrupted checks that a rebuild that is stopped leaves nothing under the name of
// the new store, whole or half, and the old one as it was.
func TestC6RebuildInterrupted(t *testing.T) {
	dir := t.TempDir()
	source, target := filepath.Join(dir, "kv"), filepath.Join(dir, "new")
	partial := target + ".partial"
	storeToRebuild(t, source, 200_000)
	before, err := os.ReadFile(filepath.Join(source, "data.mdb"))
	if err != nil {
		t.Fatal(err)
	}
	for signal, code := range map[os.Signal]int{os.Interrupt: exitInterrupted, os.Kill: -1} {
		if err := os.RemoveAll(partial); err != nil {
			t.Fatal(err)
		}
		if got := stopRebuild(t, source, target, signal); got != code {
			t.Errorf("%s: exit code %d, want %d", signal, got, code)
		}
		if _, err := os.Stat(target); !os.IsNotExist(err) {
			t.Errorf("%s: there is a store (%v)", signal, err)
		}
		if _, err := os.Stat(partial); os.IsNotExist(err) != (signal == os.Interrupt) {
			t.Errorf("%s: of the partial store: %v", signal, err)
		}
	}
	if err := os.Mkdir(partial, 0o755); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	if out, err := exec.Command("okra", "rebuild", source, target).CombinedOutput(); err == nil {
		t.Errorf("a second rebuild takes over what is there: %s", out)
	}
	if err := os.RemoveAll(partial); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("okra", "rebuild", source, target).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	after, err := os.ReadFile(filepath.Join(source, "data.mdb"))
	if err != nil || string(after) != string(before) {
		t.Errorf("the source has changed (%v)", err)
	}
}

// stopRebuild sends a signal to a rebuild that has begun to write, and returns its exit code. A
// rebuild that is done before the signal comes is begun again.
func stopRebuild(t *testing.T, source, target string, signal os.Signal) int {
	t.Helper()
	for range 10 {
		cmd := exec.Command("okra", "rebuild", source, target)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, filepath.Join(target+".partial", "data.mdb"))
		_ = cmd.Process.Signal(signal) // fails if it is done
		var exit *exec.ExitError
		err := cmd.Wait()
		if errors.As(err, &exit) {
			return exit.ExitCode()
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(target); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("no signal comes in time")
	return 0
}

func storeToRebuild(t *testing.T, dir string, n int) {
	t.Helper()
	db, err := okra.Open(dir, &okra.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *okra.Tx) error {
		_, err := tx.Load(numbered(n))
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// waitFor waits until there is a file.
func waitFor(t *testing.T, path string) {
	t.Helper()
	for range 3000 {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("there is no %s", path)
}

package main

import (
	"encoding/hex"
	"errors"
	"testing"

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

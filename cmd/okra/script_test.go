package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/dustin/go-humanize"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/okradb/okra-go/bench/suite"
	"github.com/okradb/okra-go/okra"
)

// programs are those that tests can run.
var programs = map[string]func(){"okra": main}

func TestMain(m *testing.M) {
	suite.Serve(benchSuites()...)
	testscript.Main(m, programs)
}

// TestScript runs the scripts in testdata: commands with their input, output and exit code.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			// Under the race detector each program would wait a second before it ends.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"code":      scriptCode,
			"bytes":     scriptBytes,
			"random":    scriptRandom,
			"samebytes": scriptSameBytes,
			"fill":      scriptFill,
		},
		Condition: func(cond string) (bool, error) {
			if cond == "otheruser" {
				as := []string{"--reuid=65534", "--regid=65534", "--clear-groups"}
				return exec.Command("setpriv", append(as, "okra", "version")...).Run() == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
	})
}

// scriptCode is "code N PROGRAM ARGS...": it runs the program and wants it to exit with N.
func scriptCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// scriptBytes is "bytes FILE HEX": it writes the bytes to the file.
func scriptBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: bytes file hex")
	}
	data, err := hex.DecodeString(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o644))
}

// scriptRandom is "random FILE SIZE": it writes so many random bytes, the same each time.
func scriptRandom(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: random file size")
	}
	size, err := humanize.ParseBytes(args[1])
	ts.Check(err)
	data := make([]byte, size)
	_, err = rand.NewChaCha8([32]byte{byte(size)}).Read(data)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o644))
}

// scriptSameBytes is "samebytes A B": it wants two files, or stdout, to be equal.
func scriptSameBytes(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: samebytes file1 file2")
	}
	a, b := ts.ReadFile(args[0]), ts.ReadFile(args[1])
	if (a == b) == neg {
		ts.Fatalf("%s has %d bytes, %s has %d: equal is %v", args[0], len(a), args[1], len(b),
			a == b)
	}
}

// scriptFill is "fill DIR N": it makes a store, Q 32, with entries key00000, value 0 to N-1.
func scriptFill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fill dir n")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	db, err := okra.Open(ts.MkAbs(args[0]), nil)
	ts.Check(err)
	err = db.Update(func(tx *okra.Tx) error {
		_, err := tx.Load(numbered(n))
		return err
	})
	ts.Check(errors.Join(err, db.Close()))
}

func numbered(n int) iter.Seq2[okra.Entry, error] {
	return func(yield func(okra.Entry, error) bool) {
		for i := range n {
			e := okra.Entry{Key: fmt.Appendf(nil, "key%05d", i), Value: fmt.Append(nil, i)}
			if !yield(e, nil) {
				return
			}
		}
	}
}

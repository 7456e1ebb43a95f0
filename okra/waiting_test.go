package okra_test

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// A wait is where a goroutine of this process waits, as a listing of all of them shows it.
type wait struct {
	state string // of the goroutine
	call  string // that it is in, perhaps not the innermost one
}

var (
	forTurn   = wait{"select", "/lmdbenv.(*Env).turn("}    // of the writer of this process
	forLMDB   = wait{"syscall", "/lmdbenv.(*Env).update("} // and its writer, perhaps of another process
	forOthers = wait{"select", "/lmdbenv.(*gate).alone("}  // to end, before the map can grow
)

// reached reports whether a goroutine waits there. Nothing else tells of that from outside.
func (w wait) reached() bool {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	for g := range strings.SplitSeq(string(buf), "\n\n") {
		head, calls, _ := strings.Cut(g, "\n")
		if strings.Contains(head, "["+w.state) && strings.Contains(calls, w.call) {
			return true
		}
	}
	return false
}

// await returns when a goroutine waits there.
func (w wait) await(t *testing.T) {
	t.Helper()
	for until := time.Now().Add(childTime / 2); !w.reached(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("no goroutine waits in %s", w.call)
		}
	}
}

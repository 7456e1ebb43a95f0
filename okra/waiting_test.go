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
	forBatch  = wait{"select", "/okra.(*DB).Batch("}       // that others run
	forOthers = wait{"select", "/lmdbenv.(*gate).alone("}  // to end, before the map can grow
)

// count returns how many goroutines wait there. Nothing else tells of that from outside.
func (w wait) count() (n int) {
	buf := make([]byte, 4<<20)
	buf = buf[:runtime.Stack(buf, true)]
	for g := range strings.SplitSeq(string(buf), "\n\n") {
		head, calls, _ := strings.Cut(g, "\n")
		if strings.Contains(head, "["+w.state) && strings.Contains(calls, w.call) {
			n++
		}
	}
	return n
}

// await returns when a goroutine waits there.
func (w wait) await(t *testing.T) {
	t.Helper()
	for until := time.Now().Add(childTime / 2); w.count() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("no goroutine waits in %s", w.call)
		}
	}
}

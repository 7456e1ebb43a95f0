package bench

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/okradb/okra-go/okra"
)

// childVariable names, in the environment of a child process, the folder it works in.
const childVariable = "OKRA_BENCH_MEMORY_DIR"

// memory is what Go holds, in bytes; LMDB's own memory is not in it.
type memory struct {
	Total     uint64 // from the system and not given back, the runtime's own included
	HeapSys   uint64
	HeapInuse uint64
}

func readMemory() memory {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return memory{Total: m.Sys - m.HeapReleased, HeapSys: m.HeapSys, HeapInuse: m.HeapInuse}
}

// peak calls fn and returns the most of each figure that was seen during the call.
func peak(fn func()) memory {
	stop, done := make(chan struct{}), make(chan memory)
	go func() {
		var most memory
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			m := readMemory()
			most.Total = max(most.Total, m.Total)
			most.HeapSys = max(most.HeapSys, m.HeapSys)
			most.HeapInuse = max(most.HeapInuse, m.HeapInuse)
			select {
			case <-stop:
				done <- most
				return
			case <-tick.C:
			}
		}
	}()
	fn()
	close(stop)
	return <-done
}

// memoryReport is what the child process prints: what Go held before all, and the peaks.
type memoryReport struct{ Before, Insert, Overwrite memory }

// A transaction of 1M puts of 100-byte values needs at most 64 MiB of Go memory, the runtime's
// own included, both into an empty tree and over as many entries, the keys in random order. It is
// measured in a process of its own, where nothing else has filled the heap.
func TestMemoryOfLargeUpdate(t *testing.T) {
	if dir := os.Getenv(childVariable); dir != "" {
		measureMemory(t, dir)
		return
	}
	if testing.Short() {
		t.Skip("two transactions of 1M puts")
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMemoryOfLargeUpdate$")
	dir := t.TempDir()
	child.Env = append(os.Environ(), childVariable+"="+dir)
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("child process: %v\n%s", err, out)
	}
	data, err := os.ReadFile(dir + "/report.json")
	if err != nil {
		t.Fatal(err)
	}
	var report memoryReport
	if err := json.Unmarshal(data, &report); err != nil {
		t.Fatal(err)
	}
	const limit = 64 << 20
	mib := func(bytes uint64) float64 { return float64(bytes) / (1 << 20) }
	for _, line := range []struct {
		name string
		memory
	}{{"before", report.Before}, {"1M inserts", report.Insert}, {"1M overwrites", report.Overwrite}} {
		t.Logf("%-13s  total %5.1f MiB, HeapSys %5.1f MiB, HeapInuse %5.1f MiB", line.name,
			mib(line.Total), mib(line.HeapSys), mib(line.HeapInuse))
		if line.Total > limit {
			t.Errorf("%s: Go held %.1f MiB, more than 64", line.name, mib(line.Total))
		}
	}
}

// measureMemory is the child process. It leaves its report in dir.
func measureMemory(t *testing.T, dir string) {
	db, err := okra.Open(dir+"/store", &okra.Options{MapSize: 8 << 30, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	const n = 1_000_000
	value := make([]byte, 100)
	update := func(round uint32) func() {
		return func() {
			err := db.Update(func(tx *okra.Tx) error {
				var key [4]byte
				for i := range uint32(n) {
					// An odd factor gives every key once, in an order that looks random.
					binary.BigEndian.PutUint32(key[:], i*0x9e3779b1)
					binary.BigEndian.PutUint32(value, i^round)
					if err := tx.Put(key[:], value); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	var report memoryReport
	settle := func() {
		runtime.GC()
		debug.FreeOSMemory()
	}
	settle()
	report.Before = readMemory()
	report.Insert = peak(update(1))
	settle()
	report.Overwrite = peak(update(1 << 31))
	err = db.View(func(tx *okra.Tx) error {
		if got, err := tx.Len(); err != nil || got != n {
			t.Errorf("%d entries (%v), want %d", got, err, n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/report.json", out, 0o644); err != nil {
		t.Fatal(err)
	}
}

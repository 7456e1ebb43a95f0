package durability

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/okradb/okra-go/bench/suite"
)

// toDisk returns how many bytes this process has caused to be written to disks.
func toDisk(t *testing.T) int64 {
	t.Helper()
	io, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Skip("NOT CHECKED: what is written to the disk: ", err)
	}
	for line := range bytes.Lines(io) {
		var n int64
		if found, _ := fmt.Sscanf(string(line), "write_bytes: %d", &n); found == 1 {
			return n
		}
	}
	t.Skip("NOT CHECKED: the kernel does not count what is written to the disk")
	return 0
}

// A durable write is on the disk before the next one, and one in memory is not: a page that both
// change goes to the disk twice or once. How long either takes depends on the machine.
func TestDurableWaits(t *testing.T) {
	if err := suite.Cold(t.TempDir()); err != nil {
		t.Skip(err)
	}
	const rows = 40
	o := tiny(t)
	o.Sizes["rows"] = []int{rows}
	o, cells, err := suite.Plan(checked(), o, []string{"memory", "durable rows=40"})
	if err != nil {
		t.Fatal(err)
	}
	wrote := make(map[string]int64) // of a cell, by side
	for _, c := range cells {
		for _, side := range c.Sides {
			before := toDisk(t)
			if _, err := side.Run(&suite.Rep{Dir: t.TempDir(), Seed: o.Seed}); err != nil {
				t.Fatal(err)
			}
			wrote[c.Name+" "+side.Name] = toDisk(t) - before
		}
	}
	if wrote[durable+" okra"] == 0 && wrote[durable+" lmdb"] == 0 {
		t.Skip("NOT CHECKED: this file system does not count what is written to the disk")
	}
	for _, side := range []string{"okra", "lmdb"} {
		inMemory, onDisk := wrote[memory+" "+side], wrote[durable+" "+side]
		// Each commit writes one of two pages that say which pages are current, if not more.
		if least := int64(rows * os.Getpagesize()); onDisk < least || inMemory >= least {
			t.Errorf("%s: %d bytes of %d durable writes, %d in memory", side, onDisk, rows, inMemory)
		}
	}
}

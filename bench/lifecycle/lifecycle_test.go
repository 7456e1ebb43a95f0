package lifecycle

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/okradb/okra-go/bench"
	"github.com/okradb/okra-go/bench/suite"
	"github.com/okradb/okra-go/bench/suite/suitetest"
)

func TestMain(m *testing.M) {
	// Under the race detector each process would wait a second before it ends.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	suite.Serve(checked(), idle())
	os.Exit(m.Run())
}

// checked is the suite with checks of its own: each cell must leave, and read, what the wanted
// entries say, which no store has seen.
func checked() suite.Suite {
	s := Suite()
	s.Name = "checked"
	s.Cells = func(o suite.Options) ([]suite.Cell, error) {
		all, err := cells(o)
		for _, c := range all {
			for i := range c.Sides {
				side := &c.Sides[i]
				suitetest.Timed(c, side)
				if side.Check != nil {
					suitetest.Want(side, func(*suite.Rep) (bench.Contents, error) { return wantedContents(c, o) })
					continue
				}
				run := side.Run
				side.Run = func(r *suite.Rep) (suite.Measurement, error) {
					m, err := run(r)
					if want := wantedSum(c, o, r); err == nil && m.Sum != want {
						err = fmt.Errorf("the sum of what was read is %q, want %q", m.Sum, want)
					}
					return m, err
				}
			}
		}
		return all, err
	}
	return s
}

// idle is the suite with an okra side that does nothing but says that it has, and one that does
// not even say so.
func idle() suite.Suite {
	s := Suite()
	s.Name = "idle"
	s.Cells = func(o suite.Options) ([]suite.Cell, error) {
		all, err := cells(o)
		for i, c := range all {
			c.Sides[0].Run = func(r *suite.Rep) (suite.Measurement, error) {
				var o options
				if c.Group == groupTracker || c.Group == groupRuns {
					o.tables = trackerTables
				}
				m := suite.Measurement{Value: 1}
				if i%2 == 0 {
					m.Ops, m.Bytes = c.Ops, c.Bytes
				}
				return m, databases()[0].with(r.Dir, o, func(store) error { return nil })
			}
		}
		return all, err
	}
	return s
}

type entry struct{ key, value []byte }

// numbered are the entries 0..n-1.
func numbered(n, valueSize int) []entry {
	var all []entry
	for i := range n {
		e := entry{key(i), make([]byte, valueSize)}
		fill(e.value, i)
		all = append(all, e)
	}
	return all
}

// logged are the entries that t leaves, those of each table in order.
func logged(t training) []entry {
	tables := []map[string][]byte{{}, {}}
	for run := range t.runs {
		err := t.log(run, func(table int, key, value []byte) error {
			tables[table][string(key)] = bytes.Clone(value)
			return nil
		})
		if err != nil {
			panic(err)
		}
	}
	var all []entry
	for _, table := range tables {
		for _, k := range slices.Sorted(maps.Keys(table)) {
			all = append(all, entry{[]byte(k), table[k]})
		}
	}
	return all
}

// wanted are the entries of the stores of c.
func wanted(c suite.Cell, o suite.Options) []entry {
	size := func(name string) int { return o.Sizes[name][0] }
	switch c.Group {
	case groupTracker:
		return logged(training{runs: 1, steps: size("steps"), live: true})
	case groupRuns:
		return logged(training{runs: size("runs"), steps: finishedSteps})
	case groupLarge:
		return numbered(size("large"), size("large-size"))
	case groupLoad:
		return numbered(size("load"), size("value-size"))
	case groupReads:
		return numbered(size("keys"), size("value-size"))
	case groupCrash:
		return numbered(size("crash")+1, size("value-size"))
	case groupWriters:
		return numbered(2*size("each"), size("value-size"))
	case groupReopen:
		for _, n := range o.Sizes["reopen"] {
			if c.Params[0].Value == bench.FormatEntries(n) {
				return numbered(n, size("value-size"))
			}
		}
	}
	panic("no such group: " + c.Group)
}

func wantedContents(c suite.Cell, o suite.Options) (bench.Contents, error) {
	return bench.ContentsOf(func(add func(key, value []byte)) error {
		for _, e := range wanted(c, o) {
			add(e.key, e.value)
		}
		return nil
	})
}

// wantedSum is the sum of what c reads.
func wantedSum(c suite.Cell, o suite.Options, r *suite.Rep) string {
	all := wanted(c, o)
	random := r.Random()
	var read []entry
	one := func() { read = append(read, all[random.IntN(len(all))]) }
	switch {
	case c.Group == groupReopen:
		var sums string
		for range reopens {
			read = nil
			one()
			sums += sumOf(read)
		}
		return sums
	case c.Name == "random gets":
		for range o.Sizes["gets"][0] {
			one()
		}
	case strings.HasPrefix(c.Name, "seek"):
		n := min(len(all), 101)
		for len(read) < int(c.Ops) {
			from := random.IntN(len(all) - n + 1)
			read = append(read, all[from:from+n]...)
		}
	default:
		read = all
	}
	return sumOf(read)
}

func sumOf(entries []entry) string {
	var t tally
	for _, e := range entries {
		t.add(e.key, e.value)
	}
	return fmt.Sprintf("%08x", t.sum)
}

// tiny are the options of a run that takes no time.
func tiny(t *testing.T) suite.Options {
	t.Helper()
	return tinyIn(t, t.TempDir())
}

func tinyIn(t *testing.T, dir string) suite.Options {
	t.Helper()
	suitetest.EmptyAtEnd(t, dir)
	return suite.Options{Repetitions: 2, Seed: 3, Dir: dir, Sizes: map[string][]int{
		"steps": {3}, "load": {1500}, "large": {150}, "large-size": {5000}, "keys": {300}, "gets": {40},
		"reopen": {10, 200}, "crash": {70}, "each": {30}, "runs": {2}, "value-size": {13},
	}}
}

func TestCells(t *testing.T) {
	s := checked()
	options := tiny(t)
	states := cacheStates(options.Dir)
	o, cells, err := suite.Plan(s, options, nil)
	if err != nil {
		t.Fatal(err)
	}
	results, err := suite.Run(t.Context(), s, o, cells, suite.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	type cell struct {
		name, cache string
		ops, bytes  int64
	}
	const (
		meta     = 20*(7+64) + 44*(7+8) // of a run: parameters, and the rest
		finished = meta + 2400*(11+24)
	)
	want := []cell{
		{"log a run", "", 20 + 3*104, 20*(7+64) + 3*44*(7+8) + 3*60*(11+8)},
		{"read the run", states[0], 64 + 3*60, meta + 3*60*(11+8)},
		{"read the run", hot, 64 + 3*60, meta + 3*60*(11+8)},
		{"in key order", "", 1500, 1500 * 21},
		{"in random order", "", 1500, 1500 * 21},
		{"write", "", 150, 150 * 5008},
		{"read all", "", 150, 150 * 5008},
		{"random gets", states[0], 40, 40 * 21},
		{"random gets", hot, 40, 40 * 21},
		{"seek + 100 next", hot, 4 * 101, 4 * 101 * 21},
		{"full scan", hot, 300, 300 * 21},
		{"open, read one key", hot, 5, 5 * 21},
		{"open, read one key", hot, 5, 5 * 21},
		{"open, read one key", hot, 5, 5 * 21},
		{"open, read one key", hot, 5, 5 * 21},
		{"open, read and write", "", 71, 71 * 21},
		{"two processes put", "", 60, 60 * 21},
		{"log runs", "", 2 * 2464, 2 * finished},
		{"read every run", states[0], 2 * 2464, 2 * finished},
		{"read every run", hot, 2 * 2464, 2 * finished},
	}
	var got []cell
	for _, r := range results {
		got = append(got, cell{r.Name, r.Param("cache"), r.Ops, r.Sides[0].Measurements[0].Bytes})
		if len(r.Sides) != 2 || r.Sides[0].Name != "okra" || r.Sides[1].Name != "lmdb" {
			t.Fatalf("%s: sides %+v", r.Name, r.Sides)
		}
		for _, side := range r.Sides {
			for _, m := range side.Measurements {
				if m.Bytes != r.Sides[0].Measurements[0].Bytes {
					t.Errorf("%s: the sides have moved %d and %d bytes", r.Name, r.Sides[0].Measurements[0].Bytes, m.Bytes)
				}
				if single := !withoutLatency(r); single != (m.P50 > 0 && m.P99 >= m.P50) {
					t.Errorf("%s: latencies %v and %v", r.Name, m.P50, m.P99)
				}
				if m.FileSize < r.DataSize {
					t.Errorf("%s: a file of %d bytes for %d", r.Name, m.FileSize, r.DataSize)
				}
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// withoutLatency says that a cell measures one piece of work and no operations.
func withoutLatency(r suite.Result) bool {
	return r.Group == groupReopen || r.Group == groupCrash || r.Name == "full scan" || r.Name == "read all"
}

// In full a tracker logs a run of some 520,000 puts, and runs of 4.8 million points.
func TestTrainingSize(t *testing.T) {
	sizes := make(map[string][]int)
	for _, s := range Suite().Sizes {
		sizes[s.Name] = s.Full
	}
	run := training{runs: 1, steps: sizes["steps"][0], live: true}.size()
	if run.puts != 520_020 || run.entries != 300_064 {
		t.Errorf("the tracker's run: %+v", run)
	}
	runs := sizes["runs"][0]
	if points := runs * finishedSteps * series; points != 4_800_000 {
		t.Errorf("%d points of all runs", points)
	}
}

// A suite that measures an empty loop fails in every cell.
func TestEmptyLoopFails(t *testing.T) {
	s := idle()
	options := tiny(t)
	options.Repetitions = 1
	o, cells, err := suite.Plan(s, options, nil)
	if err != nil {
		t.Fatal(err)
	}
	results, err := suite.Run(t.Context(), s, o, cells, suite.Hooks{})
	if err == nil || len(results) > 0 {
		t.Fatalf("%d results, error %v", len(results), err)
	}
	for _, want := range []string{
		"it has done 0 operations instead of 1500", // a load
		"it has left 0 entries instead of 60",      // two processes
		"it has left 0 entries instead of 244",     // a tracker's run
		"it has read other entries",                // gets
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
	if n := strings.Count(err.Error(), ", repetition 1: "); n != len(cells) {
		t.Errorf("%d of %d cells failed:\n%v", n, len(cells), err)
	}
}

// What is said to wait for the disk, or to read only, does.
func TestStoresAreOpenedAsSaid(t *testing.T) {
	o, _, err := suite.Plan(Suite(), tiny(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	var opened []options
	watched := databases()
	for i, d := range watched {
		watched[i].open = func(dir string, o options) (store, error) {
			opened = append(opened, o)
			return d.open(dir, o)
		}
	}
	m := cellMaker{o, watched}
	check := func(c suite.Cell, side, dir string, run func(*suite.Rep) (suite.Measurement, error), noSync, readOnly bool) {
		t.Helper()
		opened = nil
		if _, err := run(&suite.Rep{Dir: dir, Seed: 1}); err != nil {
			t.Fatalf("%s: %s: %v", c.Name, side, err)
		}
		if len(opened) != 1 || opened[0].noSync != noSync || opened[0].readOnly != readOnly {
			t.Errorf("%s: %s opens stores with %+v, want without sync %t, read-only %t", c.Name, side, opened, noSync, readOnly)
		}
	}
	for _, c := range slices.Concat(m.trackerCells()[:1], m.loadCells(), m.largeCells()[:1], m.runsCells()[:1]) {
		for _, side := range c.Sides {
			check(c, side.Name, t.TempDir(), side.Run, c.Group != groupRuns, false)
		}
	}
	for _, c := range m.reopenCells() {
		for _, side := range c.Sides {
			dir := t.TempDir()
			if err := side.Prepare(&suite.Rep{Dir: dir, Seed: 1}); err != nil {
				t.Fatal(err)
			}
			check(c, side.Name, dir, side.Helpers[reopenHelper(0)], false, c.Params[2].Value == "read-only")
		}
	}
}

// A read that skips an entry, or reads it twice, gives another sum.
func TestSumTellsEntries(t *testing.T) {
	all := numbered(3, 5)
	sums := map[string]bool{
		sumOf(all): true, sumOf(all[:2]): true, sumOf(append(all[:2:2], all[1])): true, sumOf(nil): true,
	}
	if len(sums) != 4 {
		t.Errorf("sums %v", sums)
	}
}

// Where files are in memory only, cells say that what they measure is not cold.
func TestNoCold(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "okra-test-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	o := tinyIn(t, dir)
	if suite.Cold(dir) == nil {
		t.Skip("it is not in memory")
	}
	o, cells, err := suite.Plan(checked(), o, []string{"random gets"})
	if err != nil {
		t.Fatal(err)
	}
	results, err := suite.Run(t.Context(), checked(), o, cells, suite.Hooks{})
	if err != nil || len(results) != 2 || results[0].Param("cache") != noCold || results[1].Param("cache") != hot {
		t.Errorf("results %+v, %v", results, err)
	}
}

func TestLimits(t *testing.T) {
	for name, value := range map[string]int{
		"value-size": 1 << 30, "large-size": 1 << 30, "load": 1 << 32, "reopen": 1 << 32, "each": 1 << 32,
		"steps": 1 << 32, "runs": 1 << 32, "large": 1 << 30, "crash": 1 << 32, "keys": 1 << 32, "gets": 1 << 32,
	} {
		o := tiny(t)
		o.Sizes[name] = []int{value}
		if _, _, err := suite.Plan(Suite(), o, nil); err == nil {
			t.Errorf("%s %d: no error", name, value)
		}
	}
}

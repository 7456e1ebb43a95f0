package matrix

import (
	"errors"
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
	suite.Serve(checked(&counter{}), idle("claiming", true), idle("silent", false))
	os.Exit(m.Run())
}

// counter stands for limits of memory: it limits nothing, and counts.
type counter struct{ begun, done int }

func (c *counter) limit() memoryLimit {
	return memoryLimit{
		possible: suite.Cold,
		process: func(int64) func(int) (func(), error) {
			return func(int) (func(), error) {
				c.begun++
				return func() { c.done++ }, nil
			}
		},
	}
}

// checked is the suite with another check of what is left: that it is what a model of the store
// says.
func checked(c *counter) suite.Suite {
	s := newSuite(c.limit())
	s.Name = "checked"
	cells := s.Cells
	s.Cells = func(o suite.Options) ([]suite.Cell, error) {
		all, err := cells(o)
		for _, c := range all {
			for i := range c.Sides {
				suitetest.Timed(c, &c.Sides[i])
				if c.Sides[i].Check == nil {
					continue
				}
				suitetest.Want(&c.Sides[i], func(r *suite.Rep) (bench.Contents, error) {
					want, _, _ := modelOf(o, c.Group, c.Name, c.Params).run(r.Seed)
					return want, nil
				})
			}
		}
		return all, err
	}
	return s
}

// model is a store in a map, with the versions of the values.
type model struct {
	w      work
	stored map[uint64]uint32
}

// modelOf returns the model of a cell before it runs.
func modelOf(o suite.Options, group, name string, params []suite.Param) model {
	w := work{valueSize: o.Sizes["value-size"][0], entries: 212, ops: o.Sizes["ops"][0], data: o.Sizes["data"][0]}
	if group == groupBeyond {
		w.entries, w.ops, w.data = 265, o.Sizes["beyond-ops"][0], o.Sizes["beyond-data"][0]
	}
	w.budget = readFactor * w.data
	for _, p := range params {
		if p.Name == "goroutines" {
			fmt.Sscan(p.Value, &w.goroutines)
		}
	}
	i := slices.IndexFunc(operations, func(o operation) bool { return o.name == name })
	w.operation = operations[i]
	m := model{w: w, stored: make(map[uint64]uint32)}
	for i := range w.entries {
		m.stored[2*uint64(i)] = 0
	}
	return m
}

// run does all steps of the cell and returns what is left, and the sum and bytes of what they read
// and wrote, those of scans beside inserts as if they came first.
func (m model) run(seed uint64) (bench.Contents, string, int64) {
	values := newValues(m.w.valueSize)
	sorted := func() []uint64 { return slices.Sorted(maps.Keys(m.stored)) }
	before := sorted()
	var t tally
	for g := range m.w.goroutines {
		for _, s := range m.w.steps(seed, g) {
			key := appendKey(nil, s.key)
			switch s.kind {
			case get:
				t.read(key, values.of(s.key, m.stored[s.key]))
			case miss:
				t.bytes += int64(len(key))
			case scan:
				from, _ := slices.BinarySearch(before, s.key)
				for _, k := range before[from : from+100] {
					t.read(appendKey(nil, k), values.of(k, 0))
				}
			case put:
				m.stored[s.key] = s.version
				t.bytes += int64(len(key) + m.w.valueSize)
			case remove:
				delete(m.stored, s.key)
				t.bytes += int64(len(key))
			}
		}
	}
	left, err := bench.ContentsOf(func(add func(key, value []byte)) error {
		for _, k := range sorted() {
			add(appendKey(nil, k), values.of(k, m.stored[k]))
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	return left, fmt.Sprintf("%016x", t.sum), t.bytes
}

// idle is the suite with an okra side that does nothing, and says that it has if it is to claim
// it.
func idle(name string, claim bool) suite.Suite {
	s := newSuite((&counter{}).limit())
	s.Name = name
	cells := s.Cells
	s.Cells = func(o suite.Options) ([]suite.Cell, error) {
		all, err := cells(o)
		for _, c := range all {
			c.Sides[0].Run = func(*suite.Rep) (suite.Measurement, error) {
				m := suite.Measurement{Value: 1}
				if claim {
					m.Ops, m.Bytes = c.Ops, c.Bytes
				}
				return m, nil
			}
		}
		return all, err
	}
	return s
}

// tiny are the options of a run that takes no time.
func tiny(t *testing.T) suite.Options {
	t.Helper()
	dir := t.TempDir()
	suitetest.EmptyAtEnd(t, dir)
	return suite.Options{Repetitions: 1, Seed: 3, Dir: dir, Sizes: map[string][]int{
		"value-size": {300}, "goroutines": {1, 3}, "ops": {1600}, "data": {64 << 10}, "entries": {1000},
		"beyond-value-size": {300}, "beyond-goroutines": {2}, "beyond-ops": {100}, "beyond-data": {80 << 10},
		"limit": {64 << 10},
	}}
}

func TestCells(t *testing.T) {
	c := &counter{}
	s := checked(c)
	o, cells, err := suite.Plan(s, tiny(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	results, err := suite.Run(t.Context(), s, o, cells, suite.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != 27 {
		t.Errorf("%d results", len(results))
	}
	ops := map[string]int64{ // of 1,600 gets, at 212 entries
		"insert": 80, "update, Zipf": 80, "delete": 80, "get hit, Zipf": 1600, "get hit, uniform": 1600,
		"get miss": 1600, "scan, Zipf": 34, "scan, uniform": 34, "YCSB-E": 68,
	}
	for _, r := range results {
		title := fmt.Sprint(r.Group, " ", r.Name, " ", r.Param("goroutines"))
		if r.Group == groupBeyond && r.Sides[0].Absent != "" {
			continue
		}
		if want := ops[r.Name]; r.Group == groupMemory && r.Ops != want {
			t.Errorf("%s: %d operations, want %d", title, r.Ops, want)
		}
		_, sum, bytes := modelOf(o, r.Group, r.Name, r.Params).run(o.Seed << 16)
		for _, side := range r.Sides {
			m := side.Measurements[0]
			if m.Ops != r.Ops || m.Bytes != bytes || m.P50 <= 0 || m.P99 < m.P50 {
				t.Errorf("%s: %s: %+v, want %d bytes", title, side.Name, m, bytes)
			}
			if r.Name == "YCSB-E" {
				if err := checkTimeline(m); err != nil {
					t.Errorf("%s: %s: %v", title, side.Name, err)
				}
			} else if m.Sum != sum {
				t.Errorf("%s: %s has read the sum %s, want %s", title, side.Name, m.Sum, sum)
			}
		}
	}
	limited := 0
	if suite.Cold(o.Dir) == nil {
		limited = 5*2 + 4*3 // those that write have a side more
	}
	if c.begun != limited || c.done != limited {
		t.Errorf("%d processes with limited memory, %d ended, want %d", c.begun, c.done, limited)
	}
}

// checkTimeline compares a timeline with the number of operations.
func checkTimeline(m suite.Measurement) error {
	var sum float64
	for _, perSecond := range m.Timeline {
		sum += perSecond * m.TimelineStep
	}
	if len(m.Timeline) != 20 || sum < float64(m.Ops)-0.01 || sum > float64(m.Ops)+0.01 {
		return fmt.Errorf("a timeline of %d steps and %v operations, want %d", len(m.Timeline), sum, m.Ops)
	}
	return nil
}

// A suite that measured an empty loop, whether or not it says so, fails in every cell.
func TestEmptyLoopFails(t *testing.T) {
	for _, claim := range []bool{true, false} {
		s := idle(map[bool]string{true: "claiming", false: "silent"}[claim], claim)
		o, cells, err := suite.Plan(s, tiny(t), []string{"in memory goroutines=3"})
		if err != nil || len(cells) != len(operations) {
			t.Fatal(len(cells), err)
		}
		results, err := suite.Run(t.Context(), s, o, cells, suite.Hooks{})
		if err == nil || len(results) > 0 {
			t.Fatalf("%s: %d results, error %v", s.Name, len(results), err)
		}
		if n := strings.Count(err.Error(), ", repetition 1: "); n != len(cells) {
			t.Errorf("%s: %d of %d cells failed:\n%v", s.Name, n, len(cells), err)
		}
	}
}

func TestNoLimit(t *testing.T) {
	why := errors.New("it is a Tuesday")
	s := newSuite(memoryLimit{func(string) error { return why }, limitMemory})
	o, cells, err := suite.Plan(s, tiny(t), []string{"larger"})
	if err != nil || len(cells) != len(operations) || suite.Estimate(o, cells) != 0 {
		t.Fatal(len(cells), err)
	}
	results, err := suite.Run(t.Context(), s, o, cells, suite.Hooks{})
	if err != nil || len(results) != len(cells) {
		t.Fatal(len(results), err)
	}
	for _, r := range results {
		for _, side := range r.Sides {
			if side.Absent != why.Error() || len(side.Measurements) > 0 {
				t.Errorf("%s: %+v", r.Name, side)
			}
		}
	}
	if tables := derive(results); len(tables) > 0 {
		t.Errorf("winners of what was not run: %+v", tables)
	}
}

func TestSizesRefused(t *testing.T) {
	for name, values := range map[string][]int{
		"data": {1000}, "goroutines": {1, 101}, "ops": {maxOps + 1}, "limit": {80 << 10}, "entries": {199},
		"beyond-value-size": {8 << 10},
	} {
		o := tiny(t)
		o.Sizes[name] = values
		if _, _, err := suite.Plan(Suite(), o, nil); err == nil {
			t.Errorf("%s %d: no error", name, values)
		}
	}
}

// What is written is certain, whoever comes first: inserts and deletes are of different keys, and
// no two goroutines update one.
func TestSteps(t *testing.T) {
	for _, o := range operations {
		w := work{operation: o, valueSize: 10, goroutines: 7, entries: 300, ops: 2000, budget: 1 << 30}
		owner := make(map[uint64]int)
		kinds := make(map[kind]int)
		n := 0
		for g := range w.goroutines {
			for _, s := range w.steps(5, g) {
				n++
				kinds[s.kind]++
				if odd := s.key%2 == 1; odd != (s.kind == miss || s.kind == put && o.name != "update, Zipf") || s.key >= 600 {
					t.Errorf("%s: key %d", o.name, s.key)
				}
				if s.kind == scan && s.key > 2*200 {
					t.Errorf("%s: less than 100 entries from key %d on", o.name, s.key)
				}
				if s.kind != put && s.kind != remove {
					continue
				}
				if other, ok := owner[s.key]; ok && (other != g || o.name != "update, Zipf") {
					t.Errorf("%s: key %d twice", o.name, s.key)
				}
				owner[s.key] = g
			}
		}
		if n != w.count() || n == 0 {
			t.Errorf("%s: %d steps, want %d", o.name, n, w.count())
		}
		if o.mixed && (kinds[put]*20 != n || kinds[scan] != n-kinds[put]) {
			t.Errorf("%s: %v", o.name, kinds)
		}
	}
}

func TestScatter(t *testing.T) {
	for n := 1; n < 300; n++ {
		seen := make([]bool, n)
		for i := range n {
			seen[scatter(i, n)] = true
		}
		if slices.Contains(seen, false) {
			t.Errorf("numbers below %d are mapped to some of them only", n)
		}
	}
}

// By Zipf's law with this exponent the first of 1,000 keys is drawn in 13.8 % of cases, and the
// first 10 in 40 %.
func TestZipf(t *testing.T) {
	const n, draws = 1000, 50_000
	drawn := make([]int, n)
	pick := newPicker(1, 0)
	for range draws {
		drawn[pick.zipf(n)]++
	}
	share := func(first int) float64 {
		sum := 0
		for i := range first {
			sum += drawn[scatter(i, n)]
		}
		return float64(sum) / draws
	}
	if x := share(1); x < 0.125 || x > 0.15 {
		t.Errorf("the first key has a share of %v", x)
	}
	if x := share(10); x < 0.37 || x > 0.43 {
		t.Errorf("the first 10 keys have a share of %v", x)
	}
}

// result returns a cell whose rival has a ratio and a verdict.
func result(group, name, value, goroutines string, rivals ...suite.SideResult) suite.Result {
	return suite.Result{Suite: "matrix", Group: group, Name: name, Ops: 1, Higher: true,
		Params: []suite.Param{{Name: "value", Value: value}, {Name: "goroutines", Value: goroutines}},
		Sides:  append([]suite.SideResult{{Name: "okra", Median: 100}}, rivals...)}
}

func TestDerive(t *testing.T) {
	side := func(median, ratio float64, verdict string) suite.SideResult {
		return suite.SideResult{Name: fmt.Sprint("rival ", median), Median: median, Ratio: ratio, Verdict: verdict}
	}
	results := []suite.Result{
		result(groupMemory, "insert", "8 B", "1", side(1, 0.01, bench.VerdictFaster)),
		result(groupMemory, "insert", "8 B", "16", side(50, 0.5, bench.VerdictFaster), side(300, 3, bench.VerdictSlower)),
		result(groupMemory, "insert", "8 B", "4", side(1, 0.01, bench.VerdictFaster)),
		result(groupMemory, "get", "8 B", "16", side(110, 1.1, bench.VerdictSame)),
		result(groupMemory, "get", "1.0 KiB", "16", side(50, 0.5, bench.VerdictFaster)),
		result(groupMemory, "delete", "8 B", "16", suite.SideResult{Name: sideUpdate, Median: 40, Min: 39, Max: 41,
			Ratio: 0.4, Verdict: bench.VerdictFaster, Measurements: make([]suite.Measurement, 3)},
			suite.SideResult{Name: "lmdb", Median: 80, Min: 80, Max: 80,
				Ratio: 0.8, Verdict: bench.VerdictFaster, Measurements: make([]suite.Measurement, 3)}),
		result(groupBeyond, "get", "8 B", "32", suite.SideResult{Name: "lmdb", Absent: "no"}),
	}
	tables := derive(results)
	if len(tables) != 1 || !strings.HasPrefix(tables[0].Title, "Winners, in memory, ") {
		t.Fatalf("%+v", tables)
	}
	var got []string
	for _, line := range tables[0].Lines {
		got = append(got, strings.Join(line, "|"))
	}
	want := []string{
		"operation|goroutines|side|8 B|1.0 KiB", "insert|16|okra by Batch|LOSE 3.00|", "get|16|okra|EVEN 1.10|WIN 0.50",
		"delete|16|okra by Batch|WIN 0.80|", "delete|16|okra by Update|LOSE 2.00|",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// By Batch writes at the same time share transactions, and by Update each has its own.
func TestBatchShares(t *testing.T) {
	w := work{operation: operations[0], valueSize: 8, goroutines: 32, entries: 2000, ops: 640 * writeShare}
	for _, b := range []backend{backendOkra, backendUpdate} {
		dir := t.TempDir()
		if err := b.fill(dir, w); err != nil {
			t.Fatal(err)
		}
		before := suitetest.LastTransaction(t, dir)
		s, err := b.open(dir, w)
		if err != nil {
			t.Fatal(err)
		}
		m, err := w.measure(s, 1)
		if err := errors.Join(err, s.close()); err != nil {
			t.Fatal(err)
		}
		made := suitetest.LastTransaction(t, dir) - before
		if shared := made < m.Ops; m.Ops != 640 || shared != (b.name == sideOkra) {
			t.Errorf("%s: %d transactions for %d writes", b.name, made, m.Ops)
		}
	}
}

// Operations ask for the keys that their names say: few often, or all as often.
func TestNamesSayTheLaw(t *testing.T) {
	for _, o := range operations {
		w := work{operation: o, valueSize: 8, goroutines: 1, entries: 10_000, ops: 200_000, budget: 1 << 30}
		drawn := make(map[uint64]int)
		most, all := 0, 0
		for _, s := range w.steps(1, 0) {
			if o.mixed && s.kind != scan {
				continue
			}
			all++
			drawn[s.key]++
			most = max(most, drawn[s.key])
		}
		share := float64(most) / float64(all)
		if skewed := o.mixed || strings.HasSuffix(o.name, "Zipf"); skewed != (share > 0.05) {
			t.Errorf("%s: the most frequent key is drawn in %.3f of cases", o.name, share)
		}
	}
}

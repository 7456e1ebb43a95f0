package durability

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/okradb/okra-go/bench"
	"github.com/okradb/okra-go/bench/suite"
	"github.com/okradb/okra-go/bench/suite/suitetest"
	"github.com/okradb/okra-go/okra"
)

func TestMain(m *testing.M) {
	// Under the race detector each process would wait a second before it ends.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	suite.Serve(checked(), idle())
	os.Exit(m.Run())
}

// checked is the suite with another check of what is left: that it is what was to be written.
func checked() suite.Suite {
	s := Suite()
	s.Name = "checked"
	s.Cells = func(o suite.Options) ([]suite.Cell, error) {
		all, err := cells(o)
		for _, c := range all {
			for i := range c.Sides {
				suitetest.Timed(c, &c.Sides[i])
				suitetest.Want(&c.Sides[i], func(r *suite.Rep) (bench.Contents, error) {
					return written(r, int(c.Ops), o.Sizes["value-size"][0])
				})
			}
		}
		return all, err
	}
	return s
}

// written returns the contents of a store that okra builds from the entries of a repetition, in a
// way that no cell does.
func written(r *suite.Rep, entries, valueSize int) (bench.Contents, error) {
	var b bench.Batch
	bench.NewWorkload(entries, valueSize, r.Seed).FillAll(&b, r.Random())
	dir := r.Dir + "-wanted"
	defer os.RemoveAll(dir)
	db, err := okra.Open(dir, &okra.Options{NoSync: true})
	if err != nil {
		return bench.Contents{}, err
	}
	err = db.Update(func(tx *okra.Tx) error {
		_, err := tx.Load(func(yield func(okra.Entry, error) bool) {
			for j := range b.Len() {
				if !yield(okra.Entry{Key: b.Key(j), Value: b.Value(j)}, nil) {
					return
				}
			}
		})
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		return bench.Contents{}, err
	}
	return bench.CheckOkra(dir)
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
				db, err := okra.Open(r.Dir, nil)
				if err != nil {
					return suite.Measurement{}, err
				}
				m := suite.Measurement{Value: 1}
				if i%2 == 0 {
					m.Ops, m.Bytes = c.Ops, c.Bytes
				}
				return m, db.Close()
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
		"rows": {5, 20}, "batch": {50}, "writers": {1, 4}, "group-writes": {10}, "value-size": {7},
	}}
}

func TestCells(t *testing.T) {
	s := checked()
	o, cells, err := suite.Plan(s, tiny(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	results, err := suite.Run(t.Context(), s, o, cells, suite.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	type cell struct {
		name, rows, writers string
		ops, bytes          int64
		sides               string
	}
	want := []cell{
		{memory, "5", "", 5, 55, "okra lmdb"},
		{durable, "5", "", 5, 55, "okra lmdb"},
		{batched, "5", "", 5, 55, "okra lmdb"},
		{memory, "20", "", 20, 220, "okra lmdb"},
		{durable, "20", "", 20, 220, "okra lmdb"},
		{batched, "20", "", 20, 220, "okra lmdb"},
		{batched, "50", "", 50, 550, "okra lmdb"},
		{"durable writes", "", "1", 10, 110, "okra okra Update lmdb"},
		{"durable writes", "", "4", 10, 110, "okra okra Update lmdb"},
	}
	var got []cell
	for _, r := range results {
		c := cell{name: r.Name, rows: r.Param("rows"), writers: r.Param("writers"), ops: r.Ops}
		for i, side := range r.Sides {
			c.sides = strings.TrimSpace(c.sides + " " + side.Name)
			m := side.Measurements[0]
			if i > 0 && m.Bytes != c.bytes {
				t.Errorf("%s: the sides have written %d and %d bytes", r.Name, c.bytes, m.Bytes)
			}
			c.bytes = m.Bytes
			if single := r.Name != batched; single != (m.P50 > 0 && m.P99 >= m.P50) {
				t.Errorf("%s: latencies %v and %v", r.Name, m.P50, m.P99)
			}
			if m.FileSize < m.Bytes {
				t.Errorf("%s: a file of %d bytes for %d", r.Name, m.FileSize, m.Bytes)
			}
		}
		got = append(got, c)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// A suite that measures an empty loop fails in every cell.
func TestEmptyLoopFails(t *testing.T) {
	s := idle()
	o, cells, err := suite.Plan(s, tiny(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	results, err := suite.Run(t.Context(), s, o, cells, suite.Hooks{})
	if err == nil || len(results) > 0 {
		t.Fatalf("%d results, error %v", len(results), err)
	}
	for _, want := range []string{
		"it has left 0 entries instead of 5", "it has done 0 operations instead of 20",
		"it has left 0 entries instead of 10",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
	if n := strings.Count(err.Error(), ": okra, repetition 1: "); n != len(cells) {
		t.Errorf("%d of %d cells failed:\n%v", n, len(cells), err)
	}
}

func TestLimits(t *testing.T) {
	for name, values := range map[string][]int{
		"group-writes": {3}, "value-size": {1 << 30}, "rows": {1 << 32},
	} {
		o := tiny(t)
		o.Sizes[name] = values
		if _, _, err := suite.Plan(Suite(), o, nil); err == nil {
			t.Errorf("%s %d: no error", name, values)
		}
	}
}

// result returns a cell with one side.
func result(group, name string, ops int64, param, value string, median float64) suite.Result {
	return suite.Result{Suite: "durability", Group: group, Name: name, Ops: ops,
		Params: []suite.Param{{Name: param, Value: value}, {Name: "value", Value: "100 B"}},
		Sides:  []suite.SideResult{{Name: "okra", Median: median, Min: median, Max: median}}}
}

// wide gives the side of r a range.
func wide(r suite.Result, low, high float64) suite.Result {
	r.Sides[0].Min, r.Sides[0].Max = low, high
	return r
}

func TestDerive(t *testing.T) {
	results := []suite.Result{
		result(groupWrites, memory, 100, "rows", "100", 10), result(groupWrites, durable, 100, "rows", "100", 1010),
		result(groupWrites, batched, 100, "rows", "100", 11), // 1 ms and 1 µs a write
		result(groupWrites, memory, 400, "rows", "400", 20),
		wide(result(groupWrites, durable, 400, "rows", "400", 1020), 15, 2000),
		result(groupWrites, batched, 400, "rows", "400", 3.5),
		result(groupBatch, batched, 9000, "rows", "9k", 2), // 18 ms instead of 10
		wide(result(groupBatch, batched, 90_000, "rows", "90k", 2), 1, 3),
		result(groupCommit, "durable writes", 64, "writers", "64", 1e6/270),
		result(groupCommit, "durable writes", 64, "writers", "8", 500),
		wide(result(groupCommit, "durable writes", 64, "writers", "4", 900), 500, 1100),
		wide(result(groupCommit, "durable writes", 64, "writers", "1", 1000), 900, 1200),
	}
	want := []string{
		"100|100 B|okra|10.00|1010|11.00|1.000|99 %",
		"400|100 B|okra|20.00|1020|3.500|same|same",
		"9k|100 B|okra|10.00|18.00|18.00|18.00|+80 %",
		"90k|100 B|okra|91.00|180.0|90.00|270.0|same",
		"64|100 B|okra|1000|270.0|73 %",
		"8|100 B|okra|1000|2000|-100 %",
		"4|100 B|okra|1000|1111|same",
		"1|100 B|okra|1000|1000|0 %",
	}
	if got := derived(results); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if tables := derive(results[:1]); len(tables) > 0 {
		t.Errorf("%+v of one cell", tables)
	}
	// The batch of 400 took 1 to 2 ms, that of 100 took 1.1: whether it takes longer is not known.
	results[5] = wide(result(groupWrites, batched, 400, "rows", "400", 3.5), 2.5, 5)
	if got, want := derived(results)[2], "9k|100 B|okra|none|18.00|18.00|18.00|noise"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// derived returns the lines of all tables but their heads.
func derived(results []suite.Result) []string {
	var lines []string
	for _, table := range derive(results) {
		for _, line := range table.Lines[1:] {
			lines = append(lines, strings.Join(line, "|"))
		}
	}
	return lines
}

// By Batch the writes of several goroutines share transactions, and elsewhere each has its own.
func TestGroupCommitShares(t *testing.T) {
	o := tiny(t)
	o.Sizes["writers"], o.Sizes["group-writes"] = []int{32}, []int{640}
	_, cells, err := suite.Plan(Suite(), o, []string{"group commit"})
	if err != nil {
		t.Fatal(err)
	}
	for _, side := range cells[0].Sides {
		dir := t.TempDir()
		m, err := side.Run(&suite.Rep{Dir: dir, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		made := suitetest.LastTransaction(t, dir)
		if shared := made < m.Ops; m.Ops != 640 || shared != (side.Name == "okra") {
			t.Errorf("%s: %d transactions for %d writes", side.Name, made, m.Ops)
		}
	}
}

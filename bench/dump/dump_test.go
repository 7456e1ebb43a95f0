package dump

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
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
	suite.Serve(checked(), idle("claiming", true), idle("silent", false))
	os.Exit(m.Run())
}

func cellsOf(o suite.Options) ([]suite.Cell, error) {
	return cells(o, tool{sideDump, exec.LookPath}, tool{sideLoad, exec.LookPath})
}

// checked is the suite with another check of what is left: that it is what was to be written.
func checked() suite.Suite {
	s := Suite()
	s.Name = "checked"
	s.Cells = func(o suite.Options) ([]suite.Cell, error) {
		all, err := cellsOf(o)
		for _, c := range all {
			for i := range c.Sides {
				suitetest.Timed(c, &c.Sides[i])
				if c.Sides[i].Check != nil {
					suitetest.Want(&c.Sides[i], func(*suite.Rep) (bench.Contents, error) { return left(c), nil })
				}
			}
		}
		return all, err
	}
	return s
}

// left returns the contents that a cell must leave, of keys that are written as the documentation
// of the package says.
func left(c suite.Cell) bench.Contents {
	n, _ := bench.ParseEntries(c.Params[0].Value)
	i := 0
	contents, err := bench.ContentsOf(func(add func(key, value []byte)) error {
		return work{n}.each(func(_, value []byte) error {
			if c.Name != "delete" || i%2 == 1 {
				add(fmt.Appendf(nil, "user/%07d", i), value)
			}
			i++
			return nil
		})
	})
	if err != nil {
		panic(err)
	}
	return contents
}

// idle is the suite with sides that do nothing, and say that they have if they are to claim it.
func idle(name string, claim bool) suite.Suite {
	s := Suite()
	s.Name = name
	s.Cells = func(o suite.Options) ([]suite.Cell, error) {
		all, err := cellsOf(o)
		for _, c := range all {
			c.Sides[0].Run = func(*suite.Rep) (suite.Measurement, error) {
				m := suite.Measurement{Value: 1, FileSize: 1}
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
func tiny(t *testing.T, keys ...int) suite.Options {
	t.Helper()
	dir := t.TempDir()
	suitetest.EmptyAtEnd(t, dir)
	return suite.Options{Repetitions: 1, Seed: 3, Dir: dir, Sizes: map[string][]int{
		"keys": keys, "mdb-load-keys": {100},
	}}
}

func TestCells(t *testing.T) {
	s := checked()
	o, cells, err := suite.Plan(s, tiny(t, 2, 131), nil)
	if err != nil {
		t.Fatal(err)
	}
	results, err := suite.Run(t.Context(), s, o, cells, suite.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	type cell struct {
		name, keys string
		ops, bytes int64
	}
	want := []cell{
		{"export", "2", 2, 54}, {"import", "2", 2, 54},
		{"write", "2", 2, 54}, {"read", "2", 2, 54}, {"iterate", "2", 2, 54},
		{"delete", "2", 1, 12}, {"re-read", "2", 2, 12 + 27},
		{"export", "131", 131, 3537}, {"import", "131", 131, 3537},
		{"write", "131", 131, 3537}, {"read", "131", 131, 3537}, {"iterate", "131", 131, 3537},
		{"delete", "131", 66, 792}, {"re-read", "131", 131, 66*12 + 65*27},
	}
	var got []cell
	for _, r := range results {
		for i, side := range r.Sides {
			if side.Absent != "" {
				if !mayBeAbsent(side, r.Param("keys")) {
					t.Errorf("%s of %s is absent: %s", side.Name, r.Param("keys"), side.Absent)
				}
				continue
			}
			m := side.Measurements[0]
			c := cell{r.Name, r.Param("keys"), m.Ops, m.Bytes}
			if i == 0 {
				got = append(got, c)
			} else if c != got[len(got)-1] {
				t.Errorf("%s did %+v, %s %+v", r.Sides[0].Name, got[len(got)-1], side.Name, c)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	checkSizes(t, results)
}

func mayBeAbsent(side suite.SideResult, keys string) bool {
	if _, err := exec.LookPath(side.Name); err != nil {
		return strings.HasPrefix(side.Absent, "not installed") && strings.HasPrefix(side.Name, "mdb_")
	}
	return side.Name == sideLoad && keys == "131" && strings.Contains(side.Absent, "--mdb-load-keys 100")
}

// checkSizes compares the sizes of dumps with what their formats say.
func checkSizes(t *testing.T, results []suite.Result) {
	t.Helper()
	for _, r := range results {
		if r.Group != groupExport {
			continue
		}
		sizes := make(map[string]int64)
		for _, side := range r.Sides {
			sizes[side.Name] = side.FileSize
		}
		// LMDB's text has two digits for a byte, and a space and a new line around each of two.
		if text := 2*r.DataSize + 4*r.Ops; sizes["okra mdb"] < text || sizes["okra mdb"] > text+200 {
			t.Errorf("text of %d bytes, want about %d", sizes["okra mdb"], text)
		}
		if sizes["okra jsonl"] <= sizes["okra binary"] || sizes[sideCopy]%4096 != 0 || sizes[sideCopy] == 0 {
			t.Errorf("sizes %v", sizes)
		}
	}
}

// A suite that measured an empty loop, whether or not it says so, fails in every cell.
func TestEmptyLoopFails(t *testing.T) {
	for _, claim := range []bool{true, false} {
		s := idle(map[bool]string{true: "claiming", false: "silent"}[claim], claim)
		o, cells, err := suite.Plan(s, tiny(t, 5), nil)
		if err != nil {
			t.Fatal(err)
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

func TestToolsMissing(t *testing.T) {
	s := newSuite(func(string) (string, error) { return "", exec.ErrNotFound })
	_, cells, err := suite.Plan(s, tiny(t, 2), []string{"export", "import"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cells {
		for _, side := range c.Sides {
			if tool := strings.HasPrefix(side.Name, "mdb_"); tool != (side.Absent != "") {
				t.Errorf("%s is absent: %q", side.Name, side.Absent)
			}
		}
	}
}

func TestToolFails(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	fails := tool{"mdb_dump", func(string) (string, error) { return sh, nil }}
	err = fails.run(&suite.Measurement{}, "-c", "echo no such store >&2; exit 3")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !strings.Contains(err.Error(), "no such store") {
		t.Errorf("error %v", err)
	}
}

func TestLimits(t *testing.T) {
	for _, keys := range []int{1, maxKeys + 1} {
		if _, _, err := suite.Plan(Suite(), tiny(t, keys), nil); err == nil {
			t.Errorf("%d keys: no error", keys)
		}
	}
}

// result returns a cell whose sides have the means, in order.
func result(group, name string, sides []string, means ...float64) suite.Result {
	r := suite.Result{Suite: "dump", Group: group, Name: name, Ops: 4, DataSize: 108,
		Params: []suite.Param{{Name: "keys", Value: "4"}}}
	for i, side := range sides {
		s := suite.SideResult{Name: side, Mean: means[i], Std: 0.5, FileSize: 216, Verdict: "slower"}
		if means[i] == 0 {
			s = suite.SideResult{Name: side, Absent: "not installed"}
		}
		r.Sides = append(r.Sides, s)
	}
	return r
}

func TestDerive(t *testing.T) {
	results := []suite.Result{
		result(groupExport, "export", []string{"okra binary", sideDump, sideCopy}, 6, 0, 2),
		result(groupImport, "import", []string{"okra binary", sideLoad, sideCopy}, 30, 40, 10),
		result(groupStore, "read", []string{"okra", "lmdb"}, 3, 1.5),
	}
	var got []string
	for _, table := range derive(results) {
		for _, line := range table.Lines[1:] {
			got = append(got, strings.Join(line, "|"))
		}
	}
	want := []string{
		"4|okra binary|6.000 ± 0.5000|3.00|30.00 ± 0.5000|3.00|108 B|216 B|2.00",
		"4|mdb_dump, mdb_load|||40.00 ± 0.5000|4.00|108 B||",
		"4|raw copy|2.000 ± 0.5000|1.00|10.00 ± 0.5000|1.00|108 B|216 B|2.00",
		"4|read|3.000 ± 0.5000|1.500 ± 0.5000|2.00|slower",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	names := make(map[string]bool)
	for _, table := range Suite().Tables(results) {
		name, _, _ := strings.Cut(table.Title, " (")
		if names[name] {
			t.Errorf("two tables are named %q", name)
		}
		names[name] = true
	}
	results[2].Sides[0].Measurements = make([]suite.Measurement, 1)
	if line := strings.Join(derive(results)[1].Lines[1], "|"); line != "4|read|3.000|1.500 ± 0.5000|2.00|slower" {
		t.Errorf("one measurement has a deviation: %s", line)
	}
	if tables := derive(results[1:2]); len(tables) > 0 {
		t.Errorf("%+v of an import alone", tables)
	}
}

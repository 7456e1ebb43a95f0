package suite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/okradb/okra-go/bench"
)

func TestMain(m *testing.M) {
	// Under the race detector each process would wait a second before it ends.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	Serve(testSuite())
	os.Exit(m.Run())
}

// entry is what the good sides of the test suite write.
const entry = "key value\n"

// good returns a side that writes an entry to a file and finds it there in another process.
func good(name string) Side {
	return Side{
		Name: name,
		Run: func(r *Rep) (Measurement, error) {
			left, err := os.ReadDir(r.Dir)
			if err != nil || len(left) > 0 {
				return Measurement{}, fmt.Errorf("the folder is not fresh: %v, %v", left, err)
			}
			err = os.WriteFile(filepath.Join(r.Dir, "data"), []byte(entry), 0o644)
			return Measurement{Value: 2, Ops: 1, Bytes: int64(len(entry)), Sum: fmt.Sprint(r.Seed, r.Random().Uint64())}, err
		},
		Check: func(r *Rep) (bench.Contents, error) {
			data, err := os.ReadFile(filepath.Join(r.Dir, "data"))
			return bench.Contents{Entries: int64(strings.Count(string(data), "\n")), Sum: string(data)}, err
		},
	}
}

// changed returns a good side with another Run.
func changed(change func(*Rep, *Measurement) error) Side {
	side := good("lmdb")
	run := side.Run
	side.Run = func(r *Rep) (Measurement, error) {
		m, err := run(r)
		return m, errors.Join(err, change(r, &m))
	}
	return side
}

// failing are sides beside which a cell must fail, with a piece of the error.
func failing() map[string]struct {
	side Side
	want string
} {
	unfit := good("lmdb")
	unfit.Check = func(*Rep) (bench.Contents, error) { return bench.Contents{}, errors.New("it is torn") }
	unprepared := good("lmdb")
	unprepared.Prepare = func(*Rep) error { return errors.New("no room") }
	return map[string]struct {
		side Side
		want string
	}{
		"empty loop":  {changed(func(_ *Rep, m *Measurement) error { m.Ops = 0; return nil }), "0 operations instead of 1"},
		"other bytes": {changed(func(_ *Rep, m *Measurement) error { m.Bytes = 3; return nil }), "3 bytes instead of 10"},
		"no time":     {changed(func(_ *Rep, m *Measurement) error { m.Value = 0; return nil }), "it has measured 0"},
		"other sum":   {changed(func(_ *Rep, m *Measurement) error { m.Sum = "x"; return nil }), "read other entries"},
		"nothing left": {changed(func(r *Rep, _ *Measurement) error {
			return os.WriteFile(filepath.Join(r.Dir, "data"), nil, 0o644)
		}), "left 0 entries instead of 1"},
		"other contents": {changed(func(r *Rep, _ *Measurement) error {
			return os.WriteFile(filepath.Join(r.Dir, "data"), []byte("another\n"), 0o644)
		}), "left other entries"},
		"error":        {changed(func(*Rep, *Measurement) error { return errors.New("it broke") }), "it broke"},
		"panic":        {changed(func(*Rep, *Measurement) error { panic("out of luck") }), "out of luck"},
		"exit":         {changed(func(*Rep, *Measurement) error { os.Exit(0); return nil }), "read what a process measured"},
		"kill":         {changed(func(*Rep, *Measurement) error { Crash(); return nil }), ErrKilled.Error()},
		"check":        {unfit, "check: it is torn"},
		"preparing":    {unprepared, "prepare: no room"},
		"unknown help": {changed(noHelper), `no helper "none"`},
	}
}

func noHelper(r *Rep, _ *Measurement) error {
	p, err := r.Start("none")
	if err != nil {
		return err
	}
	_, err = p.Wait()
	return err
}

// testSuite has a cell for each thing that tests look at.
func testSuite() Suite {
	return Suite{
		Name:  "test",
		Sizes: []Size{{Name: "n", Full: []int{7, 8}, Quick: []int{3}, List: true}},
		Cells: func(o Options) ([]Cell, error) {
			cell := func(name string, sides ...Side) Cell {
				return Cell{Group: "cells", Name: name, Unit: "ms", Ops: 1, Entries: 1, Sides: sides,
					Bytes: int64(len(entry)), Cost: time.Second,
					Params: []Param{{"n", fmt.Sprint(o.Sizes["n"][0])}}}
			}
			absent := good("mdb_dump")
			absent.Absent = "not installed"
			cells := []Cell{
				cell("plain", good("okra"), good("lmdb"), absent),
				cell("helped", helped()),
				cell("abandoned", abandoning()),
				cell("endless", endless()),
				cell("turns", turning("okra"), turning("lmdb")),
			}
			for name, f := range failing() {
				cells = append(cells, cell("failing "+name, good("okra"), f.side))
			}
			for _, name := range []string{"first", "second"} {
				c := cell("shared "+name, sharing("okra"), sharing("lmdb"))
				c.Shared = "what both read"
				cells = append(cells, c)
			}
			for _, name := range []string{"first", "second"} {
				c := cell("in place "+name, counting("okra"), counting("lmdb"))
				c.Shared, c.InPlace = "what both change", true
				cells = append(cells, c)
			}
			for _, name := range []string{"first", "second"} {
				c := cell("linked "+name, reading("okra"), reading("lmdb"))
				c.Shared, c.ReadOnly = "what both only read", true
				cells = append(cells, c)
			}
			c := cell("spoiling", sharing("okra"))
			c.Shared, c.ReadOnly = "what must stay", true
			missing := cell("missing", absent, absent)
			missing.Sides[1].Name = "mdb_load"
			return append(cells, c, missing), nil
		},
	}
}

// turning returns a side that measures how many have run before it, and itself.
func turning(name string) Side {
	side := good(name)
	run := side.Run
	side.Run = func(r *Rep) (Measurement, error) {
		m, err := run(r)
		path := r.Dir + "-runs"
		before, readErr := os.ReadFile(path)
		if readErr != nil && !errors.Is(readErr, os.ErrNotExist) {
			return m, readErr
		}
		m.Value = float64(len(before) + 1)
		return m, errors.Join(err, os.WriteFile(path, append(before, '.'), 0o644))
	}
	return side
}

// sharing returns a side that prepares something that differs each time.
func sharing(name string) Side {
	return Side{
		Name: name,
		Prepare: func(r *Rep) error {
			made := fmt.Sprint(time.Now().UnixNano())
			return os.WriteFile(filepath.Join(r.Dir, "made"), []byte(made), 0o644)
		},
		// The value is what was prepared, and the next repetition must not see what this one does.
		Run: func(r *Rep) (Measurement, error) {
			path := filepath.Join(r.Dir, "made")
			made, err := os.ReadFile(path)
			if err != nil {
				return Measurement{}, err
			}
			value, err := strconv.ParseFloat(string(made), 64)
			return Measurement{Value: value, Ops: 1, Bytes: int64(len(entry))},
				errors.Join(err, os.WriteFile(path, []byte("spoiled"), 0o644))
		},
	}
}

// counting returns a side that measures how often it has worked in the folder that it has
// prepared.
func counting(name string) Side {
	return Side{
		Name:    name,
		Prepare: func(r *Rep) error { return os.WriteFile(filepath.Join(r.Dir, "runs"), nil, 0o644) },
		Run: func(r *Rep) (Measurement, error) {
			path := filepath.Join(r.Dir, "runs")
			runs, err := os.ReadFile(path)
			if err != nil {
				return Measurement{}, err
			}
			runs = append(runs, 'x')
			return Measurement{Value: float64(len(runs)), Ops: 1, Bytes: int64(len(entry)), PeakMemory: 1 << 41},
				os.WriteFile(path, runs, 0o644)
		},
	}
}

// reading returns a sharing side that leaves what was prepared as it is, and adds a file.
func reading(name string) Side {
	side := sharing(name)
	side.Run = func(r *Rep) (Measurement, error) {
		made, err := os.ReadFile(filepath.Join(r.Dir, "made"))
		if err != nil {
			return Measurement{}, err
		}
		value, err := strconv.ParseFloat(string(made), 64)
		m := Measurement{Value: value, Ops: 1, Bytes: int64(len(entry)), PeakMemory: 1 << 40}
		added, addErr := os.OpenFile(filepath.Join(r.Dir, "added"), os.O_CREATE|os.O_EXCL, 0o644)
		if addErr == nil {
			addErr = added.Close()
		}
		return m, errors.Join(err, addErr)
	}
	return side
}

// helped returns a side whose Run needs three helpers: one that works, one that crashes and one
// that it kills.
func helped() Side {
	side := good("okra")
	run := side.Run
	side.Run = func(r *Rep) (Measurement, error) {
		works, err := r.Start("works")
		if err != nil {
			return Measurement{}, err
		}
		m, err := works.Wait()
		if err != nil || m.Value != 5 {
			return Measurement{}, fmt.Errorf("works: %v, %v", m, err)
		}
		crashes, err := r.Start("crashes")
		if err != nil {
			return Measurement{}, err
		}
		if _, err := crashes.Wait(); !errors.Is(err, ErrKilled) {
			return Measurement{}, fmt.Errorf("crashes: %v", err)
		}
		sleeps, err := r.Start("sleeps")
		if err != nil {
			return Measurement{}, err
		}
		sleeps.Kill()
		if _, err := sleeps.Wait(); !errors.Is(err, ErrKilled) {
			return Measurement{}, fmt.Errorf("sleeps: %v", err)
		}
		return run(r)
	}
	side.Helpers = map[string]func(*Rep) (Measurement, error){
		"works":   func(*Rep) (Measurement, error) { return Measurement{Value: 5}, nil },
		"crashes": func(*Rep) (Measurement, error) { Crash(); return Measurement{}, nil },
		"sleeps":  sleep,
	}
	return side
}

// sleep writes the number of its process to the file that the environment names, and sleeps for
// longer than a test may take.
func sleep(*Rep) (Measurement, error) {
	if path := os.Getenv("OKRA_TEST_PID"); path != "" {
		half := path + ".half"
		err := os.WriteFile(half, []byte(fmt.Sprint(os.Getpid())), 0o644)
		if err := errors.Join(err, os.Rename(half, path)); err != nil {
			return Measurement{}, err
		}
	}
	time.Sleep(time.Hour)
	return Measurement{}, nil
}

// abandoning returns a side that ends while its helper sleeps.
func abandoning() Side {
	side := good("okra")
	run := side.Run
	side.Run = func(r *Rep) (Measurement, error) {
		if _, err := r.Start("sleeps"); err != nil {
			return Measurement{}, err
		}
		for range 12_000 {
			if _, err := os.Stat(os.Getenv("OKRA_TEST_PID")); err == nil {
				return run(r)
			}
			time.Sleep(10 * time.Millisecond)
		}
		return Measurement{}, errors.New("the helper did not begin")
	}
	side.Helpers = map[string]func(*Rep) (Measurement, error){"sleeps": sleep}
	return side
}

// endless returns a side that waits for a helper that sleeps.
func endless() Side {
	side := good("okra")
	side.Run = func(r *Rep) (Measurement, error) {
		p, err := r.Start("sleeps")
		if err != nil {
			return Measurement{}, err
		}
		return p.Wait()
	}
	side.Helpers = map[string]func(*Rep) (Measurement, error){"sleeps": sleep}
	return side
}

// emptyDir returns a folder that must be empty when the test ends.
func emptyDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() {
		left, err := os.ReadDir(dir)
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
	return dir
}

// plan returns the cells of the test suite that terms name, with two repetitions.
func plan(t *testing.T, terms ...string) (Options, []Cell) {
	t.Helper()
	o, cells, err := Plan(testSuite(), Options{Repetitions: 2, Seed: 9, Dir: emptyDir(t)}, terms)
	if err != nil {
		t.Fatal(err)
	}
	return o, cells
}

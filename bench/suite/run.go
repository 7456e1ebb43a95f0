package suite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/okradb/okra-go/bench"
)

// Hooks are called by [Run] in its goroutine, between measurements. Each may be nil.
type Hooks struct {
	// Done takes each finished cell. Its error ends the run.
	Done func(Result) error

	// Progress is called before each repetition of a side.
	Progress func(Progress)
}

// Progress is where a run is.
type Progress struct {
	Cell        string
	Done, Total int // repetitions of a side, of all cells
}

// Run measures cells of s, which [Plan] has returned with o, and returns the results of those
// that were finished. It works in a new folder inside o.Dir, which is gone when it returns.
//
// A cell that fails does not keep the others from being measured: its error is among those that
// are returned in the end. When ctx is cancelled, the processes at work are killed, and the error
// wraps that of ctx.
func Run(ctx context.Context, s Suite, o Options, cells []Cell, h Hooks) ([]Result, error) {
	if err := check(cells); err != nil {
		return nil, fmt.Errorf("suite %s: %w", s.Name, err)
	}
	dir, err := os.MkdirTemp(o.Dir, "okra-bench-")
	if err != nil {
		return nil, noFolder(o.Dir, err)
	}
	r := &runner{
		suite: s, options: o, hooks: h, dir: dir, machine: bench.DescribeMachine(dir), started: time.Now().UTC().Round(0),
		cells: len(cells),
	}
	for _, c := range cells {
		r.progress.Total += o.Repetitions * len(c.present())
	}
	results, err := r.all(ctx, cells)
	if removeErr := os.RemoveAll(dir); removeErr != nil {
		err = errors.Join(err, fmt.Errorf("remove the stores: %w", removeErr))
	}
	return results, err
}

// check returns an error if cells cannot be told apart, or promise no work.
func check(cells []Cell) error {
	seen := make(map[string]bool)
	for _, c := range cells {
		title := c.title()
		switch {
		case seen[title]:
			return fmt.Errorf("there are two cells %q", title)
		case c.Ops < 1:
			return fmt.Errorf("cell %q has no operations", title)
		case len(c.Sides) == 0:
			return fmt.Errorf("cell %q has no sides", title)
		case c.ReadOnly && c.Shared == "":
			return fmt.Errorf("cell %q only reads, but shares nothing", title)
		}
		seen[title] = true
	}
	return nil
}

// present returns the indexes of the sides that can be measured.
func (c Cell) present() []int {
	var all []int
	for i, side := range c.Sides {
		if side.Absent == "" {
			all = append(all, i)
		}
	}
	return all
}

// runner is a run.
type runner struct {
	suite    Suite
	options  Options
	hooks    Hooks
	dir      string
	machine  bench.Machine
	started  time.Time
	cells    int    // to measure
	shared   string // of the cells whose prepared folders are there
	progress Progress
}

func (r *runner) all(ctx context.Context, cells []Cell) ([]Result, error) {
	var results []Result
	var failed []error
	for _, c := range cells {
		result, err := r.cell(ctx, c)
		if ctx.Err() != nil {
			return results, ctx.Err()
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", c.title(), err))
			continue
		}
		results = append(results, result)
		if r.hooks.Done == nil {
			continue
		}
		if err := r.hooks.Done(result); err != nil {
			return results, err
		}
	}
	return results, errors.Join(failed...)
}

// outcome is one repetition of one side.
type outcome struct {
	measurement Measurement
	contents    bench.Contents
}

// cell measures c: in each repetition the sides take turns in starting.
func (r *runner) cell(ctx context.Context, c Cell) (Result, error) {
	if c.Shared != r.shared || c.Shared == "" {
		// What cells before have shared is not needed any more.
		if err := os.RemoveAll(filepath.Join(r.dir, "shared")); err != nil {
			return Result{}, err
		}
		r.shared = c.Shared
	}
	present := c.present()
	measured := make([][]Measurement, len(c.Sides))
	for i := range r.options.Repetitions {
		var first *outcome
		for k := range present {
			s := present[(i+k)%len(present)]
			r.report(c)
			o, err := r.side(ctx, c, s, i)
			if err == nil && first != nil {
				err = agree(*first, o)
			}
			if err != nil {
				return Result{}, fmt.Errorf("%s, repetition %d: %w", c.Sides[s].Name, i+1, err)
			}
			if first == nil {
				first = &o
			}
			measured[s] = append(measured[s], o.measurement)
		}
	}
	return r.newResult(c, measured), nil
}

func (r *runner) report(c Cell) {
	r.progress.Cell = c.title()
	if r.hooks.Progress != nil {
		r.hooks.Progress(r.progress)
	}
	r.progress.Done++
}

// side does one repetition of one side in a folder of its own, which it removes, or gives back to
// the repetitions that follow if they work in place.
func (r *runner) side(ctx context.Context, c Cell, s, number int) (outcome, error) {
	dir := filepath.Join(r.dir, "repetition")
	o, err := r.parts(ctx, c, s, number, dir)
	if err == nil && c.shares(s) && c.InPlace {
		return o, os.Rename(dir, r.made(c.Sides[s]))
	}
	return o, errors.Join(err, os.RemoveAll(dir))
}

// shares reports whether side s starts from what it has prepared for several cells.
func (c Cell) shares(s int) bool { return c.Shared != "" && c.Sides[s].Prepare != nil }

// made returns the folder that side has prepared for the cells that share it.
func (r *runner) made(side Side) string {
	return filepath.Join(r.dir, "shared", url.PathEscape(side.Name))
}

func (r *runner) parts(ctx context.Context, c Cell, s, number int, dir string) (outcome, error) {
	side := c.Sides[s]
	req := request{
		Suite: r.suite.Name, Options: r.options, Cell: c.title(), Side: side.Name, Number: number, Dir: dir,
	}
	if err := r.prepare(ctx, c, s, req); err != nil {
		return outcome{}, fmt.Errorf("prepare: %w", err)
	}
	var before map[string]stamp
	if c.ReadOnly {
		var err error
		if before, err = stamps(r.made(side)); err != nil {
			return outcome{}, err
		}
	}
	req.Part = partRun
	done, err := r.do(ctx, req, c.Limit)
	if err != nil {
		return outcome{}, err
	}
	if c.ReadOnly {
		after, err := stamps(r.made(side))
		if err != nil {
			return outcome{}, err
		}
		if !maps.Equal(before, after) {
			return outcome{}, errors.New("it has changed what it may only read")
		}
	}
	o := outcome{measurement: done.Measurement}
	if o.measurement.FileSize == 0 {
		if o.measurement.FileSize, err = folderSize(dir); err != nil {
			return outcome{}, err
		}
	}
	if err := c.expect(o.measurement); err != nil {
		return outcome{}, err
	}
	if side.Check == nil {
		return o, nil
	}
	req.Part = partCheck
	done, err = r.do(ctx, req, nil)
	if err != nil {
		return outcome{}, fmt.Errorf("check: %w", err)
	}
	o.contents = done.Contents
	if o.contents.Entries != c.Entries {
		return outcome{}, fmt.Errorf("it has left %d entries instead of %d", o.contents.Entries, c.Entries)
	}
	return o, nil
}

// prepare makes the folder of a repetition: empty, by Prepare, or of what Prepare has made for
// cells that share it: as a copy, with links, or itself for those that work in place. What is in
// it is on disk, so that no later part pays for that.
func (r *runner) prepare(ctx context.Context, c Cell, s int, req request) error {
	side := c.Sides[s]
	if !c.shares(s) {
		if err := os.Mkdir(req.Dir, 0o755); err != nil || side.Prepare == nil {
			return err
		}
		req.Part = partPrepare
		if _, err := r.do(ctx, req, nil); err != nil {
			return err
		}
		return syncFolder(req.Dir)
	}
	target := req.Dir
	made := r.made(side)
	if _, err := os.Stat(made); errors.Is(err, os.ErrNotExist) {
		// It gets its name when it is whole.
		half := made + "-half"
		if err := errors.Join(os.RemoveAll(half), os.MkdirAll(half, 0o755)); err != nil {
			return err
		}
		req.Part, req.Number, req.Dir = partPrepare, 0, half
		if _, err := r.do(ctx, req, nil); err != nil {
			return err
		}
		if err := errors.Join(syncFolder(half), os.Rename(half, made)); err != nil {
			return err
		}
	}
	if c.ReadOnly {
		return linkFolder(target, made)
	}
	pass := func() error { return os.CopyFS(target, os.DirFS(made)) }
	if c.InPlace {
		pass = func() error { return os.Rename(made, target) }
	}
	if err := pass(); err != nil {
		return err
	}
	return syncFolder(target)
}

// do runs a process for req, with a limit if that is not nil.
func (r *runner) do(ctx context.Context, req request, limit func(pid int) (func(), error)) (response, error) {
	if err := ctx.Err(); err != nil {
		return response{}, err
	}
	p, err := start(ctx, false)
	if err != nil {
		return response{}, err
	}
	if limit != nil {
		done, err := limit(p.cmd.Process.Pid)
		if err != nil {
			p.Kill()
			_, _ = p.wait() // it had nothing to say yet
			return response{}, err
		}
		defer done()
	}
	p.send(req)
	answer, err := p.wait()
	if limit != nil && errors.Is(err, ErrKilled) {
		err = fmt.Errorf("%w: its limit may be too small", err)
	}
	return answer, err
}

// expect returns an error unless m is a measurement of the work that c promises.
func (c Cell) expect(m Measurement) error {
	switch {
	case m.Ops != c.Ops:
		return fmt.Errorf("it has done %d operations instead of %d", m.Ops, c.Ops)
	case c.Bytes != 0 && m.Bytes != c.Bytes:
		return fmt.Errorf("it has moved %d bytes instead of %d", m.Bytes, c.Bytes)
	case !(m.Value > 0) || math.IsInf(m.Value, 0):
		return fmt.Errorf("it has measured %v", m.Value)
	}
	return nil
}

// agree returns an error if two sides did not do the same in a repetition.
func agree(a, b outcome) error {
	none := bench.Contents{}
	switch {
	case a.measurement.Sum != b.measurement.Sum:
		return errors.New("it has read other entries than the side before")
	case a.contents != none && b.contents != none && a.contents != b.contents:
		return errors.New("it has left other entries than the side before")
	}
	return nil
}

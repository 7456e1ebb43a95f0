package matrix

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/okradb/okra-go/bench/suite"
)

// tally is what one goroutine did.
type tally struct {
	bytes int64
	sum   uint64 // of the words of all that was read
	at    []time.Duration
	took  []time.Duration
}

// read counts an entry, and reads all of it.
func (t *tally) read(key, value []byte) {
	t.bytes += int64(len(key) + len(value))
	t.sum += sumOf(key) + sumOf(value)
}

// sumOf returns the sum of the words of b, and of the bytes that are left.
func sumOf(b []byte) uint64 {
	var sum uint64
	for ; len(b) >= 8; b = b[8:] {
		sum += binary.LittleEndian.Uint64(b)
	}
	for _, x := range b {
		sum += uint64(x)
	}
	return sum
}

// measure does w in s.
func (w work) measure(s store, seed uint64) (suite.Measurement, error) {
	values := newValues(w.valueSize)
	all := make([][]step, w.goroutines)
	tallies := make([]tally, w.goroutines)
	for g := range all {
		all[g] = w.steps(seed, g)
		tallies[g].at = make([]time.Duration, 0, len(all[g]))
		tallies[g].took = make([]time.Duration, 0, len(all[g]))
	}
	errs := make([]error, w.goroutines)
	var wg sync.WaitGroup
	start := time.Now()
	for g := range all {
		wg.Go(func() { errs[g] = tallies[g].do(s, all[g], values, start) })
	}
	wg.Wait()
	elapsed := time.Since(start)

	var m suite.Measurement
	var sum uint64
	var at, took []time.Duration
	for _, t := range tallies {
		m.Ops += int64(len(t.took))
		m.Bytes += t.bytes
		sum += t.sum
		at, took = append(at, t.at...), append(took, t.took...)
	}
	m.Value = float64(m.Ops) / elapsed.Seconds()
	m.P50, m.P99 = suite.Percentiles(took)
	if w.operation.mixed {
		// What a scan meets of the inserts beside it is chance, and so is their sum.
		m.Timeline, m.TimelineStep = timeline(at, elapsed)
	} else {
		m.Sum = fmt.Sprintf("%016x", sum)
	}
	return m, errors.Join(errs...)
}

// do does steps in s, one after the other.
func (t *tally) do(s store, steps []step, values values, start time.Time) error {
	var key []byte
	last := time.Since(start)
	for _, step := range steps {
		key = appendKey(key[:0], step.key)
		if err := t.one(s, step, key, values); err != nil {
			return fmt.Errorf("key %x: %w", key, err)
		}
		now := time.Since(start)
		t.at, t.took = append(t.at, now), append(t.took, now-last)
		last = now
	}
	return nil
}

func (t *tally) one(s store, step step, key []byte, values values) error {
	switch step.kind {
	case get, miss:
		found, err := s.get(t, key)
		if err == nil && found != (step.kind == get) {
			err = fmt.Errorf("found is %t", found)
		}
		if !found {
			t.bytes += int64(len(key))
		}
		return err
	case scan:
		return s.scan(t, key)
	case put:
		value := values.of(step.key, step.version)
		t.bytes += int64(len(key) + len(value))
		return s.put(key, value)
	default:
		t.bytes += int64(len(key))
		return s.remove(key)
	}
}

// timelineSteps is into how many parts the time of a run is divided.
const timelineSteps = 20

// timeline returns the operations per second in each part of the elapsed time, and the length of
// a part in seconds, of operations that ended at the times in at.
func timeline(at []time.Duration, elapsed time.Duration) (perSecond []float64, step float64) {
	step = elapsed.Seconds() / timelineSteps
	perSecond = make([]float64, timelineSteps)
	for _, end := range at {
		i := min(int(end.Seconds()/step), timelineSteps-1)
		perSecond[i] += 1 / step
	}
	return slices.Clip(perSecond), step
}

package lifecycle

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// The tables of an experiment tracker.
const (
	metaTable = iota
	pointsTable
)

var trackerTables = []string{"meta", "points"}

// A run's metadata are records of these kinds, and its points are of series.
const (
	params   = 20 // that are logged once, of paramSize bytes each
	states   = 4  // of the run: its step, epoch, time and state
	series   = 20
	lasts    = series // running summaries, for each series the last value
	means    = series // and the mean
	allMeta  = params + states + lasts + means
	paramLen = 64
)

const (
	kindParam = iota
	kindState
	kindLast
	kindMean
)

const (
	metaKeySize  = 4 + 1 + 2     // run, kind, number
	pointKeySize = 4 + 2 + 1 + 4 // run, series, column, step
	numberSize   = 8
	columns      = 3 // of a point: value, epoch, time
)

// training is so many training runs of so many steps, in each of which every series gets a point.
type training struct {
	runs, steps int

	// live logs a run as it goes on: a record for each column of a point, and the summaries and
	// states again in each step. Else a point is one record and the summaries come at the end.
	live bool
}

// size is how many puts log t, and what is left of them, in entries and their bytes.
type size struct{ puts, putBytes, entries, bytes int64 }

func (t training) size() size {
	const metaBytes = params*(metaKeySize+paramLen) + (allMeta-params)*(metaKeySize+numberSize)
	const changing = lasts + means + states
	points, pointBytes := int64(series*t.steps), int64(pointKeySize+columns*numberSize)
	if t.live {
		points, pointBytes = columns*points, pointKeySize+numberSize
	}
	s := size{entries: allMeta + points, bytes: metaBytes + points*pointBytes}
	s.puts, s.putBytes = s.entries, s.bytes
	if t.live {
		again := int64(t.steps-1) * changing
		s.puts, s.putBytes = s.puts+again, s.putBytes+again*(metaKeySize+numberSize)
	}
	runs := int64(t.runs)
	return size{runs * s.puts, runs * s.putBytes, runs * s.entries, runs * s.bytes}
}

func metaKey(run int, kind byte, number int) []byte {
	k := binary.BigEndian.AppendUint32(make([]byte, 0, metaKeySize), uint32(run))
	return binary.BigEndian.AppendUint16(append(k, kind), uint16(number))
}

// seriesKey is the prefix of the keys of all points of a series.
func seriesKey(run, of int) []byte {
	k := binary.BigEndian.AppendUint32(make([]byte, 0, pointKeySize), uint32(run))
	return binary.BigEndian.AppendUint16(k, uint16(of))
}

func pointKey(run, of int, column byte, step int) []byte {
	return binary.BigEndian.AppendUint32(append(seriesKey(run, of), column), uint32(step))
}

// number returns the bytes of a number, the values of all records but parameters.
func number(x float64) []byte { return binary.BigEndian.AppendUint64(nil, math.Float64bits(x)) }

// log calls put with all that a run logs, in order.
func (t training) log(run int, put func(table int, key, value []byte) error) error {
	param := make([]byte, paramLen)
	for i := range params {
		fill(param, run*params+i)
		if err := put(metaTable, metaKey(run, kindParam, i), param); err != nil {
			return err
		}
	}
	random := rand.New(rand.NewPCG(uint64(run), 0))
	var last, sum [series]float64
	for step := range t.steps {
		epoch, now := float64(step/100), float64(1e9+run*t.steps+step)
		for i := range series {
			last[i] = random.NormFloat64()
			sum[i] += last[i]
			if err := t.point(run, i, step, last[i], epoch, now, put); err != nil {
				return err
			}
		}
		if !t.live && step < t.steps-1 {
			continue
		}
		for i := range series {
			if err := put(metaTable, metaKey(run, kindLast, i), number(last[i])); err != nil {
				return err
			}
			if err := put(metaTable, metaKey(run, kindMean, i), number(sum[i]/float64(step+1))); err != nil {
				return err
			}
		}
		for i, x := range [states]float64{float64(step), epoch, now, 1} {
			if err := put(metaTable, metaKey(run, kindState, i), number(x)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t training) point(run, of, step int, value, epoch, now float64, put func(table int, key, value []byte) error) error {
	if !t.live {
		all := bytes.Join([][]byte{number(value), number(epoch), number(now)}, nil)
		return put(pointsTable, pointKey(run, of, 0, step), all)
	}
	for column, x := range [columns]float64{value, epoch, now} {
		if err := put(pointsTable, pointKey(run, of, byte(column), step), number(x)); err != nil {
			return err
		}
	}
	return nil
}

// write logs t to s: a transaction a put if it is live, else a transaction a run. A transaction is
// an operation of c.
func (t training) write(s store, c *clock) (tally, error) {
	var done tally
	for run := range t.runs {
		var err error
		if t.live {
			err = t.log(run, func(table int, key, value []byte) error {
				done.wrote(key, value)
				return c.op(func() error {
					return s.update(func(tx txn) error { return tx.put(table, key, value) })
				})
			})
		} else {
			err = t.writeRun(s, c, run, &done)
		}
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// writeRun logs a run that has ended. Making its records is not timed.
func (t training) writeRun(s store, c *clock, run int, done *tally) error {
	type record struct {
		table      int
		key, value []byte
	}
	var records []record
	err := t.log(run, func(table int, key, value []byte) error {
		records = append(records, record{table, key, bytes.Clone(value)})
		done.wrote(key, value)
		return nil
	})
	if err != nil {
		return err
	}
	return c.op(func() error {
		return s.update(func(tx txn) error {
			for _, r := range records {
				if err := tx.put(r.table, r.key, r.value); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// readAll reads the metadata of all runs, and then each series that they name by a seek and a
// scan. A series is an operation of c.
func readAll(tx txn, c *clock) (tally, error) {
	var t tally
	var named [][]byte // prefixes of the series
	err := c.part(func() error {
		return tx.scan(metaTable, nil, func(key, value []byte) bool {
			t.add(key, value)
			if len(key) == metaKeySize && key[4] == kindLast {
				run, of := binary.BigEndian.Uint32(key), binary.BigEndian.Uint16(key[5:])
				named = append(named, seriesKey(int(run), int(of)))
			}
			return true
		})
	})
	if err != nil {
		return t, err
	}
	for _, prefix := range named {
		err := c.op(func() error {
			return tx.scan(pointsTable, prefix, func(key, value []byte) bool {
				if !bytes.HasPrefix(key, prefix) {
					return false
				}
				t.add(key, value)
				return true
			})
		})
		if err != nil {
			return t, err
		}
	}
	return t, nil
}

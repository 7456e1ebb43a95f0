package bench

import (
	"encoding/binary"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var benchEntries = flag.Int("entries", 10_000, "entries in the stores of the Go benchmarks")

// benchmarkRow measures row on both sides as Go benchmarks, without syncs, in stores that are
// filled once. The batches of iterations are made beforehand and used in turn.
func benchmarkRow(b *testing.B, row Row) {
	cfg, err := Config{NoSync: true, Seed: 1, Rows: []Row{row}}.withDefaults()
	if err != nil {
		b.Fatal(err)
	}
	r := newRunner(cfg, b.TempDir(), Row{}, *benchEntries)
	defer func() {
		if err := r.closeStores(); err != nil {
			b.Error(err)
		}
	}()
	if err := r.fillStores(b.Context()); err != nil {
		b.Fatal(err)
	}
	ops := row.Ops(*benchEntries)
	batches := make([]Batch, min(max(100_000/ops, 4), 1024))
	random := r.workload.random(row.Name)
	for i := range batches {
		if row.Prepare != nil {
			row.Prepare(r.workload, &batches[i], random, i)
		}
	}
	for s, store := range r.stores {
		b.Run(r.sides[s].name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				batch := &batches[i%len(batches)]
				if row.Writes {
					change(batch, i)
				}
				tally, err := store.run(row, batch)
				if err != nil || tally.Entries != ops {
					b.Fatalf("%d entries touched instead of %d: %v", tally.Entries, ops, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*ops), "ns/entry")
		})
	}
}

// change gives the entries of b values that they did not have before: a write of what is there
// already may cost next to nothing.
func change(b *Batch, i int) {
	for j := range b.Len() {
		binary.BigEndian.PutUint32(b.Value(j)[4:], uint32(i))
	}
}

func BenchmarkGet(b *testing.B)     { benchmarkRow(b, getRow("get", 1, 1)) }
func BenchmarkGet100(b *testing.B)  { benchmarkRow(b, getRow("get", 100, 1)) }
func BenchmarkIterate(b *testing.B) { benchmarkRow(b, iterateRow("iterate")) }
func BenchmarkSet(b *testing.B)     { benchmarkRow(b, setRow("set", 1, 1)) }
func BenchmarkSet100(b *testing.B)  { benchmarkRow(b, setRow("set", 100, 1)) }
func BenchmarkSet1k(b *testing.B)   { benchmarkRow(b, setRow("set", 1000, 1)) }
func BenchmarkSet50k(b *testing.B)  { benchmarkRow(b, setRow("set", 50_000, 1)) }

// BenchmarkGetParallel is gets by 16 goroutines, 320 Views of 100 in an operation.
func BenchmarkGetParallel(b *testing.B) { benchmarkRow(b, getsLine(16, goroutineViews, false)) }

// BenchmarkLoad fills an empty store.
func BenchmarkLoad(b *testing.B) {
	r := newRunner(Config{NoSync: true, Seed: 1, ValueSize: 8}, b.TempDir(), Row{}, *benchEntries)
	row := loadRow("load")
	row.Prepare(r.workload, &r.batch, r.workload.random(row.Name), 0)
	for _, side := range r.sides {
		b.Run(side.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				path := filepath.Join(r.dir, side.name)
				store, err := side.open(path, r.options)
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				_, err = store.run(row, &r.batch)
				b.StopTimer()
				if err == nil {
					_, err = r.verify(store, &r.batch)
				}
				if err := errors.Join(err, store.close(), os.RemoveAll(path)); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N**benchEntries), "ns/entry")
		})
	}
}

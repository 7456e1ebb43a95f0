package replication

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/okradb/okra-go/okra"
	okrasync "github.com/okradb/okra-go/sync"
)

// sample is one session.
type sample struct {
	summary okrasync.Summary
	time    time.Duration
	cpu     time.Duration // of both sides
	heap    int64         // bytes: the most that both sides together had on Go's heap
	load    time.Duration // of Empty: a load of the same entries
}

type operation func(context.Context, okrasync.Conn, *okra.DB, *okrasync.Options) (okrasync.Summary, error)

// session runs one session over a new connection.
func session(ctx context.Context, link Link, ours, theirs *okra.DB, op operation) (s sample, err error) {
	// Garbage is collected early, so that the heap is what the sides need.
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	runtime.GC()
	heap := watchHeap()
	cpu := processorTime()
	start := time.Now()

	a, b := link.Pipe()
	served := make(chan error, 1)
	go func() {
		_, err := okrasync.Serve(ctx, b, theirs, &okrasync.ServeOptions{Write: true})
		served <- errors.Join(err, b.Close())
	}()
	s.summary, err = op(ctx, a, ours, &okrasync.Options{Resolve: okrasync.Theirs})
	s.time, s.cpu = time.Since(start), processorTime()-cpu
	s.heap = heap()
	return s, errors.Join(err, a.Close(), <-served)
}

// watchHeap returns a function that ends the watch and returns by how many bytes the heap has
// grown at most.
func watchHeap() func() int64 {
	read := func() int64 {
		m := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(m)
		return int64(m[0].Value.Uint64())
	}
	base, most := read(), int64(0)
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			most = max(most, read()-base)
			select {
			case <-tick.C:
			case <-end:
				return
			}
		}
	}()
	return func() int64 {
		close(end)
		<-ended
		return most
	}
}

package suite

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"time"
)

// Random returns the random numbers of the repetition, from their beginning.
func (r *Rep) Random() *rand.Rand { return rand.New(rand.NewPCG(r.Seed, 0)) }

// Start starts the helper of that name in a process of its own, with the same Rep. It ends with
// this process, if it was not waited for.
func (r *Rep) Start(helper string) (*Process, error) {
	p, err := start(context.Background(), true)
	if err != nil {
		return nil, err
	}
	req := r.request
	req.Part = helper
	p.send(req)
	return p, nil
}

// Crash ends this process as SIGKILL does: nothing is closed and nothing is written.
func Crash() {
	self, err := os.FindProcess(os.Getpid())
	if err = errors.Join(err, self.Kill()); err != nil {
		panic(err) // there is no reason why a process may not kill itself
	}
	select {}
}

// ErrNotCold is the error of [Cold] and [DropCache] where files cannot be read from a disk.
var ErrNotCold = errors.New("cold cannot be had")

// Percentiles returns the median and the 99th percentile of times in µs, 0 and 0 if there are
// none. It sorts times.
func Percentiles(times []time.Duration) (p50, p99 float64) {
	if len(times) == 0 {
		return 0, 0
	}
	slices.Sort(times)
	at := func(share float64) float64 {
		return float64(times[int(share*float64(len(times)-1))].Nanoseconds()) / 1e3
	}
	return at(0.5), at(0.99)
}

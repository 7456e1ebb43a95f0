package lmdbenv

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// A gate counts the transactions of this process in an environment, and keeps new ones out
// while it is closed, or for as long as someone needs the environment alone: LMDB must not be
// closed or mapped anew under a transaction, and does not look.
type gate struct {
	active  atomic.Int64
	state   atomic.Int32  // gateOpen and so on
	drained chan struct{} // a token when active came to 0 while not open

	mu sync.Mutex // held by the one who has shut the gate
}

const (
	gateOpen int32 = iota
	gateShut       // for a time
	gateClosed
)

func newGate() *gate { return &gate{drained: make(chan struct{}, 1)} }

// enter counts a transaction in. It waits while the gate is shut and gives ErrClosed when it is
// closed.
func (g *gate) enter() error {
	for {
		g.active.Add(1)
		state := g.state.Load()
		if state == gateOpen {
			return nil
		}
		g.leave()
		if state == gateClosed {
			return ErrClosed
		}
		g.wait()
	}
}

// wait returns when a gate that is shut has been opened.
func (g *gate) wait() {
	g.mu.Lock() // whoever shut the gate has it
	defer g.mu.Unlock()
}

// close keeps new transactions out for good.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state.Store(gateClosed)
}

// leave counts a transaction out.
func (g *gate) leave() {
	if g.active.Add(-1) == 0 && g.state.Load() != gateOpen {
		select {
		case g.drained <- struct{}{}:
		default:
		}
	}
}

// drain waits until no transaction is under way, or for ctx.
func (g *gate) drain(ctx context.Context) error {
	for g.active.Load() > 0 {
		select {
		case <-g.drained:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// alone runs fn while no transaction is under way and none begins. If those under way do not
// end within patience it gives context.DeadlineExceeded.
func (g *gate) alone(patience time.Duration, fn func() error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.state.CompareAndSwap(gateOpen, gateShut) {
		return ErrClosed
	}
	defer g.state.CompareAndSwap(gateShut, gateOpen)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := g.drain(ctx); err != nil {
		return err
	}
	return fn()
}

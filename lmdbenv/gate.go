package lmdbenv

import (
	"context"
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
	single  chan struct{} // a token: the right to be alone
}

const (
	gateOpen int32 = iota
	gateShut       // for a time
	gateClosed
)

func newGate() *gate {
	g := &gate{drained: make(chan struct{}, 1), single: make(chan struct{}, 1)}
	g.single <- struct{}{}
	return g
}

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
		<-g.single // whoever shut the gate has it
		g.single <- struct{}{}
	}
}

// leave counts a transaction out.
func (g *gate) leave() {
	if g.active.Add(-1) == 0 && g.state.Load() != gateOpen {
		g.stir()
	}
}

// stir makes the one who drains look again.
func (g *gate) stir() {
	select {
	case g.drained <- struct{}{}:
	default:
	}
}

// close keeps new transactions out for good. Whoever waits to be alone gives up.
func (g *gate) close() {
	g.state.Store(gateClosed)
	g.stir()
}

// drain waits until no transaction is under way and nobody is alone, or for ctx.
func (g *gate) drain(ctx context.Context) error {
	select {
	case <-g.single:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { g.single <- struct{}{} }()
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
// end within patience it gives context.DeadlineExceeded, and ErrClosed if the gate is closed.
func (g *gate) alone(patience time.Duration, fn func() error) error {
	<-g.single
	defer func() { g.single <- struct{}{} }()
	if !g.state.CompareAndSwap(gateOpen, gateShut) {
		return ErrClosed
	}
	defer g.state.CompareAndSwap(gateShut, gateOpen)
	timeout := time.After(patience)
	for g.active.Load() > 0 {
		select {
		case <-g.drained:
		case <-timeout:
			return context.DeadlineExceeded
		}
		if g.state.Load() == gateClosed {
			return ErrClosed
		}
	}
	return fn()
}

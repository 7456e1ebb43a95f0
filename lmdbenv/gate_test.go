package lmdbenv

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// patience is longer than any wait of a test that works, on a machine however slow.
const patience = 2 * time.Minute

// Transactions come and go through a gate while others want to be alone behind it: nobody is
// alone while a transaction is under way, and nobody waits for ever. After close all are kept
// out, and drain returns when the last is gone.
func TestL2L11Gate(t *testing.T) {
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	for round := range rounds {
		g := newGate()
		var under, lonely, times atomic.Int64
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for {
					if err := g.enter(); err != nil {
						if !errors.Is(err, ErrClosed) {
							t.Errorf("enter gives %v", err)
						}
						return
					}
					under.Add(1)
					if lonely.Load() != 0 {
						t.Error("a transaction begins while somebody is alone")
					}
					under.Add(-1)
					g.leave()
					runtime.Gosched()
				}
			})
		}
		for range 3 {
			wg.Go(func() {
				for {
					err := g.alone(patience, func() error {
						if lonely.Add(1) != 1 || under.Load() != 0 {
							t.Error("somebody is not alone")
						}
						times.Add(1)
						lonely.Add(-1)
						return nil
					})
					if err != nil {
						if !errors.Is(err, ErrClosed) {
							t.Errorf("alone gives %v", err)
						}
						return
					}
				}
			})
		}
		for times.Load() < 20 {
			time.Sleep(time.Millisecond)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		for range 1 + round%3 {
			wg.Go(func() {
				g.close()
				if err := g.drain(ctx); err != nil {
					t.Errorf("drain gives %v", err)
				}
				if n := under.Load() + lonely.Load(); n != 0 {
					t.Errorf("%d are behind the gate after drain", n)
				}
			})
		}
		wg.Wait()
		cancel()
		if err := g.enter(); !errors.Is(err, ErrClosed) {
			t.Errorf("enter after close gives %v", err)
		}
		err := g.alone(patience, func() error { t.Error("alone after close"); return nil })
		if !errors.Is(err, ErrClosed) {
			t.Errorf("alone after close gives %v", err)
		}
	}
}

// Who wants to be alone gives up after his patience, or when the gate is closed, and the gate
// is as before; drain gives up with its context. A transaction that waits behind them goes on.
func TestL2L11GateGivesUp(t *testing.T) {
	g := newGate()
	never := func() error { t.Error("the function runs"); return nil }
	if err := g.enter(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		waiting := make(chan error)
		go func() {
			err := g.enter() // perhaps while the gate is shut
			if err == nil {
				g.leave()
			}
			waiting <- err
		}()
		if err := g.alone(time.Millisecond, never); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("alone gives %v", err)
		}
		if err := <-waiting; err != nil {
			t.Errorf("enter gives %v", err)
		}
	}
	alone := make(chan error)
	go func() { alone <- g.alone(patience, never) }()
	for g.state.Load() != gateShut {
		time.Sleep(time.Millisecond)
	}
	g.close()
	if err := <-alone; !errors.Is(err, ErrClosed) {
		t.Errorf("alone gives %v at the close", err)
	}
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if err := g.drain(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("drain gives %v", err)
		}
		cancel()
	}
	drained := make(chan error)
	go func() { drained <- g.drain(context.Background()) }()
	g.leave()
	if err := <-drained; err != nil {
		t.Errorf("drain gives %v", err)
	}
}

// A map that cannot be grown, because a transaction does not end, is none the worse: neither its
// size nor what is in it.
func TestL2GrowGivesUp(t *testing.T) {
	e, err := Open(t.TempDir(), Options{NoSync: true, MapSize: 1 << 20, GrowTimeout: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.Background())
	size := func() int64 {
		info, err := e.env.Info()
		if err != nil {
			t.Fatal(err)
		}
		return info.MapSize
	}
	txn, err := e.BeginRead()
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := e.grow(); !errors.Is(err, ErrMapFull) || size() != 1<<20 {
			t.Errorf("grow gives %v and a map of %d bytes", err, size())
		}
		if err := e.adopt(); !errors.Is(err, ErrMapResized) || size() != 1<<20 {
			t.Errorf("adopt gives %v and a map of %d bytes", err, size())
		}
	}
	e.EndRead(txn)
	for want := int64(2 << 20); want < 1<<25; want *= 2 { // though no commit tells the file of it
		if err := e.grow(); err != nil || size() != want {
			t.Errorf("grow gives %v and a map of %d bytes, want %d", err, size(), want)
		}
		if err := e.adopt(); err != nil || size() > want {
			t.Errorf("adopt gives %v and a map of %d bytes", err, size())
		}
		if err := e.grow(); err != nil {
			t.Error(err)
		}
		if err := e.env.SetMapSize(want); err != nil {
			t.Fatal(err)
		}
	}
}

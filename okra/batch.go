package okra

import (
	"errors"
	"runtime"
	"sync"
	"time"
)

// Limits of one shared transaction of [DB.Batch]. What comes beyond goes to the next.
const (
	groupMost = 1024                  // functions
	groupTime = 20 * time.Millisecond // to run them, before the commit
)

// errPanic stands for the panic of a function until its own goroutine has it.
var errPanic = errors.New("function panicked")

// A group gathers the functions of concurrent Batches into shared transactions. There is no
// goroutine of its own and no waiting for company: the functions that come while one
// transaction commits make up the next, which the first of them runs.
type group struct {
	mu    sync.Mutex
	queue []*member
	led   bool // somebody runs a transaction
}

// A member is one call of Batch.
type member struct {
	fn    func(*Tx) error
	err   error
	panic any
	lead  chan struct{} // a token: run the next transaction
	done  chan struct{} // closed when err or panic is set
}

// Batch is [DB.Update] for many goroutines that write little each: functions that are in flight
// together share one transaction and its flush to disk, which is nearly all that a small
// durable write costs. It returns when the transaction with fn has been committed.
//
// If fn returns an error it is undone and Batch returns that error, while the others commit.
// To undo it the transaction is begun again without it, so functions may run more than once,
// the last time counts, and they must not depend on what they left in memory before. They run
// in the goroutine of any of the callers; a panic is passed on to the caller whose it is. A
// shared transaction takes at most 1024 functions, or as many as ran within 20 ms.
func (db *DB) Batch(fn func(*Tx) error) error {
	if db.env.InUpdate() {
		return ErrNested
	}
	m := &member{fn: fn, lead: make(chan struct{}, 1), done: make(chan struct{})}
	if db.group.join(m) {
		db.lead()
	} else {
		select {
		case <-m.done:
		case <-m.lead:
			db.lead()
		}
	}
	<-m.done
	if m.panic != nil {
		panic(m.panic)
	}
	return m.err
}

// join queues m and reports whether its caller is to run the next transaction.
func (g *group) join(m *member) (leads bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.queue = append(g.queue, m)
	leads = !g.led
	g.led = true
	return leads
}

// next returns the members of the next transaction.
func (g *group) next() []*member {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := min(len(g.queue), groupMost)
	members := g.queue[:n:n]
	g.queue = g.queue[n:]
	return members
}

// pass puts back members that did not get their turn and lets the first that waits lead.
func (g *group) pass(back []*member) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.queue = append(back, g.queue...)
	g.led = len(g.queue) > 0
	if g.led {
		g.queue[0].lead <- struct{}{}
	}
}

// lead runs one transaction and then lets another member lead.
func (db *DB) lead() {
	runtime.Gosched() // those whom the last transaction let go may come again in time
	members := db.group.next()
	var back []*member
	defer func() {
		// Should a function have ended the goroutine, as a failing test does, nobody may be left
		// waiting.
		for _, m := range members {
			m.finish(ErrTxFailed)
		}
		db.group.pass(back)
	}()
	for len(members) > 0 {
		ran, bad, err := db.share(members)
		if bad {
			members[ran].finish(err)
			members = append(members[:ran:ran], members[ran+1:]...)
			continue
		}
		if err != nil {
			ran = len(members) // the transaction failed: so it does for all
		}
		for _, m := range members[:ran] {
			m.finish(err)
		}
		members, back = nil, members[ran:]
	}
}

// share runs members in one transaction. It returns how many ran well, and whether the one
// after them failed, which err is then of, so that the transaction was aborted.
func (db *DB) share(members []*member) (ran int, bad bool, err error) {
	err = db.Update(func(tx *Tx) error {
		ran, bad = 0, false
		begin := time.Now()
		for _, m := range members {
			if ran > 0 && time.Since(begin) > groupTime {
				break
			}
			if err := m.run(tx); err != nil {
				bad = true
				return err
			}
			ran++
		}
		return nil
	})
	return ran, bad, err
}

// run calls the function, and turns a panic into an error.
func (m *member) run(tx *Tx) (err error) {
	m.panic = nil
	defer func() {
		if p := recover(); p != nil {
			m.panic, err = p, errPanic
		}
	}()
	return m.fn(tx)
}

func (m *member) finish(err error) {
	m.err = err
	close(m.done)
}

package okra_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/okradb/okra-go/okra"
)

// fewThreads reports a process that has grown threads with its so many goroutines: the runtime
// kills one that has 10,000. It has one for each processor, and on a busy machine some more.
func fewThreads(t *testing.T, goroutines int, doing string) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return // not Linux: nothing tells
	}
	_, rest, _ := bytes.Cut(status, []byte("\nThreads:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, err := strconv.Atoi(string(bytes.TrimSpace(line)))
	if err != nil || n > goroutines/10+runtime.GOMAXPROCS(0) {
		t.Errorf("%s: the process has %d threads (%v)", doing, n, err)
	}
}

// add returns a transaction that adds one to a counter.
func add(tx *okra.Tx) error {
	n, err := counter(tx)
	if err != nil {
		return err
	}
	return tx.Put([]byte("counter"), strconv.AppendInt(nil, int64(n+1), 10))
}

// counter reads what add has counted.
func counter(tx *okra.Tx) (int, error) {
	v, err := tx.Get([]byte("counter"))
	if errors.Is(err, okra.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(v))
}

// 20,000 goroutines that wait for their turn to write, some to Update and some to Batch, cost
// no thread each. Those whose context ends give up; the others all have their turn.
func TestL12L14L18ManyWaitingWriters(t *testing.T) {
	alone(t, func(t *testing.T) {
		const n = manyGoroutines
		db := newStore(t, okra.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		var started, over sync.WaitGroup
		var patient, gaveUp, failed atomic.Int64
		started.Add(n)
		updateOK(t, db, func(tx *okra.Tx) error {
			for i := range n {
				over.Go(func() {
					started.Done()
					var err error
					switch i % 4 {
					case 0:
						err = db.Update(add)
					case 1:
						err = db.Batch(add)
					default:
						err = db.UpdateContext(ctx, add)
					}
					switch {
					case err == nil:
						patient.Add(1)
					case errors.Is(err, context.Canceled) && i%4 >= 2:
						gaveUp.Add(1)
					default:
						failed.Add(1)
						t.Errorf("writer %d: %v", i, err)
					}
				})
			}
			started.Wait()
			fewThreads(t, n, "writers begin to wait")
			viewOK(t, db, func(*okra.Tx) error { return nil }) // readers need not wait
			cancel()
			for gaveUp.Load()+failed.Load() < n/2 {
				runtime.Gosched()
			}
			fewThreads(t, n, "half of the writers have given up")
			return put("a", "1")(tx)
		})
		over.Wait()
		fewThreads(t, n, "all writers have had their turn")
		viewOK(t, db, func(tx *okra.Tx) error {
			got, err := counter(tx)
			if got != n/2 || patient.Load() != n/2 || gaveUp.Load() != n/2 {
				t.Errorf("the counter is %d, %d writers had their turn and %d gave up, want %d",
					got, patient.Load(), gaveUp.Load(), n/2)
			}
			return err
		})
	})
}

// Ten thousand Views at once, while somebody writes, need no thread each, and give back nearly all
// of the slots that they took: how many at a time is the scheduler's choice.
func TestL7L14TenThousandViews(t *testing.T) {
	alone(t, func(t *testing.T) {
		const n = min(10000, manyGoroutines)
		db := newStore(t, okra.Options{MaxReaders: n + 1})
		updateOK(t, db, fill("e", 100))
		var over sync.WaitGroup
		var done atomic.Bool
		go func() {
			defer done.Store(true)
			for i := range n {
				over.Go(func() {
					err := db.View(func(tx *okra.Tx) error {
						v, err := tx.Get(fmt.Appendf(nil, "e %06d", i%100))
						if err == nil && !bytes.Equal(v, kibi("e", i%100)) {
							err = fmt.Errorf("the value is %q", v)
						}
						return err
					})
					if err != nil {
						t.Errorf("View %d: %v", i, err)
					}
				})
			}
		}()
		for !done.Load() {
			updateOK(t, db, add)
		}
		over.Wait()
		fewThreads(t, n, "Views")
		s := statsOf(t, db)
		if s.Slots > 100 {
			t.Errorf("%d reader slots stay taken", s.Slots)
		}
	})
}

// Views that are all open at the same time take a slot each, and no thread. Beyond the slots
// there is an error, for those only who have none.
func TestL7L14OpenViews(t *testing.T) {
	alone(t, func(t *testing.T) {
		const slots = min(5000, manyGoroutines/2)
		db := newStore(t, okra.Options{MaxReaders: slots})
		updateOK(t, db, put("a", "1"))
		var open, over sync.WaitGroup
		end := make(chan struct{})
		open.Add(slots)
		for range slots {
			over.Go(func() {
				err := db.View(func(tx *okra.Tx) error {
					open.Done()
					<-end
					return wantContent("a", "1")(tx)
				})
				wantIs(t, "View", err, nil)
			})
		}
		open.Wait()
		fewThreads(t, slots, "Views are open")
		for range 10 {
			wantIs(t, "one View more", db.View(put()), okra.ErrReadersFull)
		}
		updateOK(t, db, put("a", "2")) // needs none
		close(end)
		over.Wait()
		viewOK(t, db, wantContent("a", "2"))
	})
}

// UpdateContext whose context has ended never runs its function, whether its turn has come or
// not; one whose context ends later is not disturbed.
func TestL14L18ContextThatHasEnded(t *testing.T) {
	db := newStore(t, okra.Options{})
	cause := errors.New("the cause")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	ran := 0
	for range 100 {
		err := db.UpdateContext(ctx, func(*okra.Tx) error { ran++; return nil })
		if err == nil || !errors.Is(err, context.Canceled) && !errors.Is(err, cause) {
			t.Errorf("UpdateContext gives %v", err)
			break
		}
	}
	if ran > 0 {
		t.Errorf("the function ran %d times after the end of its context", ran)
	}
	ctx, end := context.WithCancel(t.Context())
	err := db.UpdateContext(ctx, func(tx *okra.Tx) error { end(); return put("a", "1")(tx) })
	wantIs(t, "UpdateContext", err, nil)
	viewOK(t, db, wantContent("a", "1"))
}

// Every way to write inside a write transaction is an error at once, also from within a Batch
// and with a context; the transaction around it goes on.
func TestL13EveryWriteInside(t *testing.T) {
	alone(t, func(t *testing.T) {
		db := newStore(t, okra.Options{Table: "main"})
		never := func(*okra.Tx) error { t.Error("the inner function runs"); return nil }
		inside := func(tx *okra.Tx) error {
			wantIs(t, "Update", db.Update(never), okra.ErrNested)
			wantIs(t, "UpdateContext", db.UpdateContext(soon(t), never), okra.ErrNested)
			wantIs(t, "Batch", db.Batch(never), okra.ErrNested)
			_, err := db.Table("more", okra.Format{})
			wantIs(t, "Table", err, okra.ErrNested)
			s, err := db.Snapshot()
			if err != nil {
				return err
			}
			wantIs(t, "Update in a snapshot's View",
				s.View(func(*okra.Tx) error { return db.Update(never) }), okra.ErrNested)
			return errors.Join(s.Close(), add(tx))
		}
		updateOK(t, db, inside)
		wantIs(t, "UpdateContext", db.UpdateContext(soon(t), inside), nil)
		wantIs(t, "Batch", db.Batch(inside), nil)
		viewOK(t, db, wantContent("counter", "3"))
	})
}

// A write transaction that takes long holds up other writers only: Views and snapshots go on,
// and who waits to write with a context has an end.
func TestL18SlowWriter(t *testing.T) {
	alone(t, func(t *testing.T) {
		db := newStore(t, okra.Options{})
		updateOK(t, db, put("a", "old"))
		updateOK(t, db, func(tx *okra.Tx) error {
			if err := put("a", "new")(tx); err != nil {
				return err
			}
			got := make(chan error)
			go func() {
				var err error
				for range 100 {
					err = errors.Join(err, db.View(wantContent("a", "old")))
				}
				s, snapErr := db.Snapshot()
				if snapErr == nil {
					snapErr = errors.Join(s.View(wantContent("a", "old")), s.Close())
				}
				_, statsErr := db.Stats()
				got <- errors.Join(err, snapErr, statsErr)
				for range 3 {
					got <- db.UpdateContext(brief(t), func(*okra.Tx) error {
						t.Error("the function runs")
						return nil
					})
				}
			}()
			wantIs(t, "Views", <-got, nil)
			for range 3 {
				wantIs(t, "UpdateContext", <-got, context.DeadlineExceeded)
			}
			return nil
		})
		viewOK(t, db, wantContent("a", "new"))
	})
}

// While another process is in a write transaction, one writer of this process waits for it in
// LMDB, where no context reaches; those behind it can give up, Views go on, and when the other
// has ended, or was killed, the first has its turn.
func TestL12L18WriterOfAnotherProcess(t *testing.T) {
	part := func(t *testing.T, p *parent) {
		db := storeIn(t, p.arg, okra.Options{})
		updateOK(t, db, func(tx *okra.Tx) error {
			if err := put("a", "theirs")(tx); err != nil {
				return err
			}
			p.tell("done")
			p.hear()
			return nil
		})
		p.tell("committed")
	}
	if isChild(t, parts{"writer": part}) {
		return
	}
	for _, killed := range []bool{false, true} {
		dir := t.TempDir()
		db := storeIn(t, dir, okra.Options{})
		updateOK(t, db, put("a", "mine"))
		c := start(t, "writer", dir)
		c.hear("done")
		first := make(chan error, 1)
		go func() { first <- db.Update(put("b", "mine")) }()
		forLMDB.await(t)
		for range 3 {
			err := db.UpdateContext(brief(t), put("c", "never"))
			wantIs(t, "UpdateContext", err, context.DeadlineExceeded)
			viewOK(t, db, wantContent("a", "mine"))
		}
		want := []string{"a", "theirs", "b", "mine"}
		if killed {
			c.kill()
			want[1] = "mine"
		} else {
			c.tell("go")
			c.hear("committed")
			c.end()
		}
		wantIs(t, "the first writer", <-first, nil)
		viewOK(t, db, wantContent(want...))
	}
}

package sync

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/okradb/okra-go/okra"
)

func FuzzMessages(f *testing.F) {
	o := openingOf(wantItems)
	o.window.upper = []byte("upper")
	a := ack{made: Changes{Added: 2}, root: o.root}
	a.refused.add(ReasonChanged, false, []byte("key"), "why")
	for _, b := range [][]byte{o.encode(), headingOf(statusList).encode(), ending{cut: []byte("k"), root: o.root}.encode(), a.encode(1 << 12)} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		check := func(again []byte, err error) {
			if err != nil {
				if !errors.Is(err, ErrProtocol) {
					t.Errorf("%v", err)
				}
				return
			}
			if len(again) == 0 {
				t.Error("nothing")
			}
		}
		o, err := decodeOpening(b)
		check(o.encode(), err)
		h, err := decodeHeading(b)
		check(h.encode(), err)
		e, err := decodeEnding(b, 16)
		check(e.encode(), err)
		a, err := decodeAck(b, 16, 1000)
		check(a.encode(1<<12), err)
		if made := a.made.Total(); err == nil && (made < 0 || made+int64(a.refused.count) > 1000) {
			t.Errorf("%+v", a)
		}
	})
}

// fed is a conn that gives b and takes everything.
type fed struct{ b []byte }

func (c *fed) Read(b []byte) (int, error) {
	if len(c.b) == 0 {
		return 0, io.EOF
	}
	n := copy(b, c.b)
	c.b = c.b[n:]
	return n, nil
}
func (*fed) Write(b []byte) (int, error)      { return len(b), nil }
func (*fed) SetReadDeadline(time.Time) error  { return nil }
func (*fed) SetWriteDeadline(time.Time) error { return nil }

func fuzzWire(b []byte) *wire {
	limits, _ := Limits{MaxFrame: leastFrame, MaxValue: 1 << 16}.withDefaults()
	return newWire(context.Background(), &fed{b}, limits)
}

func FuzzList(f *testing.F) {
	f.Add(frame(frameList, listOf(listEnd, 0, 0, 2, 2, 2, 7, 7)))
	f.Add(frame(frameList, listOf(listEnd, 3, 9, 1, 3, 0, 3, 2, 7, 7, 7, 1, 2)))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := readList(fuzzWire(b))
		if err != nil {
			return
		}
		for {
			if _, ok, err := r.next(); !ok || err != nil {
				return
			}
			for {
				if _, ok, err := r.hash(); err != nil {
					return
				} else if !ok {
					break
				}
			}
		}
	})
}

func FuzzItems(f *testing.F) {
	f.Add(join(frame(frameItems, itemOf(itemValue, "a", "value", 5, 7)), frame(frameDone, nil)))
	f.Add(join(frame(frameItems, itemOf(itemValue, "a", "value", 9, 7)), frame(frameChunk, []byte("more")), frame(frameDone, nil)))
	f.Add(frame(frameItems, join(itemOf(itemName, "a", "", 0, 0), itemOf(itemTooLarge, "b", "", 5, 0))))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := itemReader{w: fuzzWire(b), t: frameItems, k: 16, phase: "fuzz", allowed: func(k kind) bool { return k <= itemTooLarge }}
		last := ""
		for {
			i, ok, err := r.next()
			if !ok || err != nil {
				return
			}
			if string(i.key) <= last || len(i.key) > okra.MaxKey || int64(len(i.value)) > 1<<16 {
				t.Errorf("key %q after %q", i.key, last)
			}
			last = string(i.key)
		}
	})
}

// recorded returns what each side of a session sends.
func recorded(f *testing.F, op func(context.Context, Conn, *okra.DB, *Options) (Summary, error)) (asking, serving []byte) {
	client, server := victim(f, 40), victim(f, 60)
	if err := client.Update(func(tx *okra.Tx) error { return tx.Put([]byte("only here"), nil) }); err != nil {
		f.Fatal(err)
	}
	a, b := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = Serve(context.Background(), &tee{b, &serving}, server, &ServeOptions{Write: true})
		b.Close()
	}()
	if _, err := op(context.Background(), &tee{a, &asking}, client, nil); err != nil {
		f.Fatal(err)
	}
	a.Close()
	<-done
	return asking, serving
}

type tee struct {
	net.Conn
	to *[]byte
}

func (c *tee) Write(b []byte) (int, error) {
	*c.to = append(*c.to, b...)
	return c.Conn.Write(b)
}

func FuzzServe(f *testing.F) {
	asking, _ := recorded(f, Sync)
	f.Add(asking)
	asking, _ = recorded(f, Pull)
	f.Add(asking)
	was := bounds
	bounds.many = 0 // so that the peer's keys are asked for
	f.Cleanup(func() { bounds = was })
	asking, _ = recorded(f, Push)
	f.Add(asking)
	db := victim(f, 60)
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = Serve(context.Background(), &fed{b}, db, &ServeOptions{Write: true, Limits: Limits{MaxValue: 1 << 16}})
	})
}

func FuzzAsk(f *testing.F) {
	for _, op := range []func(context.Context, Conn, *okra.DB, *Options) (Summary, error){Sync, Pull, Push} {
		_, serving := recorded(f, op)
		f.Add(serving)
	}
	was := bounds
	bounds.many = 0 // so that the peer asks for keys
	_, serving := recorded(f, Push)
	f.Add(serving)
	bounds = was
	db := victim(f, 40)
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, op := range []func(context.Context, Conn, *okra.DB, *Options) (Summary, error){Sync, Push} {
			sum, err := op(context.Background(), &fed{b}, db, &Options{Resolve: Larger, Limits: Limits{MaxValue: 1 << 16}})
			if err != nil && sum.Complete {
				t.Errorf("%+v, %v", sum, err)
			}
		}
	})
}

package sync_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/okradb/okra-go/okra"
	okrasync "github.com/okradb/okra-go/sync"
)

// peerThat runs both sides against a peer that does something else.
func peerThat(t *testing.T, do func(net.Conn)) (asking, serving error) {
	t.Helper()
	limits := okrasync.Limits{Timeout: 150 * time.Millisecond}
	db := open(t, 4)
	write(t, db, numbered("k", 100))
	before := rootOf(t, db)
	try := func(fn func(net.Conn) error) (err error) {
		inTime(t, func() {
			a, b := net.Pipe()
			done := make(chan struct{})
			go func() { do(b); close(done) }()
			start := time.Now()
			err = fn(a)
			if d := time.Since(start); d > time.Second {
				t.Errorf("took %v", d)
			}
			a.Close()
			<-done
			b.Close()
		})
		return err
	}
	asking = try(func(c net.Conn) error {
		_, err := okrasync.Sync(context.Background(), c, db, &okrasync.Options{Limits: limits})
		return err
	})
	serving = try(func(c net.Conn) error {
		_, err := okrasync.Serve(context.Background(), c, db, &okrasync.ServeOptions{Write: true, Limits: limits})
		return err
	})
	if rootOf(t, db) != before {
		t.Error("the store has changed")
	}
	noSnapshots(t, db)
	return asking, serving
}

func wantErr(t *testing.T, what string, err, want error, text string) {
	t.Helper()
	if !errors.Is(err, want) || !strings.Contains(fmt.Sprint(err), text) {
		t.Errorf("%s: %v, want %v with %q", what, err, want, text)
	}
}

func TestS10PeerIsSilent(t *testing.T) {
	asking, serving := peerThat(t, func(c net.Conn) { io.Copy(io.Discard, c) })
	wantErr(t, "asking", asking, okrasync.ErrTimeout, "wait for the peer")
	wantErr(t, "serving", serving, okrasync.ErrTimeout, "wait for the peer")
	asking, serving = peerThat(t, func(c net.Conn) { // and does not even read
		time.Sleep(300 * time.Millisecond)
	})
	wantErr(t, "asking", asking, okrasync.ErrTimeout, "wait for the peer")
	wantErr(t, "serving", serving, okrasync.ErrTimeout, "wait for the peer")
}

func TestS10PeerIsSlow(t *testing.T) {
	slow := func(c net.Conn) {
		go io.Copy(io.Discard, c)
		c.Write([]byte("okra\x01\x80\x08")) // a frame of 1024 bytes follows
		for {
			if _, err := c.Write([]byte{0xff}); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	asking, serving := peerThat(t, slow)
	wantErr(t, "asking", asking, okrasync.ErrTimeout, "open the session")
	wantErr(t, "serving", serving, okrasync.ErrTimeout, "wait for a request")
}

// slowly passes what is written to it on at so many bytes a second, and takes all at once: a link
// with buffers.
type slowly struct {
	net.Conn
	rate   int
	pieces chan []byte
}

func (s slowly) Write(b []byte) (int, error) {
	for p := range slices.Chunk(slices.Clone(b), 4096) {
		s.pieces <- p
	}
	return len(b), nil
}

func (s slowly) SetWriteDeadline(time.Time) error { return nil }

func (s slowly) run() {
	for p := range s.pieces {
		time.Sleep(time.Duration(len(p)) * time.Second / time.Duration(s.rate))
		s.Conn.Write(p)
	}
}

// A peer that has not yet got what was sent to it is not silent.
func TestS10PeerIsBehindBuffers(t *testing.T) {
	client, server := open(t, 32), open(t, 32)
	all := contents{}
	for i := range 300 {
		all[fmt.Sprintf("k%06d", i)] = strings.Repeat("v", 1000)
	}
	write(t, client, all)
	limits := okrasync.Limits{Timeout: 500 * time.Millisecond}
	var sum okrasync.Summary
	var err error
	_, serveErr := session(t, server, &okrasync.ServeOptions{Write: true, Limits: limits}, func(conn net.Conn) {
		link := slowly{Conn: conn, rate: 400_000, pieces: make(chan []byte, 1000)}
		go link.run()
		defer close(link.pieces)
		sum, err = okrasync.Push(context.Background(), link, client, &okrasync.Options{Limits: limits})
	})
	if err := errors.Join(err, serveErr); err != nil || !sum.Equal || sum.Elapsed < limits.Timeout {
		t.Errorf("%+v, %v", sum, err)
	}
}

func TestS10PeerIsCutOff(t *testing.T) {
	asking, serving := peerThat(t, func(c net.Conn) {
		go io.Copy(io.Discard, c)
		c.Write([]byte("okra\x01\x20\x01abc"))
		time.Sleep(20 * time.Millisecond)
		c.Close()
	})
	wantErr(t, "asking", asking, okrasync.ErrCut, "open the session")
	wantErr(t, "serving", serving, okrasync.ErrCut, "wait for a request")
	asking, serving = peerThat(t, func(c net.Conn) { c.Close() })
	wantErr(t, "asking", asking, okrasync.ErrCut, "wait for the peer")
	if serving != nil {
		t.Errorf("serving nobody: %v", serving)
	}
}

func TestS10PeerIsForeign(t *testing.T) {
	asking, serving := peerThat(t, func(c net.Conn) {
		go io.Copy(io.Discard, c)
		c.Write([]byte("HTTP/1.1 400 Bad Request\r\nServer: \x1b[31mred\r\n\r\n"))
	})
	wantErr(t, "asking", asking, okrasync.ErrProtocol, "okra peer")
	wantErr(t, "serving", serving, okrasync.ErrProtocol, "okra peer")
}

func TestS10PeerIsOlder(t *testing.T) {
	asking, serving := peerThat(t, func(c net.Conn) {
		go io.Copy(io.Discard, c)
		c.Write([]byte("okra\x00whatever"))
	})
	wantErr(t, "asking", asking, okrasync.ErrVersion, "theirs is 0")
	wantErr(t, "serving", serving, okrasync.ErrVersion, "theirs is 0")
}

// While the network is waited for, others can write, and no snapshot is held for long.
func TestS12NothingIsHeldWhileThePeerSleeps(t *testing.T) {
	client, server := open(t, 32), open(t, 32)
	all := contents{}
	for i := range 3000 {
		all[fmt.Sprintf("k%06d", i)] = strings.Repeat("v", 1000)
	}
	limits := okrasync.Limits{Hold: 20 * time.Millisecond}
	for name, op := range map[string]operation{"pull": okrasync.Pull, "push": okrasync.Push} {
		source := server
		if name == "push" {
			source = client
		}
		write(t, client, contents{})
		write(t, server, contents{})
		write(t, source, all)
		var moved atomic.Int64
		stalls := 0
		check := func() {
			stalls++
			time.Sleep(100 * time.Millisecond)
			for _, db := range []*okra.DB{client, server} {
				noSnapshots(t, db)
				ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
				if err := db.UpdateContext(ctx, func(tx *okra.Tx) error { return tx.Put([]byte("a"), fmt.Append(nil, stalls)) }); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				cancel()
			}
		}
		tap := func(b []byte) {
			if n := moved.Add(int64(len(b))); n > int64(1<<20*(stalls+1)) {
				check()
			}
		}
		opts := okrasync.Options{Limits: limits, Resolve: okrasync.Mine}
		_, err, serveErr := through(t, op, client, server, &opts, &okrasync.ServeOptions{Write: true, Limits: limits},
			func(conn net.Conn) net.Conn { return &wrapped{Conn: conn, read: tap, write: tap} })
		if err := errors.Join(err, serveErr); err != nil || stalls < 2 {
			t.Errorf("%s: %v, stalled %d times", name, err, stalls)
		}
	}
}

// Nor while trees are compared: what is held is let go, and taken up again if it is still the same.
func TestS12NothingIsHeldAmidTheComparing(t *testing.T) {
	for _, written := range []bool{false, true} {
		client, server := open(t, 4), open(t, 4)
		all := numbered("k", 2000)
		write(t, server, all)
		for i := 0; i < 2000; i += 100 {
			delete(all, fmt.Sprintf("k%06d", i))
		}
		write(t, client, all)
		limits := okrasync.Limits{Hold: 20 * time.Millisecond}
		stalled := false
		tap := func([]byte) {
			if stalled {
				return
			}
			stalled = true // the first list of the peer's has come
			for until := time.Now().Add(time.Second); ; time.Sleep(time.Millisecond) {
				n := 0
				for _, db := range []*okra.DB{client, server} {
					stats, err := db.Stats()
					if err != nil {
						t.Fatal(err)
					}
					n += len(stats.Snapshots)
				}
				if n == 0 {
					break
				}
				if time.Now().After(until) {
					t.Errorf("%d snapshots are held", n)
					break
				}
			}
			if written {
				put(t, server, "k000000", "written meanwhile")
			}
		}
		sum, err, serveErr := through(t, okrasync.Pull, client, server, &okrasync.Options{Limits: limits}, &okrasync.ServeOptions{Limits: limits},
			func(conn net.Conn) net.Conn { return &wrapped{Conn: conn, read: tap} })
		if err := errors.Join(err, serveErr); err != nil {
			t.Fatal(err)
		}
		if !stalled || !sum.Equal || (sum.Passes > 1) != written {
			t.Errorf("written %v: %+v", written, sum)
		}
	}
}

func TestS13CutHalfwayThenAgain(t *testing.T) {
	all := contents{}
	for i := range 4000 {
		all[fmt.Sprintf("k%06d", i)] = strings.Repeat("v", 1000)
	}
	for name, op := range map[string]operation{"pull": okrasync.Pull, "push": okrasync.Push} {
		client, server := open(t, 32), open(t, 32)
		source, target := server, client
		if name == "push" {
			source, target = client, server
		}
		write(t, source, all)
		left := new(atomic.Int64)
		left.Store(3 << 20)
		sum, err, _ := through(t, op, client, server, nil, nil, func(conn net.Conn) net.Conn {
			return &wrapped{Conn: conn, left: left}
		})
		if !errors.Is(err, okrasync.ErrCut) || sum.Complete || sum.Equal {
			t.Fatalf("%s: %v, %+v", name, err, sum)
		}
		verify(t, target)
		have := len(read(t, target))
		if have < 1000 || have > 3500 {
			t.Errorf("%s: %d entries are there after the cut", name, have)
		}
		sum = ask(t, op, client, server, nil, nil)
		cost := sum.BytesSent + sum.BytesReceived
		if want := int64(len(all)-have) * 1020; cost > want+20_000 || !sum.Equal {
			t.Errorf("%s: the rest cost %d bytes, want about %d; %+v", name, cost, want, sum)
		}
	}
}

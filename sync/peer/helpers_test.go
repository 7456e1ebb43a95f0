package peer

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/okradb/okra-go/okra"
)

// newDB returns a store with n entries, key0000 and so on, with a value each.
func newDB(t testing.TB, n int, value string) *okra.DB {
	t.Helper()
	db, err := okra.Open(t.TempDir(), &okra.Options{NoSync: true, MapSize: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	err = db.Update(func(tx *okra.Tx) error {
		for i := range n {
			if err := tx.Put(fmt.Appendf(nil, "key%04d", i), []byte(value)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func rootOf(t testing.TB, db *okra.DB) (root okra.Root) {
	t.Helper()
	err := db.View(func(tx *okra.Tx) (err error) {
		root, err = tx.Root()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// A running server, for a test.
type running struct {
	*Server
	at  Address
	log *logged
}

// logged is what a server logs.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// serve runs a server of db on a loopback port until the test ends.
func serve(t *testing.T, db *okra.DB, me *Identity, opts ServerOptions) *running {
	t.Helper()
	return serveWithin(t, handshakeTime, db, me, opts)
}

// serveWithin is serve with another patience with handshakes.
func serveWithin(t *testing.T, patience time.Duration, db *okra.DB, me *Identity, opts ServerOptions) *running {
	t.Helper()
	r := &running{log: new(logged)}
	opts.Log = slog.New(slog.NewTextHandler(r.log, nil))
	r.Server = NewServer(db, me, &opts)
	r.patience = patience
	l, err := r.Listen(context.Background(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.at = Address{me.ID(), "127.0.0.1", uint16(l.Addr().(*net.TCPAddr).Port)}
	ended := make(chan error, 1)
	go func() { ended <- r.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		r.Shutdown(ctx)
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
		if t.Failed() {
			t.Log(r.log)
		}
	})
	return r
}

// longTime is longer than what works takes on any machine.
const longTime = time.Minute

// eventually waits until cond holds.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for until := time.Now().Add(longTime); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("not within %v: %s", longTime, what)
		}
	}
}

// numbers returns how many sessions and connections without a welcome the server has.
func (r *running) numbers() (sessions, pending int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.sessions), len(r.pending)
}

package peer

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/okradb/okra-go/okra"
	okrasync "github.com/okradb/okra-go/sync"
)

var background = context.Background()

// dialed connects to r as me, for as long as the test runs.
func dialed(t *testing.T, me *Identity, r *running) net.Conn {
	t.Helper()
	conn, err := Dial(background, me, r.at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func TestServer(t *testing.T) {
	me, host := newMe(t), newMe(t)
	ours, theirs := newDB(t, 10, "x"), newDB(t, 2_000, "x")
	r := serve(t, theirs, host, ServerOptions{
		Allow: AllowList{me.ID(): {Write, "the test"}}, Session: okrasync.ServeOptions{Write: true},
	})
	conn := dialed(t, me, r)
	sum, err := okrasync.Pull(background, conn, ours, nil)
	if err != nil || sum.Here.Added != 1_990 || !sum.Equal || rootOf(t, ours) != rootOf(t, theirs) {
		t.Errorf("pull: %+v, %v", sum, err)
	}
	if err := ours.Update(func(tx *okra.Tx) error { return tx.Put([]byte("more"), nil) }); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	conn = dialed(t, me, r)
	sum, err = okrasync.Push(background, conn, ours, nil)
	if err != nil || sum.There.Added != 1 || !sum.Equal || rootOf(t, ours) != rootOf(t, theirs) {
		t.Errorf("push: %+v, %v", sum, err)
	}
	conn.Close()
	eventually(t, "the session ends", func() bool { n, _ := r.numbers(); return n == 0 })
	for _, want := range []string{"session begins", "session ends", me.ID().String(), `name="the test"`, "added=1"} {
		if !strings.Contains(r.log.String(), want) {
			t.Errorf("the log has no %q", want)
		}
	}
	w := httptest.NewRecorder()
	r.Metrics().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, want := range []string{
		"okra_sessions 0\n", `okra_sessions_total{result="ok"} 2` + "\n", "okra_connections_total 2\n",
		`okra_entries_total{action="added"} 1` + "\n", "okra_session_seconds_count 2\n",
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %q among the figures", want)
		}
	}
}

func TestWrongPeer(t *testing.T) {
	me := newMe(t)
	r := serve(t, newDB(t, 1, ""), me, ServerOptions{})
	to := r.at
	to.ID = newMe(t).ID()
	if _, err := Dial(background, me, to); !errors.Is(err, ErrWrongPeer) || !strings.Contains(err.Error(), me.ID().String()) {
		t.Errorf("error %v, want ErrWrongPeer with the ID that answers", err)
	}
	if _, err := Dial(background, me, r.at); err != nil {
		t.Errorf("after that: %v", err)
	}
}

// Without an allow list there is access for the server's own identity alone.
func TestOwnIdentityOnly(t *testing.T) {
	host, stranger := newMe(t), newMe(t)
	db := newDB(t, 1, "")
	r := serve(t, db, host, ServerOptions{Session: okrasync.ServeOptions{Write: true}})
	_, err := Dial(background, stranger, r.at)
	if !errors.Is(err, okrasync.ErrDenied) || !strings.Contains(err.Error(), stranger.ID().String()) {
		t.Errorf("error %v, want ErrDenied with the ID to allow", err)
	}
	sum, err := okrasync.Push(background, dialed(t, host, r), newDB(t, 5, ""), nil)
	if err != nil || sum.There.Added != 4 {
		t.Errorf("push: %+v, %v", sum, err)
	}
	r.SetAllow(AllowList{stranger.ID(): {Access: Read}})
	if _, err := Dial(background, host, r.at); !errors.Is(err, okrasync.ErrDenied) {
		t.Errorf("with a list: error %v, want ErrDenied", err)
	}
	dialed(t, stranger, r)
}

func TestReadOnlyPeer(t *testing.T) {
	me, host := newMe(t), newMe(t)
	for name, opts := range map[string]ServerOptions{
		"grant":  {Allow: AllowList{me.ID(): {Access: Read}}, Session: okrasync.ServeOptions{Write: true}},
		"server": {Allow: AllowList{me.ID(): {Access: Write}}},
	} {
		t.Run(name, func(t *testing.T) {
			db := newDB(t, 3, "")
			r := serve(t, db, host, opts)
			before := rootOf(t, db)
			if _, err := okrasync.Push(background, dialed(t, me, r), newDB(t, 9, ""), nil); !errors.Is(err, okrasync.ErrDenied) {
				t.Errorf("push: error %v, want ErrDenied", err)
			}
			if rootOf(t, db) != before {
				t.Error("the store has changed")
			}
			if _, err := okrasync.Pull(background, dialed(t, me, r), newDB(t, 0, ""), nil); err != nil {
				t.Errorf("pull: %v", err)
			}
		})
	}
}

// A server that gives up amid what a peer sends says why, although the peer does not listen then.
func TestServerGivesUpAmidAPush(t *testing.T) {
	me := newMe(t)
	r := serve(t, newDB(t, 0, ""), me, ServerOptions{Session: okrasync.ServeOptions{
		Write:  true,
		Accept: func(key, value []byte) error { return errors.New("no more") },
		Limits: okrasync.Limits{MaxRefused: 1},
	}})
	db := newDB(t, 5000, strings.Repeat("x", 5000)) // more than is on the way at a time
	_, err := okrasync.Push(background, dialed(t, me, r), db, nil)
	if !errors.Is(err, okrasync.ErrLimit) || !strings.HasPrefix(err.Error(), "send entries: ") || !strings.Contains(err.Error(), string(okrasync.ReasonAccept)) {
		t.Errorf("push: %v", err)
	}
}

func TestTooManySessions(t *testing.T) {
	one, two, three := newMe(t), newMe(t), newMe(t)
	r := serve(t, newDB(t, 1, ""), newMe(t), ServerOptions{
		Allow:    AllowList{one.ID(): {Access: Read}, two.ID(): {Access: Read}, three.ID(): {Access: Read}},
		Sessions: 3,
	})
	first := dialed(t, one, r)
	dialed(t, one, r)
	if _, err := Dial(background, one, r.at); !errors.Is(err, okrasync.ErrBusy) {
		t.Errorf("a third session: %v, want ErrBusy", err)
	}
	dialed(t, two, r)
	if _, err := Dial(background, three, r.at); !errors.Is(err, okrasync.ErrBusy) {
		t.Errorf("a fourth session of all: %v, want ErrBusy", err)
	}
	r.mu.Lock()
	var budgets []*okrasync.Budget
	for s := range r.sessions {
		if s.id == one.ID() {
			budgets = append(budgets, s.budget)
		}
	}
	r.mu.Unlock()
	if len(budgets) != 2 || budgets[0] != budgets[1] {
		t.Errorf("the sessions of one peer have the budgets %v, want one", budgets)
	}
	first.Close()
	eventually(t, "the place is free", func() bool {
		conn, err := Dial(background, three, r.at)
		if err != nil {
			return false
		}
		conn.Close()
		return true
	})
}

// A thousand connections that say nothing keep nobody out: most of them are closed for others.
func TestSilentConnections(t *testing.T) {
	const n = 1000
	me := newMe(t)
	r := serveWithin(t, time.Hour, newDB(t, 1, ""), me, ServerOptions{})
	conns := silent(t, r, n)
	if _, err := okrasync.Pull(background, dialed(t, me, r), newDB(t, 0, ""), nil); err != nil {
		t.Errorf("pull beside them: %v", err)
	}
	eventually(t, "all are accepted", func() bool { return r.counts.connections.Get() == n+1 })
	if _, pending := r.numbers(); pending < mostPending-1 { // the pull took the place of one
		t.Errorf("%d connections are pending, want %d", pending, mostPending-1)
	}
	closed(t, conns[:n-2*mostPending])
}

// Connections that say nothing are gone before long.
func TestSilentConnectionsAreClosed(t *testing.T) {
	r := serveWithin(t, 50*time.Millisecond, newDB(t, 1, ""), newMe(t), ServerOptions{})
	closed(t, silent(t, r, mostPending))
	eventually(t, "none is pending", func() bool { _, n := r.numbers(); return n == 0 })
}

// silent makes n connections that say nothing.
func silent(t *testing.T, r *running, n int) []net.Conn {
	t.Helper()
	conns := make([]net.Conn, n)
	for i := range conns {
		var err error
		if conns[i], err = net.Dial("tcp", r.at.HostPort()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conns[i].Close() })
		if _, pending := r.numbers(); pending > mostPending {
			t.Fatalf("%d connections are pending", pending)
		}
	}
	return conns
}

// closed demands that the server closes the connections.
func closed(t *testing.T, conns []net.Conn) {
	t.Helper()
	for i, conn := range conns {
		conn.SetReadDeadline(time.Now().Add(longTime))
		if _, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("connection %d is not closed: %v", i, err)
		}
	}
}

func TestListenOnLoopbackOnly(t *testing.T) {
	me := newMe(t)
	open := NewServer(newDB(t, 0, ""), me, nil)
	listed := NewServer(newDB(t, 0, ""), me, &ServerOptions{Allow: AllowList{}})
	for _, address := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:0"} {
		if l, err := open.Listen(background, address); !errors.Is(err, ErrOpenToAll) {
			t.Errorf("%s: %v, %v; want ErrOpenToAll", address, l, err)
		}
	}
	for address, s := range map[string]*Server{"localhost:0": open, "127.0.0.2:0": open, "0.0.0.0:0": listed} {
		l, err := s.Listen(background, address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		l.Close()
	}
	if _, err := open.Listen(background, "localhost"); err == nil {
		t.Error("an address without a port is fine")
	}
}

// A session under way comes to its end; the server takes no more, and then is over.
func TestShutdownDrains(t *testing.T) {
	me := newMe(t)
	r := serve(t, newDB(t, 500, "x"), me, ServerOptions{})
	conn := dialed(t, me, r)
	ended := make(chan error, 1)
	go func() { ended <- r.Shutdown(background) }()
	eventually(t, "the server is closed", r.isClosed)
	if sum, err := okrasync.Pull(background, conn, newDB(t, 0, ""), nil); err != nil || !sum.Equal {
		t.Errorf("pull: %+v, %v", sum, err)
	}
	if _, err := Dial(background, me, r.at); err == nil {
		t.Error("it takes connections")
	}
	select {
	case err := <-ended:
		t.Errorf("Shutdown has not waited: %v", err)
	default:
	}
	conn.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestShutdownCuts(t *testing.T) {
	me := newMe(t)
	r := serve(t, newDB(t, 1, ""), me, ServerOptions{})
	conn := dialed(t, me, r)
	ctx, cancel := context.WithTimeout(background, 20*time.Millisecond)
	defer cancel()
	if err := r.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that of the context", err)
	}
	if n, pending := r.numbers(); n+pending > 0 {
		t.Errorf("%d sessions and %d pending connections are left", n, pending)
	}
	if _, err := okrasync.Pull(background, conn, newDB(t, 0, ""), nil); err == nil {
		t.Error("the session goes on")
	}
	if !strings.Contains(r.log.String(), errShutdown.Error()) {
		t.Error("the log does not say why")
	}
}

// What ends a session before its time, and that only the sessions that it concerns end.
func TestSessionsAreCut(t *testing.T) {
	one, two := newMe(t), newMe(t)
	allow := func(a Access) AllowList { return AllowList{one.ID(): {Access: a}, two.ID(): {Access: Write}} }
	r := serve(t, newDB(t, 1, ""), newMe(t), ServerOptions{Allow: allow(Write)})
	dialed(t, one, r)
	dialed(t, two, r)
	r.SetAllow(allow(Write))
	r.SetAllow(allow(Read))
	eventually(t, "one session has ended", func() bool { n, _ := r.numbers(); return n == 1 })
	if log := r.log.String(); !strings.Contains(log, errWithdrawn.Error()) {
		t.Errorf("the log does not say why")
	}
	if _, err := okrasync.Pull(background, dialed(t, one, r), newDB(t, 0, ""), nil); err != nil {
		t.Errorf("pull with the access that is left: %v", err)
	}

	r = serve(t, newDB(t, 1, ""), one, ServerOptions{SessionTime: 50 * time.Millisecond})
	dialed(t, one, r)
	eventually(t, "the session has ended", func() bool {
		return strings.Contains(r.log.String(), errSessionTime.Error())
	})
}

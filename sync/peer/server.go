package peer

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/okradb/okra-go/okra"
	okrasync "github.com/okradb/okra-go/sync"
)

// ErrOpenToAll is a server that would listen to more than this machine without an allow list.
var ErrOpenToAll = errors.New("only loopback without an allow list")

// The reasons why a session is cut.
var (
	errSessionTime = errors.New("the session took longer than it may")
	errShutdown    = errors.New("the server shuts down")
	errWithdrawn   = errors.New("the access of the peer was taken away")
)

// ServerOptions are the options of a [Server]. A nil *ServerOptions, and each zero field, means
// the default.
type ServerOptions struct {
	// Allow says who may do what. Nil allows writing to those who have the server's own identity,
	// since they could read its file, and nothing to others; see also [Server.Listen].
	Allow AllowList

	// Session has the options of each session. Its Write must be true for those to whom Allow
	// grants writing; its Budget and Log are not used.
	Session okrasync.ServeOptions

	// SessionTime is how long a session may take: 1 hour.
	SessionTime time.Duration

	// SessionsPerPeer is how many sessions one peer may have at once: 2. Sessions is how many all
	// may have: 64. Further ones are told that the server is busy.
	SessionsPerPeer, Sessions int

	// Log gets a line for each session and each connection that is refused. Nil means none.
	Log *slog.Logger
}

// mostPending is how many connections may be without a welcome. One more takes the place of the
// oldest: a flood of silent ones must not keep out those that say who they are.
const mostPending = 128

// A Server answers peers over TCP. Its methods may be called by many goroutines.
type Server struct {
	me       *Identity
	db       *okra.DB
	opts     ServerOptions
	log      *slog.Logger
	strange  rate.Sometimes // lines about strangers, who could fill a disk with them
	counts   *counts
	patience time.Duration // with handshakes: handshakeTime

	ctx    context.Context // of all sessions; ends when they are cut
	cancel context.CancelCauseFunc
	done   sync.WaitGroup // connections

	mu        sync.Mutex // guards what follows
	closed    bool
	listeners []net.Listener
	pending   []net.Conn // the oldest first
	allow     AllowList
	sessions  map[*session]bool
	budgets   map[ID]*okrasync.Budget // of those in allow who had a session
}

// A session is one connection of a peer that is welcome.
type session struct {
	id     ID
	grant  Grant
	budget *okrasync.Budget
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// NewServer returns a server of db, which the caller closes after [Server.Shutdown].
func NewServer(db *okra.DB, me *Identity, opts *ServerOptions) *Server {
	s := &Server{
		me:       me,
		db:       db,
		patience: handshakeTime,
		strange:  rate.Sometimes{First: 10, Interval: time.Second},
		sessions: make(map[*session]bool),
		budgets:  make(map[ID]*okrasync.Budget),
	}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.SessionTime <= 0 {
		s.opts.SessionTime = time.Hour
	}
	if s.opts.SessionsPerPeer <= 0 {
		s.opts.SessionsPerPeer = 2
	}
	if s.opts.Sessions <= 0 {
		s.opts.Sessions = 64
	}
	if s.log = s.opts.Log; s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.allow = s.opts.Allow; s.allow == nil {
		s.allow = AllowList{me.id: {Access: Write, Name: "ourselves"}}
	}
	s.counts = newCounts(s)
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	return s
}

// Listen listens on a TCP address, host:port, for [Server.Serve]. Without an allow list it must be
// a loopback address: the error is [ErrOpenToAll].
func (s *Server) Listen(ctx context.Context, address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if s.opts.Allow == nil {
		ips, err := (&net.Resolver{}).LookupIPAddr(ctx, host)
		if host != "" && err != nil {
			return nil, err
		}
		if host == "" || slices.ContainsFunc(ips, func(ip net.IPAddr) bool { return !ip.IP.IsLoopback() }) {
			return nil, fmt.Errorf("listen on %q: %w", address, ErrOpenToAll)
		}
	}
	return (&net.ListenConfig{}).Listen(ctx, "tcp", address)
}

// Serve answers those who connect to l, which it closes at the end, until [Server.Shutdown]: then
// it returns nil. Otherwise it returns why l gives no more connections.
func (s *Server) Serve(l net.Listener) error {
	defer l.Close()
	s.mu.Lock()
	s.listeners = append(s.listeners, l)
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return nil
	}
	var wait time.Duration
	for {
		conn, err := l.Accept()
		if err == nil {
			wait = 0
			s.accept(conn)
			continue
		}
		if s.isClosed() {
			return nil
		}
		// As when there are no more file descriptors; there may be later.
		var temporary interface{ Temporary() bool }
		if !errors.As(err, &temporary) || !temporary.Temporary() {
			return err
		}
		wait = min(max(2*wait, 5*time.Millisecond), time.Second)
		s.log.Error("cannot accept", "error", err, "wait", wait)
		time.Sleep(wait)
	}
}

func (s *Server) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// accept begins to answer a connection.
func (s *Server) accept(conn net.Conn) {
	s.counts.connections.Inc()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		conn.Close()
		return
	}
	if len(s.pending) == mostPending {
		s.pending[0].Close()
		s.pending = slices.Delete(s.pending, 0, 1)
	}
	s.pending = append(s.pending, conn)
	s.done.Go(func() { s.answer(conn) })
}

// settle takes a connection from those that wait for a welcome.
func (s *Server) settle(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settled(conn)
}

// settled is settle under the lock.
func (s *Server) settled(conn net.Conn) {
	if i := slices.Index(s.pending, conn); i >= 0 {
		s.pending = slices.Delete(s.pending, i, i+1)
	}
}

// answer does all for one connection.
func (s *Server) answer(raw net.Conn) {
	defer raw.Close()
	log := s.log.With("remote", raw.RemoteAddr().String())
	conn := tls.Server(raw, s.me.tlsConfig(func(ID) error { return nil }))
	sess, err := s.welcome(raw, conn)
	s.settle(raw)
	if err != nil {
		s.strange.Do(func() { log.Warn("refused", "error", err) })
		return
	}
	defer s.leave(sess)
	// The session ends by itself when its context does. Should it not, it loses its connection.
	defer context.AfterFunc(sess.ctx, func() { time.AfterFunc(time.Second, func() { raw.Close() }) })()
	log = log.With("peer", sess.id, "name", sess.grant.Name)
	log.Info("session begins", "access", sess.grant.Access.String())
	opts := s.opts.Session
	opts.Write = opts.Write && sess.grant.Access == Write
	opts.Budget = sess.budget
	opts.Log = log
	start := time.Now()
	sum, err := okrasync.Serve(sess.ctx, conn, s.db, &opts)
	if err != nil && sess.ctx.Err() != nil {
		err = context.Cause(sess.ctx)
	}
	part(raw, conn)
	s.counts.session(sum, time.Since(start), err)
	attrs := []any{"added", sum.Here.Added, "changed", sum.Here.Changed, "deleted", sum.Here.Deleted,
		"sent", sum.BytesSent, "received", sum.BytesReceived, "duration", time.Since(start)}
	if err != nil {
		log.Warn("session failed", append(attrs, "error", err)...)
		return
	}
	log.Info("session ends", attrs...)
}

// welcome does the handshake and greets the peer. The session it returns must leave.
func (s *Server) welcome(raw net.Conn, conn *tls.Conn) (*session, error) {
	if err := raw.SetDeadline(time.Now().Add(s.patience)); err != nil {
		return nil, err
	}
	if err := conn.HandshakeContext(s.ctx); err != nil {
		s.counts.handshakes.Inc()
		return nil, fmt.Errorf("no handshake: %w", err)
	}
	id, err := peerID(conn.ConnectionState())
	if err != nil {
		return nil, err
	}
	sess, greeting, refusal := s.admit(raw, id)
	if _, err = conn.Write([]byte{greeting}); err == nil && refusal == nil {
		err = raw.SetDeadline(time.Time{})
	}
	if refusal != nil {
		part(raw, conn)
		return nil, fmt.Errorf("peer %s: %w", id, refusal)
	}
	if err != nil {
		s.leave(sess)
		return nil, fmt.Errorf("peer %s: greet it: %w", id, err)
	}
	return sess, nil
}

// partTime is how long the last words may take to reach a peer.
const partTime = time.Second

// part ends what we say to a peer and hears it out for a while: closed at once, with something
// unread, TCP would throw away our last words, which tell the peer what is wrong.
func part(raw net.Conn, conn *tls.Conn) {
	raw.SetDeadline(time.Now().Add(partTime))
	if conn.CloseWrite() != nil {
		return
	}
	if tcp, ok := raw.(*net.TCPConn); ok && tcp.CloseWrite() == nil {
		io.CopyN(io.Discard, raw, 1<<20)
	}
}

// The reasons why a peer is not welcome.
var (
	errNotAllowed = errors.New("it is not in the allow list")
	errPeerFull   = errors.New("it has as many sessions as one peer may have")
	errFull       = errors.New("there are as many sessions as all peers may have")
)

// admit returns a new session of the peer, or how to greet it and why there is none. A connection
// with a session waits for a welcome no longer: it ends as sessions do.
func (s *Server) admit(raw net.Conn, id ID) (*session, byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, greetBusy, errShutdown
	}
	grant := s.allow[id]
	if grant.Access == 0 {
		s.counts.denied.Inc()
		return nil, greetDenied, errNotAllowed
	}
	own := 0
	for other := range s.sessions {
		if other.id == id {
			own++
		}
	}
	if own >= s.opts.SessionsPerPeer {
		s.counts.busy.Inc()
		return nil, greetBusy, errPeerFull
	}
	if len(s.sessions) >= s.opts.Sessions {
		s.counts.busy.Inc()
		return nil, greetBusy, errFull
	}
	if s.budgets[id] == nil {
		s.budgets[id] = okrasync.NewBudget(0)
	}
	sess := &session{id: id, grant: grant, budget: s.budgets[id]}
	ctx, cut := context.WithCancelCause(s.ctx)
	ctx, stop := context.WithTimeoutCause(ctx, s.opts.SessionTime, errSessionTime)
	sess.ctx, sess.cancel = ctx, func(cause error) { cut(cause); stop() }
	s.sessions[sess] = true
	s.settled(raw)
	return sess, greetWelcome, nil
}

// leave ends a session.
func (s *Server) leave(sess *session) {
	sess.cancel(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, sess)
}

// SetAllow replaces the allow list, and cuts the sessions of peers that had more access by the
// one before. A server that had none stays on the addresses that it listens on.
func (s *Server) SetAllow(l AllowList) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.allow = l
	for sess := range s.sessions {
		if l[sess.id].Access < sess.grant.Access {
			sess.cancel(errWithdrawn)
		}
	}
	for id := range s.budgets {
		if l[id].Access == 0 {
			delete(s.budgets, id)
		}
	}
}

// Shutdown takes no more connections and waits until those that there are have ended, as they do
// when their peers have what they want. When ctx ends it cuts them off and returns the error of
// ctx. In both cases none is left, and Serve returns.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	for _, l := range s.listeners {
		l.Close()
	}
	for _, conn := range s.pending {
		conn.Close()
	}
	s.mu.Unlock()
	cut := context.AfterFunc(ctx, func() { s.cancel(errShutdown) })
	s.done.Wait()
	defer s.cancel(nil)
	if !cut() {
		return ctx.Err()
	}
	return nil
}

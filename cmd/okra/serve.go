package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	okrasync "github.com/okradb/okra-go/sync"
	"github.com/okradb/okra-go/sync/peer"
)

func serveCommand() *cli.Command {
	return &cli.Command{
		Name:  "serve",
		Usage: "let peers pull from a store, push to it and sync with it",
		UsageText: "okra serve DIR [--listen HOST:PORT] [--allow FILE] [--allow-peer ID=ACCESS]\n" +
			"okra serve DIR --stdio [--write]",
		ArgsUsage: "DIR",
		Description: `Answer peers until a signal comes, over TCP with TLS 1.3. Both sides prove who they
are by their keys ("okra id"); there are no certificates to take care of. The first
line of standard output is the address to give to peers; with --json it is an
object. The log goes to standard error.

Without an allow list only you are served: those with your own identity, who may
write, and only on this machine. For others, and to listen elsewhere, name them:
--allow-peer ID=read or ID=write, once for each, or --allow FILE with a line for
each, an ID, read or write, and a name for the log if you like; # begins a comment.
SIGHUP has the file read again and cuts off those who lost access; without a file
it ends the server as Ctrl-C does, unless nohup has it ignored. --read-only
allows nobody to write, whatever the list says.

A peer has at most 2 sessions at once and all have 64; a session may take as long
as --session-time. SIGTERM or Ctrl-C end the server: sessions under way have as long
as --drain to come to their end. Exit code 0 says that SIGTERM ended it, and all
sessions had come to theirs. A peer that is cut off goes on where it was, in its
next session.

--stdio answers one peer on standard input and output: for ssh, or any program that
connects the two. Whoever can start okra so has the access that it gives: reading,
or with --write writing too.

Examples:
  okra serve /data/kv
  okra serve /data/kv --listen :7346 --allow /etc/okra/peers --log json
  okra serve /data/kv --listen :7346 --allow-peer "$ID=read" --metrics :9346`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "listen", DefaultText: "127.0.0.1:7346",
				Usage: "take connections at `HOST:PORT`; port 0 is any that is free"},
			&cli.StringFlag{Name: "allow", Usage: "the allow list is in `FILE`"},
			&cli.StringSliceFlag{Name: "allow-peer", Usage: "allow a peer `ID=ACCESS`, read or write"},
			&cli.BoolFlag{Name: "read-only", Usage: "allow nobody to write"},
			identityFlag(),
			&cli.DurationFlag{Name: "session-time", Value: time.Hour, Usage: "cut sessions after `DURATION`"},
			&cli.DurationFlag{Name: "drain", Value: 10 * time.Second,
				Usage: "let sessions go on for `DURATION` after a signal"},
			maxValueFlag(),
			&cli.StringFlag{Name: "metrics",
				Usage: "serve figures for Prometheus at http://`HOST:PORT`/metrics; :PORT is on this machine"},
			&cli.StringFlag{Name: "log", Value: "text", Usage: "`FORMAT` of the log: text or json"},
			&cli.BoolFlag{Name: "stdio", Usage: "answer one peer on standard input and output"},
			&cli.BoolFlag{Name: "write", Usage: "with --stdio, allow the peer to write"},
			jsonFlag("print the address as a JSON object"),
			tableFlag(),
			mapSizeFlag(),
		},
		Action: onDir(0, 0, runServe),
	}
}

func runServe(c *cli.Context, dir string, _ []string) error {
	limit, err := maxValue(c)
	if err != nil {
		return err
	}
	opts := okrasync.ServeOptions{Limits: okrasync.Limits{MaxValue: limit}}
	if c.Bool("stdio") {
		for _, name := range []string{"listen", "allow", "allow-peer", "read-only", "metrics", "json", "identity"} {
			if c.IsSet(name) {
				return usagef(c, "--stdio and --%s do not fit together", name)
			}
		}
		opts.Write = c.Bool("write")
		return serveStdio(c, dir, opts)
	}
	if c.Bool("write") {
		return usagef(c, "--write is for --stdio; grant it to a peer with --allow-peer ID=write")
	}
	opts.Write = !c.Bool("read-only")
	return serveTCP(c, dir, opts)
}

// serveStdio answers the peer at standard input and output.
func serveStdio(c *cli.Context, dir string, opts okrasync.ServeOptions) error {
	db, err := openStore(c, dir, !opts.Write)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(c.Context, c.Duration("session-time"),
		errors.New("the session took longer than --session-time"))
	defer cancel()
	err = patiently(ctx, func() error {
		conn := peer.NewStream(os.Stdin, os.Stdout)
		_, err := okrasync.Serve(ctx, conn, db, &opts)
		if closeErr := conn.Close(); err == nil && !errors.Is(closeErr, syscall.EPIPE) {
			err = closeErr // a peer that has all need not wait for the last word
		}
		return err
	})
	return sessionError(c, ctx, closing(db, err))
}

// serveTCP answers peers until a signal comes.
func serveTCP(c *cli.Context, dir string, opts okrasync.ServeOptions) error {
	log, err := newLog(c)
	if err != nil {
		return err
	}
	if c.Duration("session-time") <= 0 || c.Duration("drain") < 0 {
		return usagef(c, "--session-time must be longer than nothing, and --drain not negative")
	}
	allow, err := allowList(c)
	if err != nil {
		return err
	}
	me, err := loadIdentity(c)
	if err != nil {
		return err
	}
	db, err := openStore(c, dir, !opts.Write)
	if err != nil {
		return err
	}
	s := &serving{c: c, log: log, drain: c.Duration("drain")}
	s.server = peer.NewServer(db, me, &peer.ServerOptions{
		Allow: allow, Session: opts, SessionTime: c.Duration("session-time"), Log: log,
	})
	if allow == nil && !opts.Write {
		// Only now, since a server that is made with a list listens to more than this machine.
		s.server.SetAllow(peer.AllowList{me.ID(): {Access: peer.Read, Name: "ourselves"}})
	}
	return closing(db, s.run(me))
}

// newLog returns the log that --log asks for.
func newLog(c *cli.Context) (*slog.Logger, error) {
	switch format := c.String("log"); format {
	case "text":
		return slog.New(slog.NewTextHandler(c.App.ErrWriter, nil)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(c.App.ErrWriter, nil)), nil
	default:
		return nil, usagef(c, "--log %q: it must be text or json", format)
	}
}

// allowList returns the peers that --allow and --allow-peer name, or nil without either. With
// --read-only they may read.
func allowList(c *cli.Context) (peer.AllowList, error) {
	if !c.IsSet("allow") && !c.IsSet("allow-peer") {
		return nil, nil
	}
	list := make(peer.AllowList)
	if file := c.String("allow"); file != "" {
		var err error
		if list, err = peer.ReadAllowList(file); err != nil {
			return nil, err
		}
	}
	for _, text := range c.StringSlice("allow-peer") {
		id, grant, err := peer.ParseGrant(text)
		if err == nil {
			err = list.Add(id, grant)
		}
		if err != nil {
			return nil, usagef(c, "--allow-peer %w", err)
		}
	}
	if c.Bool("read-only") {
		for id, grant := range list {
			grant.Access = peer.Read
			list[id] = grant
		}
	}
	return list, nil
}

// serving is a server under way.
type serving struct {
	c      *cli.Context
	log    *slog.Logger
	server *peer.Server
	drain  time.Duration
}

func (s *serving) run(me *peer.Identity) error {
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	defer signal.Stop(terminated)
	address := s.c.String("listen")
	if address == "" {
		address = net.JoinHostPort("127.0.0.1", fmt.Sprint(peer.DefaultPort))
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		return usagef(s.c, "--listen: %w, such as :7346 or 192.0.2.1:7346", err)
	}
	l, err := s.server.Listen(s.c.Context, address)
	if errors.Is(err, peer.ErrOpenToAll) {
		return usagef(s.c, "%w; name who may connect with --allow FILE or --allow-peer ID=read", err)
	}
	if err != nil {
		return err
	}
	failed := make(chan error, 2)
	stopMetrics, err := s.serveMetrics(failed)
	if err != nil {
		l.Close()
		return err
	}
	defer stopMetrics()
	go func() { failed <- s.server.Serve(l) }()
	defer s.onHangup()()
	if err = s.announce(me, l.Addr()); err == nil {
		select {
		case err = <-failed:
		case <-s.c.Context.Done():
		}
	}
	return errors.Join(err, s.shutdown(terminated))
}

// shutdown ends the server. It returns nil if nothing but SIGTERM has ended it, and all sessions
// came to their end.
func (s *serving) shutdown(terminated chan os.Signal) error {
	s.log.Info("shutting down", "drain", s.drain)
	ctx, cancel := context.WithTimeout(context.Background(), s.drain)
	defer cancel()
	err := patiently(ctx, func() error { return s.server.Shutdown(ctx) })
	signal.Stop(terminated) // and what has come is in the channel
	switch {
	case err != nil:
		return fmt.Errorf("sessions were cut off: not at their end within --drain %v", s.drain)
	case len(terminated) > 0:
		return nil
	}
	return s.c.Context.Err()
}

// announce prints the address for peers.
func (s *serving) announce(me *peer.Identity, at net.Addr) error {
	tcp := at.(*net.TCPAddr)
	a := peer.Address{ID: me.ID(), Host: tcp.IP.String(), Port: uint16(tcp.Port)}
	if tcp.IP.IsUnspecified() {
		// All addresses of the machine: its name is the best guess at one that others can use.
		name, err := os.Hostname()
		if err != nil {
			return err
		}
		a.Host = name
	}
	s.log.Info("serving", "dir", s.c.Args().First(), "listen", at.String(), "address", a.String())
	if s.c.Bool("json") {
		return writeJSON(s.c.App.Writer, struct {
			Address string  `json:"address"`
			ID      peer.ID `json:"id"`
			Listen  string  `json:"listen"`
		}{a.String(), me.ID(), at.String()})
	}
	_, err := fmt.Fprintln(s.c.App.Writer, a)
	return err
}

// onHangup has SIGHUP read the allow list again, if it is in a file, and else end the server. A list
// that cannot be read leaves that before in place.
func (s *serving) onHangup() (stop func()) {
	if !s.c.IsSet("allow") {
		catchHangup(s.c)
		return func() {}
	}
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	go func() {
		for range hangup {
			list, err := allowList(s.c)
			if err != nil {
				s.log.Error("allow list not read again, the one before stays", "error", err)
				continue
			}
			s.server.SetAllow(list)
			s.log.Info("allow list read again", "peers", len(list))
		}
	}()
	return func() {
		signal.Ignore(syscall.SIGHUP) // one that comes while the process ends must not kill it
		signal.Stop(hangup)
		close(hangup)
	}
}

// serveMetrics serves figures over HTTP if --metrics asks for it, and sends the error that ends
// this before stop is called.
func (s *serving) serveMetrics(failed chan<- error) (stop func(), err error) {
	address := s.c.String("metrics")
	if address == "" {
		return func() {}, nil
	}
	if address[0] == ':' {
		address = "127.0.0.1" + address
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.server.Metrics())
	server := &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 5 * time.Second,
		WriteTimeout:      10 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	s.log.Info("serving metrics", "listen", l.Addr().String())
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			failed <- fmt.Errorf("--metrics: %w", err)
		}
	}()
	return func() { server.Close() }, nil
}

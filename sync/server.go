package sync

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/okradb/okra-go/okra"
)

// server is one session of Serve.
type server struct {
	w      *wire
	r      replica
	opts   ServeOptions
	limits Limits
	work   *Budget
	log    *slog.Logger

	hold     time.Duration
	maxValue int64   // that both sides take
	opened   opening // of the last pass
	sum      Summary
	refused  refusals
}

func serve(ctx context.Context, conn Conn, db *okra.DB, opts *ServeOptions) (Summary, error) {
	s := &server{r: replica{ctx: ctx, db: db}}
	if opts != nil {
		s.opts = *opts
		s.r.table = opts.Table
	}
	var err error
	if s.limits, err = s.opts.Limits.withDefaults(); err != nil {
		return Summary{}, err
	}
	if s.work = s.opts.Budget; s.work == nil {
		s.work = NewBudget(0)
	}
	if s.log = s.opts.Log; s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.hold = s.limits.Hold
	s.w = newWire(ctx, conn, s.limits)
	start := time.Now()
	if s.sum.Before, err = s.r.root(); err != nil {
		return s.sum, err
	}
	stop := s.w.interrupt()
	defer stop()
	err = s.run()
	if err != nil {
		s.w.tell(err)
	}
	s.sum.Refused = s.refused.list()
	s.sum.BytesSent, s.sum.BytesReceived = s.w.sent, s.w.received
	s.sum.Discovery, s.sum.RoundTrips = s.w.discovery, s.w.trips
	s.sum.Elapsed = time.Since(start)
	after, rootErr := s.r.root()
	s.sum.After = after
	s.sum.Complete = err == nil && len(s.sum.Refused) == 0
	s.sum.Equal = s.sum.PeerAfter == after
	if err == nil {
		err = rootErr
	}
	return s.sum, err
}

// run answers requests until the peer closes the stream.
func (s *server) run() error {
	if err := s.meet(); err != nil {
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
	for {
		ended, err := s.w.ended("wait for a request")
		if ended || err != nil {
			return err
		}
		if again, err := s.w.greeted(); err != nil {
			return err
		} else if again {
			if err := s.meet(); err != nil {
				return err
			}
			continue
		}
		t, body, err := s.w.receive("wait for a request")
		if err != nil {
			return err
		}
		switch t {
		case frameOpen:
			err = s.pass(body)
		case frameChanges, frameDone:
			s.w.unread()
			err = s.changes()
		case frameItems:
			s.w.unread()
			err = s.named()
		default:
			err = s.w.unexpected(t)
		}
		if err != nil {
			return err
		}
	}
}

// meet reads the preface of a session. The answer to it goes also to a peer that we do not
// understand: it may understand us.
func (s *server) meet() error {
	s.w.greet()
	return s.w.meet("wait for the peer")
}

// pass answers the opening of a pass, and has the peer open it again if that is in vain.
func (s *server) pass(body []byte) error {
	s.sum.Passes++
	s.w.compared = 0
	err := s.answer(body)
	switch {
	case errors.Is(err, errLeft):
		return nil
	case errors.Is(err, errMoved):
		s.hold = min(2*s.hold, max(mostHold, s.limits.Hold))
		return s.w.send(frameRestart, []byte{restartMoved})
	case errors.Is(err, errAlike):
		return s.w.send(frameRestart, []byte{restartAlike})
	}
	return err
}

func (s *server) answer(body []byte) error {
	o, err := decodeOpening(body)
	if err != nil {
		return fmt.Errorf("read the opening: %w", err)
	}
	p, head, err := s.open(o)
	if err != nil {
		// The list of the opening comes in any case, and is read before anything is sent: while
		// one side sends, the other must not.
		if _, lost := drain(s.w); lost != nil {
			return lost
		}
		return err
	}
	defer p.h.close()
	if head.status == statusList {
		_, err = p.read(true)
	} else {
		var opened listHead
		opened, err = drain(s.w)
		p.window.cut(opened.cut)
	}
	if err != nil {
		return err
	}
	if err := s.w.send(frameHead, head.encode()); err != nil {
		return err
	}
	switch head.status {
	case statusEqual:
		return nil
	case statusAppended:
		if err := p.addAlone(append(o.last, 0), nil, false); err != nil {
			return err
		}
	default:
		if err := p.find(); err != nil {
			return err
		}
	}
	p.h.close()
	if p.own == nil {
		return nil
	}
	p.own.sort()
	p.window.cut(p.own.over)
	return s.items(p.own, p.window, o)
}

// open begins a pass, and returns what is to be said about it. p.h is the caller's to close.
func (s *server) open(o opening) (p *pass, head heading, err error) {
	ours := s.r.format()
	if err := compatible(ours, o.format, o.want&wantValues != 0 || o.want&wantWrite != 0); err != nil {
		return nil, head, err
	}
	if o.want&wantWrite != 0 && !s.opts.Write {
		return nil, head, fmt.Errorf("%w: the side that asks may only read", ErrDenied)
	}
	s.w.peer, s.opened = o.maxFrame, o
	s.maxValue = min(s.limits.MaxValue, o.maxValue)
	s.sum.Peer, s.sum.PeerAfter = o.root, o.root
	s.log.Debug("pass", "peer_root", o.root.String(), "from", string(o.window.lower))

	h, err := s.r.hold(s.hold)
	if err != nil {
		return nil, head, err
	}
	p = newPass(s.w, h, s.work, o.salt, o.window)
	p.wider = o.wider
	if o.want&wantItems != 0 {
		p.own = &keySet{budget: bounds.keys}
		p.shared = o.want&wantShared != 0
	}
	head = heading{maxFrame: s.limits.MaxFrame, maxValue: s.limits.MaxValue, format: ours, status: statusList, root: h.root}
	if head.status, head.last, err = p.status(o); err != nil {
		h.close()
		return nil, head, err
	}
	return p, head, nil
}

// status returns how a pass is answered, and our last key if the peer may want to know it.
func (p *pass) status(o opening) (s status, last []byte, err error) {
	switch {
	case !o.window.whole():
		return statusList, nil, nil
	case p.h.root == o.root:
		return statusEqual, nil, nil
	}
	yes, err := p.appended(o.root, o.last)
	if err != nil {
		return s, nil, err
	}
	if yes {
		return statusAppended, nil, nil
	}
	last, err = lastKey(p.h)
	return statusList, last, err
}

// named answers the names that the asking side gives of its keys with what is there under them.
func (s *server) named() error {
	o := s.opened
	if o.want&wantItems == 0 {
		return s.w.unexpected(frameItems) // it has not opened a pass, or not for items
	}
	in := itemReader{w: s.w, t: frameItems, k: o.format.K, window: o.window, phase: "receive names",
		allowed: func(k kind) bool { return k == itemAsked }}
	keys := &keySet{budget: bounds.keys}
	for {
		i, ok, err := in.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		keys.add(keyRange{from: i.key, one: true})
	}
	if _, err := s.w.expect(frameDone, in.phase); err != nil {
		return err
	}
	if err := s.work.take(keys.len()); err != nil {
		return err
	}
	keys.sort()
	win := o.window
	win.cut(keys.over)
	return s.items(keys, win, o)
}

// items sends what we have of keys within a window.
func (s *server) items(keys *keySet, win window, o opening) error {
	values := o.want&wantValues != 0
	src := source{r: s.r, keys: keys, window: win, work: s.work, salt: o.salt}
	out := itemWriter{w: s.w, t: frameItems}
	names := 0
	for {
		items, err := src.read(s.maxValue, values)
		if err != nil {
			return err
		}
		if len(items) == 0 {
			break
		}
		for _, i := range items {
			if names += len(i.key) + o.format.K; o.keys > 0 && names > o.keys && out.n > 0 {
				win.cut(i.key)
				break
			}
			if err := out.write(i); err != nil {
				return err
			}
		}
		if o.keys > 0 && names > o.keys {
			break
		}
	}
	if err := out.flush(); err != nil {
		return err
	}
	root, err := s.r.root()
	if err != nil {
		return err
	}
	end := ending{root: root}
	if !bytes.Equal(win.upper, o.window.upper) {
		end.cut = win.upper
	}
	return s.w.send(frameDone, end.encode())
}

// changes makes the changes that the peer sends.
func (s *server) changes() error {
	if !s.opts.Write {
		return fmt.Errorf("%w: the side that asks may only read", ErrDenied)
	}
	in := itemReader{w: s.w, t: frameChanges, k: s.r.format().K, phase: "receive changes",
		allowed: func(k kind) bool { return k == changeAdd || k == changePut || k == changeDelete }}
	var done Changes
	var refused refusals
	a := applier{r: s.r, accept: s.opts.Accept, made: &done, refused: &refused}
	err := s.receive(&in, &a)
	s.sum.Here.add(done)
	s.refused.join(&refused)
	if err != nil {
		return err
	}
	body, err := s.w.expect(frameDone, "receive changes")
	if err != nil {
		return err
	}
	end, err := decodeEnding(body, in.k)
	if err != nil {
		return fmt.Errorf("receive changes: %w", err)
	}
	s.sum.PeerAfter = end.root
	root, err := s.r.root()
	if err != nil {
		return err
	}
	s.log.Info("changes", "added", done.Added, "changed", done.Changed, "deleted", done.Deleted)
	return s.w.send(frameAck, ack{done, refused, root}.encode(s.w.room()))
}

func (s *server) receive(in *itemReader, a *applier) error {
	for {
		i, ok, err := in.next()
		if err != nil {
			return err
		}
		if !ok {
			if err := a.flush(); err != nil {
				return err
			}
			return s.tooMany(a)
		}
		if i.kind.hasValue() {
			if _, sum := oneLeaf(in.k, s.opened.salt, i.key, i.value); check(sum) != i.check {
				return fmt.Errorf("%s: %w: value of key %q does not have the hash that its sender has for it", in.phase, ErrProtocol, i.key)
			}
		}
		if err := a.add(i); err != nil {
			return err
		}
		if err := s.tooMany(a); err != nil {
			return err
		}
	}
}

// tooMany returns an error if more entries were refused in the session than may be.
func (s *server) tooMany(a *applier) error {
	all := refusals{count: s.refused.count + a.refused.count, all: a.refused.all}
	return all.exceed(s.limits.MaxRefused)
}

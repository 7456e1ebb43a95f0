package sync

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/okradb/okra-go/okra"
)

// direction is what a session does: one of them, or both, or with neither only compares.
type direction struct{ pull, push bool }

const (
	mostRestarts = 4       // of one pass
	mostPasses   = 1 << 16 // of a session
	mostIdle     = 64      // in a row, that the peer ends early and without much in them
)

// client is the asking side of a session.
type client struct {
	w      *wire
	r      replica
	opts   Options
	limits Limits
	dir    direction
	differ func(Difference) bool // of Diff

	hold     time.Duration
	wider    int
	met      bool
	ended    []byte // where the peer had the last pass end
	maxValue int64  // that both sides take
	sum      Summary
	refused  refusals
	shown    time.Time // when progress was shown last
}

func newClient(ctx context.Context, conn Conn, db *okra.DB, opts *Options, dir direction) (*client, error) {
	c := &client{r: replica{ctx: ctx, db: db}, dir: dir}
	if opts != nil {
		c.opts = *opts
		c.r.table = opts.Table
	}
	var err error
	if c.limits, err = c.opts.Limits.withDefaults(); err != nil {
		return nil, err
	}
	if c.opts.Mirror && dir.pull && dir.push {
		return nil, fmt.Errorf("%w: a mirror has one direction: Pull or Push", okra.ErrOptions)
	}
	c.opts.Resolve = c.opts.Resolve.orReport()
	c.hold = c.limits.Hold
	c.w = newWire(ctx, conn, c.limits)
	c.w.asking = true
	return c, nil
}

func run(ctx context.Context, conn Conn, db *okra.DB, opts *Options, dir direction) (Summary, error) {
	c, err := newClient(ctx, conn, db, opts, dir)
	if err != nil {
		return Summary{}, err
	}
	return c.run()
}

func diff(ctx context.Context, conn Conn, db *okra.DB, opts *Options, fn func(Difference) bool) error {
	c, err := newClient(ctx, conn, db, opts, direction{})
	if err != nil {
		return err
	}
	c.differ = fn
	_, err = c.run()
	return err
}

// run runs the session.
func (c *client) run() (Summary, error) {
	start := time.Now()
	c.sum.DryRun = c.opts.DryRun
	var err error
	if c.sum.Before, err = c.r.root(); err != nil {
		return c.sum, err
	}
	stop := c.w.interrupt()
	defer stop()
	c.w.greet()
	err = c.passes()
	if errors.Is(err, errEnough) {
		err = nil
	} else if err != nil {
		c.w.tell(err)
	}
	s := &c.sum
	s.Refused = c.refused.list()
	s.BytesSent, s.BytesReceived = c.w.sent, c.w.received
	s.Discovery, s.RoundTrips = c.w.discovery, c.w.trips
	after, rootErr := c.r.root()
	s.After = after
	s.Equal = err == nil && s.After == s.PeerAfter
	s.Complete = err == nil && len(s.Refused) == 0 && s.Conflicts.Left == 0
	s.Elapsed = time.Since(start)
	if err == nil {
		err = rootErr
	}
	c.show("done", true)
	return c.sum, err
}

// passes runs passes until the whole window has been synced.
func (c *client) passes() error {
	win := windowOf(c.opts.Bounds)
	if win.upper != nil && bytes.Compare(win.lower, win.upper) >= 0 {
		return nil
	}
	restarts, idle := 0, 0
	for c.sum.Passes < mostPasses {
		c.sum.Passes++
		before := c.w.received
		next, err := c.pass(win)
		switch {
		case errors.Is(err, errMoved), errors.Is(err, errAlike):
			if restarts++; restarts > mostRestarts {
				return fmt.Errorf("compare trees: %w: tried %d times (%w)", ErrMoving, restarts, err)
			}
			if errors.Is(err, errAlike) {
				c.wider++
			} else {
				c.hold = min(2*c.hold, max(mostHold, c.limits.Hold))
			}
			continue
		case err != nil:
			return err
		case next == nil:
			return nil
		case bytes.Compare(next, win.lower) <= 0:
			return fmt.Errorf("compare trees: %w: pass without progress", ErrProtocol)
		}
		if idle++; !bytes.Equal(next, c.ended) || c.w.received-before >= int64(bounds.least) {
			idle = 0
		} else if idle > mostIdle {
			return fmt.Errorf("compare trees: %w: %d passes with nothing in them", ErrProtocol, idle)
		}
		win.lower, restarts = next, 0
	}
	return fmt.Errorf("%w: %d passes", ErrLimit, mostPasses)
}

// windowOf returns the keys within b.
func windowOf(b okra.Bounds) (w window) {
	// Cut behind the longest key that there can be, a bound holds the same keys.
	cut := func(key []byte) []byte { return key[:min(len(key), longestBound)] }
	after := func(key []byte) []byte { return append(bytes.Clone(key), 0) }
	w.lower = bytes.Clone(cut(b.GE))
	if b.GT != nil {
		if k := cut(after(b.GT)); bytes.Compare(k, w.lower) > 0 {
			w.lower = k
		}
	}
	if b.LT != nil {
		w.cut(cut(b.LT))
	}
	if b.LE != nil {
		w.cut(cut(after(b.LE)))
	}
	return w
}

// values reports whether the peer has to send values.
func (c *client) values() bool {
	if c.differ != nil {
		return false
	}
	return c.dir.pull && !c.opts.DryRun || c.opts.Resolve.merge != nil && !c.opts.Mirror
}

// wish returns what the session wants of a pass.
func (c *client) wish() byte {
	w := byte(wantItems)
	if c.values() {
		w |= wantValues
	}
	if c.dir.push && !c.dir.pull && !c.opts.Mirror {
		w |= wantShared // to find conflicts; of the rest nothing is brought or deleted
	}
	if c.dir.push && !c.opts.DryRun {
		w |= wantWrite
	}
	return w
}

// pass syncs what lies in a window, or its beginning: then it returns the key at which the next
// pass has to begin, else nil.
func (c *client) pass(win window) (next []byte, err error) {
	c.show("compare", false)
	c.w.compared = 0
	h, err := c.r.hold(c.hold)
	if err != nil {
		return nil, err
	}
	defer h.close()
	p := newPass(c.w, h, nil, newSalt(), win)
	p.wider = c.wider
	if c.dir.push || c.opts.Mirror || c.differ != nil {
		p.own = &keySet{budget: bounds.keys, sums: c.opts.Mirror && c.dir.pull}
	}
	head, err := c.open(p)
	if err != nil {
		return nil, err
	}
	c.sum.PeerAfter = head.root
	if c.sum.Passes == 1 {
		c.sum.Peer = head.root
	}
	items := true
	switch {
	case head.status == statusEqual && head.root != h.root:
		return nil, fmt.Errorf("open the session: %w: it says that its root %v is ours", ErrProtocol, head.root)
	case head.status == statusEqual:
		return nil, nil
	case head.status == statusAppended:
		// What we lack follows; we have nothing that the peer has not.
	case win.whole() && len(head.last) > 0:
		yes, err := p.appended(head.root, head.last)
		if errors.Is(err, errMoved) {
			r, lost := readList(c.w)
			if lost == nil {
				lost = r.forget()
			}
			if lost != nil {
				return nil, lost
			}
		}
		if err != nil {
			return nil, err
		}
		if yes {
			items, err = c.ahead(p, head.last)
		} else {
			err = p.look()
		}
		if err != nil {
			return nil, err
		}
	default:
		if err := p.look(); err != nil {
			return nil, err
		}
	}
	h.close() // what follows is about entries as they are by then
	return c.finish(p, win, items)
}

// ahead notes that only we have what is behind the peer's last key, and everything else is equal.
// It reports whether items follow: the peer may know already that there are none.
func (c *client) ahead(p *pass, last []byte) (items bool, err error) {
	head, err := drain(c.w)
	if err != nil || p.own == nil {
		return head.final, err
	}
	return head.final, p.add(append(last, 0), nil, false)
}

// newSalt is replaced by tests.
var newSalt = randomSalt

func randomSalt() salt {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return salt(binary.LittleEndian.Uint64(b[:]))
}

// open opens a pass and returns what the peer answers.
func (c *client) open(p *pass) (h heading, err error) {
	ours := c.r.format()
	o := opening{maxFrame: c.limits.MaxFrame, maxValue: c.limits.MaxValue, format: ours, want: c.wish(),
		salt: p.salt, wider: p.wider, window: p.window, root: p.h.root}
	if o.last, err = lastKey(p.h); err != nil {
		return h, err
	}
	if c.dir.push && c.opts.Mirror {
		o.keys = bounds.names
	}
	if err := c.w.send(frameOpen, o.encode()); err != nil {
		return h, err
	}
	if err := p.open(); err != nil {
		return h, err
	}
	if !c.met {
		if err := c.w.meet("wait for the peer"); err != nil {
			if errors.Is(err, io.EOF) {
				err = fmt.Errorf("wait for the peer: %w before it said anything", ErrCut)
			}
			return h, err
		}
		c.met = true
	}
	body, err := c.w.expect(frameHead, "open the session")
	if err != nil {
		return h, err
	}
	if h, err = decodeHeading(body); err != nil {
		return h, fmt.Errorf("open the session: %w", err)
	}
	if err := compatible(ours, h.format, c.dir.pull || c.dir.push); err != nil {
		return h, err
	}
	c.w.peer = h.maxFrame
	c.maxValue = min(c.limits.MaxValue, h.maxValue)
	return h, nil
}

// compatible returns an error unless trees of these formats can be synced, or compared if they
// need not have values.
func compatible(ours, theirs okra.Format, values bool) error {
	if ours.K != theirs.K || ours.Q != theirs.Q {
		return fmt.Errorf("%w: one side has %s, the other %s: only trees of the same K and Q can be compared", okra.ErrFormat, ours, theirs)
	}
	if values && (ours.Mode != okra.Store || theirs.Mode != okra.Store) {
		return fmt.Errorf("%w: one side has %s, the other %s: without values there is nothing to send", okra.ErrFormat, ours, theirs)
	}
	return nil
}

// lastKey returns the last key, which is empty if there is none.
func lastKey(h *held) (key []byte, err error) {
	err = h.view(func(tx *okra.Tx) error {
		for e, err := range tx.Backward(okra.Bounds{}) {
			key = bytes.Clone(e.Key)
			return err
		}
		return nil
	})
	return key, err
}

// drain reads a list of which only the head is needed.
func drain(w *wire) (listHead, error) {
	r, err := readList(w)
	if err != nil {
		return listHead{}, err
	}
	return r.listHead, r.skip()
}

// show shows progress, ten times a second at most.
func (c *client) show(step string, always bool) {
	if c.opts.Progress == nil || !always && time.Since(c.shown) < 100*time.Millisecond {
		return
	}
	c.shown = time.Now()
	c.opts.Progress(Progress{Step: step, Here: c.sum.Here.Total(), There: c.sum.There.Total(),
		BytesSent: c.w.sent, BytesReceived: c.w.received})
}

// event reports what became of an entry.
func (c *client) event(e Event) {
	if c.opts.OnEvent != nil {
		c.opts.OnEvent(e)
	}
}

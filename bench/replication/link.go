package replication

import (
	"io"
	"os"
	"sync"
	"time"
)

// Link is a simulated connection: what one end writes the other reads half a round trip later,
// and no faster than the bandwidth lets it through.
type Link struct {
	RoundTrip time.Duration
	Bandwidth float64 // bits a second in each direction; 0 has no bound
}

// window is how many bytes may be under way in one direction: what TCP would let an end write
// before the other has read.
const window = 4 << 20

// Pipe returns the two ends of a new connection over l.
func (l Link) Pipe() (a, b *End) {
	up, down := newLane(l), newLane(l)
	return &End{in: down, out: up}, &End{in: up, out: down}
}

// End is one end of a connection. One goroutine may read and another write.
type End struct{ in, out *lane }

// Read reads what has arrived.
func (e *End) Read(p []byte) (int, error) { return e.in.read(p) }

// Write sends p.
func (e *End) Write(p []byte) (int, error) { return e.out.write(p) }

// SetReadDeadline sets the time at which reads give os.ErrDeadlineExceeded.
func (e *End) SetReadDeadline(t time.Time) error { return e.in.setDeadline(&e.in.readBy, t) }

// SetWriteDeadline sets the time at which writes give os.ErrDeadlineExceeded.
func (e *End) SetWriteDeadline(t time.Time) error { return e.out.setDeadline(&e.out.writeBy, t) }

// Close ends the connection. What is under way still arrives.
func (e *End) Close() error {
	e.in.close()
	e.out.close()
	return nil
}

// lane is one direction.
type lane struct {
	link Link

	mu              sync.Mutex
	changed         *sync.Cond
	packets         []packet
	bytes           int
	free            time.Time // when the last byte has been put on the wire
	closed          bool
	readBy, writeBy time.Time
}

type packet struct {
	data    []byte
	arrives time.Time
}

func newLane(l Link) *lane {
	n := &lane{link: l}
	n.changed = sync.NewCond(&n.mu)
	return n
}

func (n *lane) setDeadline(at *time.Time, t time.Time) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	*at = t
	n.changed.Broadcast()
	return nil
}

func (n *lane) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	n.changed.Broadcast()
}

// wait waits until something changes, or the earlier of both times.
func (n *lane) wait(times ...time.Time) {
	for _, t := range times {
		if !t.IsZero() {
			timer := time.AfterFunc(time.Until(t), func() {
				n.mu.Lock()
				defer n.mu.Unlock()
				n.changed.Broadcast()
			})
			defer timer.Stop()
		}
	}
	n.changed.Wait()
}

func passed(t time.Time) bool { return !t.IsZero() && !time.Now().Before(t) }

func (n *lane) read(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for {
		var arrives time.Time
		if len(n.packets) > 0 {
			first := &n.packets[0]
			if passed(first.arrives) {
				size := copy(p, first.data)
				if first.data = first.data[size:]; len(first.data) == 0 {
					n.packets = n.packets[1:]
				}
				n.bytes -= size
				n.changed.Broadcast()
				return size, nil
			}
			arrives = first.arrives
		} else if n.closed {
			return 0, io.EOF
		}
		if passed(n.readBy) {
			return 0, os.ErrDeadlineExceeded
		}
		n.wait(arrives, n.readBy)
	}
}

func (n *lane) write(p []byte) (done int, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for len(p) > 0 {
		switch {
		case n.closed:
			return done, io.ErrClosedPipe
		case passed(n.writeBy):
			return done, os.ErrDeadlineExceeded
		case n.bytes >= window:
			n.wait(n.writeBy)
			continue
		}
		size := min(len(p), 16<<10, window-n.bytes)
		n.packets = append(n.packets, packet{append([]byte(nil), p[:size]...), n.arrival(size)})
		n.bytes += size
		done += size
		p = p[size:]
		n.changed.Broadcast()
	}
	return done, nil
}

// arrival returns when a packet of so many bytes arrives that is sent now.
func (n *lane) arrival(size int) time.Time {
	now := time.Now()
	if n.free.Before(now) {
		n.free = now
	}
	if n.link.Bandwidth > 0 {
		n.free = n.free.Add(time.Duration(float64(size) * 8 / n.link.Bandwidth * float64(time.Second)))
	}
	return n.free.Add(n.link.RoundTrip / 2)
}

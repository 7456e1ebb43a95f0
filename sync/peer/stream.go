package peer

import (
	"io"
	"net"
	"sync"
	"time"
)

// flushTime is how long Close of a Stream waits for what was written last to be taken.
const flushTime = 5 * time.Second

// A Stream is a pair of one-way streams, such as the standard input and output of a program, as
// one connection that has deadlines, whatever the two can do.
type Stream struct {
	net.Conn            // our end of a pipe; the other end is pumped
	written  chan error // the end of the writing pump
	mu       sync.Mutex // guards readErr
	readErr  error      // why nothing more can be read
}

// NewStream returns the connection that reads from r and writes to w. A Write returns when its
// bytes are on their way to w, at most 64 KiB of them. A goroutine for each direction ends when
// r, or the Stream, does: a Read of r that never returns is left behind.
func NewStream(r io.Reader, w io.Writer) *Stream {
	in, inPump := net.Pipe()
	out, outPump := net.Pipe()
	s := &Stream{written: make(chan error, 1)}
	s.Conn = twoWays{in, out}
	go func() {
		_, err := io.CopyBuffer(onlyWriter{inPump}, onlyReader{r}, make([]byte, 64<<10))
		s.mu.Lock()
		s.readErr = err
		s.mu.Unlock()
		inPump.Close()
	}()
	go func() {
		_, err := io.CopyBuffer(onlyWriter{w}, onlyReader{outPump}, make([]byte, 64<<10))
		outPump.Close()
		s.written <- err
	}()
	return s
}

// Read reads from r. Its error is that of r.
func (s *Stream) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	if err == io.EOF {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.readErr != nil {
			err = s.readErr
		}
	}
	return n, err
}

// Close waits until w has all that was written, but not for long if it does not take it, and
// returns the error of w. It closes neither r nor w.
func (s *Stream) Close() error {
	s.Conn.Close()
	select {
	case err := <-s.written:
		s.written <- nil // for the next Close
		return err
	case <-time.After(flushTime):
		return errNotTaken
	}
}

// twoWays reads from the one connection and writes to the other.
type twoWays struct {
	net.Conn
	out net.Conn
}

func (t twoWays) Write(b []byte) (int, error)         { return t.out.Write(b) }
func (t twoWays) SetWriteDeadline(at time.Time) error { return t.out.SetWriteDeadline(at) }

func (t twoWays) SetDeadline(at time.Time) error {
	t.Conn.SetDeadline(at)
	return t.out.SetDeadline(at)
}

func (t twoWays) Close() error {
	t.Conn.Close()
	return t.out.Close()
}

// These hide the methods by which io.Copy would let one side do the work of both.
type onlyReader struct{ io.Reader }
type onlyWriter struct{ io.Writer }

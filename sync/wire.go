package sync

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/okradb/okra-go/okra"
)

// preface is what each side sends first: a name and the version of the protocol.
const (
	magic   = "okra"
	version = 1
)

// Frame types. Those from 0x80 on may be skipped by who does not know them.
type frameType uint8

const (
	frameOpen    frameType = iota + 1 // a pass begins: what the asking side wants and has
	frameHead                         // the answer: what the other has
	frameList                         // gaps in the last list, and hashes of nodes within them
	frameItems                        // entries, or their names
	frameChunk                        // more of the value that the last item began
	frameDone                         // the end of the items
	frameChanges                      // entries to put or delete
	frameAck                          // what became of the changes
	frameRestart                      // the tree has changed too much: open the pass again
	frameError                        // the session is over, and why

	frameSkip frameType = 0x80
)

const (
	mostSkipped  = 16       // frames in a row of types that are not known
	mostCompared = 64 << 20 // bytes received in a pass that are not entries
	writeSize    = 64 << 10 // bytes to write at once, which the peer has Limits.Timeout to take
	lastWords    = time.Second
)

// The reasons of a frameRestart.
const (
	restartMoved = iota
	restartAlike
)

func (t frameType) String() string {
	names := [...]string{frameOpen: "OPEN", frameHead: "HEAD", frameList: "LIST", frameItems: "ITEMS",
		frameChunk: "CHUNK", frameDone: "DONE", frameChanges: "CHANGES", frameAck: "ACK",
		frameRestart: "RESTART", frameError: "ERROR"}
	if t == 0 || int(t) >= len(names) {
		return fmt.Sprintf("frame type 0x%02x", uint8(t))
	}
	return names[t]
}

// wire sends and receives frames. A frame is a uvarint of the length of the rest, one byte of
// type, and a body. Only one side sends at a time.
type wire struct {
	ctx    context.Context
	asking bool // we ask, and the peer may have us begin again
	conn   Conn
	limits Limits
	in     *bufio.Reader
	frame  []byte // the last frame received
	again  bool   // it is to be given out once more
	out    []byte // frames to send
	peer   int    // the largest frame that the peer takes
	phase  string // what is waited for, for errors

	patience       time.Duration // what is left of the peer's time
	sent, received int64
	discovery      int64 // bytes of frames that carry no entries, both ways
	compared       int64 // those of them that were received since the pass began
	trips          int   // times it began to wait after sending
	turn           int64 // bytes sent since then
	greeting       bool  // the preface is to be sent before the next frame
	over           bool  // the peer has said so, or does not read any more
}

func newWire(ctx context.Context, conn Conn, limits Limits) *wire {
	w := &wire{ctx: ctx, conn: conn, limits: limits, peer: leastFrame, patience: limits.Timeout}
	w.in = bufio.NewReaderSize(patient{w}, 32<<10)
	return w
}

// patient reads from the conn, with an end to its patience: each byte gives the peer some more
// time, up to what it had at first, so that neither silence nor a byte now and then holds the
// session for long.
type patient struct{ *wire }

func (p patient) Read(b []byte) (int, error) {
	w := p.wire
	start := time.Now()
	if err := w.conn.SetReadDeadline(start.Add(w.patience)); err != nil {
		return 0, err
	}
	if err := w.ctx.Err(); err != nil { // its deadline may have come before ours
		return 0, err
	}
	n, err := w.conn.Read(b)
	w.received += int64(n)
	w.patience += time.Duration(n)*time.Second/minRate - time.Since(start)
	w.patience = min(w.patience, w.limits.Timeout)
	return n, err
}

// failed names the step in which reading or writing failed.
func (w *wire) failed(err error) error {
	switch {
	case err == nil:
		return nil
	case w.ctx.Err() != nil:
		return fmt.Errorf("%s: %w", w.phase, context.Cause(w.ctx))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%s: %w: it has %v (Limits.Timeout)", w.phase, ErrTimeout, w.limits.Timeout)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.ErrClosedPipe),
		errors.Is(err, net.ErrClosed), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNRESET):
		w.over = true
		return fmt.Errorf("%s: %w", w.phase, ErrCut)
	}
	return fmt.Errorf("%s: %w", w.phase, err)
}

// room is the largest body of a frame to send.
func (w *wire) room() int { return min(w.limits.MaxFrame, w.peer) - 1 }

// send queues a frame, and sends what is queued when it is much.
func (w *wire) send(t frameType, body []byte) error {
	before := len(w.out)
	w.queue(t, body)
	if !t.carries() {
		w.discovery += int64(len(w.out) - before)
	}
	if len(w.out) >= defaultFrame {
		return w.flush()
	}
	return nil
}

func (w *wire) queue(t frameType, body []byte) {
	if w.greeting {
		w.greeting = false
		w.out = append(w.out, magic...)
		w.out = append(w.out, version)
	}
	w.out = binary.AppendUvarint(w.out, uint64(len(body)+1))
	w.out = append(w.out, byte(t))
	w.out = append(w.out, body...)
}

// carries reports whether frames of the type carry entries.
func (t frameType) carries() bool {
	return t == frameItems || t == frameChunk || t == frameChanges
}

// flush sends all frames that are queued. A peer that takes no more of them may have said why.
func (w *wire) flush() error {
	err := w.flushWithin(w.limits.Timeout)
	if errors.Is(err, ErrCut) {
		if said := w.said(); said != nil {
			return said
		}
	}
	return err
}

// said returns the error that the peer has sent while we were sending, or nil.
func (w *wire) said() error {
	w.patience = min(lastWords, w.limits.Timeout)
	for range mostSkipped {
		if w.read() != nil {
			return nil
		}
		if frameType(w.frame[0]) == frameError {
			return w.told(w.frame[1:])
		}
	}
	return nil
}

// flushWithin gives the peer so much time for each piece.
func (w *wire) flushWithin(patience time.Duration) error {
	rest := w.out
	w.out = w.out[:0]
	for len(rest) > 0 {
		if err := w.conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
			return w.failed(err)
		}
		if err := w.ctx.Err(); err != nil {
			return w.failed(err)
		}
		n, err := w.conn.Write(rest[:min(len(rest), writeSize)])
		w.sent += int64(n)
		w.turn += int64(n)
		if err != nil {
			w.over = true
			return w.failed(err)
		}
		rest = rest[n:]
	}
	return nil
}

// waits notes that what comes now answers what was sent. Much of that may still be on its way,
// in buffers that hold some MB, while the peer seems silent.
func (w *wire) waits() {
	if w.turn > 0 {
		w.trips++
		w.patience = w.limits.Timeout + min(2*w.limits.Timeout, time.Duration(min(w.turn, 1<<30))*time.Second/minRate)
		w.turn = 0
	}
}

// receive waits for the next frame and returns its type and body, which is valid until the next
// call. It sends what is queued first. A frame of error is returned as one.
func (w *wire) receive(phase string) (frameType, []byte, error) {
	if w.again {
		w.again = false
		return frameType(w.frame[0]), w.frame[1:], nil
	}
	w.phase = phase
	if err := w.flush(); err != nil {
		return 0, nil, err
	}
	w.waits()
	for range mostSkipped {
		if err := w.read(); err != nil {
			return 0, nil, err
		}
		t, body := frameType(w.frame[0]), w.frame[1:]
		if !t.carries() {
			n := int64(len(body) + 1 + uvarintLen(uint64(len(body)+1)))
			w.discovery += n
			if w.compared += n; w.compared > mostCompared {
				return 0, nil, fmt.Errorf("%s: %w: comparing needs more than %d bytes", w.phase, ErrLimit, int64(mostCompared))
			}
		}
		switch {
		case t == frameError:
			return 0, nil, w.told(body)
		case t == frameRestart && w.asking:
			if len(body) == 1 && body[0] == restartAlike {
				return 0, nil, errAlike
			}
			return 0, nil, errMoved
		case t < frameSkip:
			return t, body, nil
		}
	}
	return 0, nil, fmt.Errorf("%s: %w: %d frames of unknown types in a row", w.phase, ErrProtocol, mostSkipped)
}

// read reads a frame of any type.
func (w *wire) read() error {
	n, err := w.readLength()
	if err != nil {
		return err
	}
	if n == 0 || n > w.limits.MaxFrame {
		return fmt.Errorf("%s: %w: frame of %d bytes, and at most %d are taken", w.phase, ErrProtocol, n, w.limits.MaxFrame)
	}
	if cap(w.frame) < n {
		w.frame = make([]byte, n)
	}
	w.frame = w.frame[:n]
	if _, err = io.ReadFull(w.in, w.frame); err == nil && w.received > w.limits.MaxReceive {
		err = fmt.Errorf("%w: more than %d bytes were received (Limits.MaxReceive); what is written stays, and another session goes on", ErrLimit, w.limits.MaxReceive)
	}
	return w.failed(err)
}

// readLength reads a uvarint of at most four bytes, which all lengths up to mostFrame fit.
func (w *wire) readLength() (int, error) {
	n := 0
	for shift := 0; shift < 28; shift += 7 {
		b, err := w.in.ReadByte()
		if err != nil {
			return 0, w.failed(err)
		}
		n |= int(b&0x7f) << shift
		if b < 0x80 {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%s: %w: length of a frame has more than four bytes", w.phase, ErrProtocol)
}

// unread has receive return the last frame again.
func (w *wire) unread() { w.again = true }

// errLeft says that the asking side wants no more of the pass.
var errLeft = errors.New("pass was left")

// expect receives a frame of one type. In place of a list the asking side may begin something
// else: that it knows enough, or that its tree has changed, shows before the lists do.
func (w *wire) expect(want frameType, phase string) ([]byte, error) {
	t, body, err := w.receive(phase)
	if err != nil {
		return nil, err
	}
	if want == frameList && !w.asking && (t == frameOpen || t == frameChanges || t == frameDone) {
		w.unread()
		return nil, errLeft
	}
	if t != want {
		return nil, w.unexpected(t)
	}
	return body, nil
}

func (w *wire) unexpected(t frameType) error {
	return fmt.Errorf("%s: %w: it sent %v there", w.phase, ErrProtocol, t)
}

// interrupt makes reads and writes end when the context does. The function it returns ends that,
// and takes back the deadlines.
func (w *wire) interrupt() (stop func()) {
	deadline := func(t time.Time) {
		_ = w.conn.SetReadDeadline(t)
		_ = w.conn.SetWriteDeadline(t)
	}
	ended := context.AfterFunc(w.ctx, func() { deadline(time.Unix(1, 0)) })
	return func() {
		if ended() {
			deadline(time.Time{})
		}
	}
}

// greet has the preface sent with the next frame, and not before: the peer may be sending.
func (w *wire) greet() { w.greeting = true }

// meet reads the peer's preface. At the end of the stream it returns io.EOF.
func (w *wire) meet(phase string) error {
	w.phase = phase
	if err := w.flush(); err != nil {
		return err
	}
	w.waits()
	var b [len(magic) + 1]byte
	n, err := io.ReadFull(w.in, b[:])
	if n > 0 && n <= len(magic) && string(b[:n]) != magic[:n] || n > len(magic) && string(b[:len(magic)]) != magic {
		return fmt.Errorf("%s: %w: it begins with %q and not with %q: is it an okra peer?", phase, ErrProtocol, b[:n], magic)
	}
	if n == 0 && closed(err) {
		return io.EOF
	}
	if err != nil {
		return w.failed(err)
	}
	if v := b[len(magic)]; v != version {
		return fmt.Errorf("%s: %w: theirs is %d, ours %d: the older side needs a newer okra", phase, ErrVersion, v, version)
	}
	return nil
}

// ended reports whether the peer has closed the stream where a request may begin.
func (w *wire) ended(phase string) (bool, error) {
	if w.again {
		return false, nil
	}
	w.phase = phase
	if err := w.flush(); err != nil {
		return false, err
	}
	_, err := w.in.Peek(1)
	if closed(err) {
		return true, nil
	}
	return false, w.failed(err)
}

// closed reports whether the peer has closed the stream.
func closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.ECONNRESET)
}

// greeted reports whether a preface comes next, and thus another session over the same stream.
// There is no frame that begins like one.
func (w *wire) greeted() (bool, error) {
	if w.again {
		return false, nil
	}
	for n := 1; n <= 2; n++ {
		if b, err := w.in.Peek(n); err != nil || string(b) != magic[:n] {
			return false, w.failed(err)
		}
	}
	return true, nil
}

// codes of frameError, and the errors that they stand for.
var codes = [...]error{
	1: ErrProtocol, 2: ErrVersion, 3: okra.ErrFormat, 4: ErrLimit, 5: ErrBusy, 6: ErrDenied,
	7: ErrTimeout, 8: ErrMoving, codePeer: ErrPeer,
}

const codePeer = 9

const maxText = 500 // bytes of an error's text

// tell tells the peer why the session ends, unless it is the peer that has ended it. Failures of
// our store are none of its business, but that there is one, and that it is full. A peer that is
// about to send does not read, so there is not much time for it.
func (w *wire) tell(err error) {
	if w.over {
		return
	}
	code, text := codePeer, ErrPeer.Error()
	if errors.Is(err, okra.ErrDiskFull) || errors.Is(err, okra.ErrMapFull) {
		text += ": its store is full"
	}
	for c, sentinel := range codes[:codePeer] {
		if sentinel != nil && errors.Is(err, sentinel) {
			code, text = c, err.Error()
			break
		}
	}
	body := append([]byte{byte(code)}, text[:min(len(text), maxText)]...)
	w.queue(frameError, body)
	_ = w.flushWithin(min(lastWords, w.limits.Timeout)) // the session is over either way
}

// told returns the error that a frame of error stands for. Its text is quoted, for it may hold
// anything.
func (w *wire) told(body []byte) error {
	w.over = true
	if len(body) == 0 {
		return fmt.Errorf("%s: %w", w.phase, ErrPeer)
	}
	sentinel := ErrPeer
	if code := int(body[0]); code > 0 && code < len(codes) {
		sentinel = codes[code]
	}
	said := string(body[1:min(len(body), 1+maxText)])
	switch {
	case said == sentinel.Error() && sentinel == ErrPeer:
		return fmt.Errorf("%s: %w: its own log says why", w.phase, sentinel)
	case said == sentinel.Error():
		return fmt.Errorf("%s: %w", w.phase, sentinel)
	}
	text := strconv.QuoteToASCII(strings.TrimPrefix(said, sentinel.Error()+": "))
	if sentinel == ErrProtocol || sentinel == ErrTimeout {
		// From its point of view, not from ours.
		return fmt.Errorf("%s: %w: it gave up with %s", w.phase, ErrPeer, text)
	}
	return fmt.Errorf("%s: %w: it says %s", w.phase, sentinel, text)
}

func uvarintLen(n uint64) int {
	var b [binary.MaxVarintLen64]byte
	return binary.PutUvarint(b[:], n)
}

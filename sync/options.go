package sync

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"time"

	"github.com/okradb/okra-go/okra"
)

// Conn is the stream between two peers: a [net.Conn], or anything that has its deadlines, such
// as the ends of [net.Pipe] or of an os.Pipe. One session at a time runs over it; the side that
// asks may run any number, one after the other, with one Serve at the other end. A session that
// ends with an error leaves the stream where it is: close it.
type Conn interface {
	io.Reader
	io.Writer
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
}

// Options for [Pull], [Push], [Sync] and [Diff]. A nil *Options, and each zero field, means the
// default.
type Options struct {
	// Table is the tree to sync, if it is not the DB's own.
	Table *okra.Table

	// Mirror makes the target equal to the source, deletes included.
	Mirror bool

	// Bounds limits the session to a range of keys. What lies outside is neither sent nor changed.
	Bounds okra.Bounds

	// Resolve decides conflicts. The zero Resolver is Report. It does not apply to a mirror,
	// where the source is right.
	Resolve Resolver

	// Accept is asked before an entry of the peer's is put. Its error refuses the entry, which is
	// counted in the Summary, and the session goes on. It runs inside a transaction of db, may run
	// more than once for an entry, and must not keep the bytes.
	Accept func(key, value []byte) error

	// DryRun finds out and reports what would be done, and writes nothing on either side. No
	// values are fetched unless Resolve needs them, so Accept is not asked.
	DryRun bool

	// OnEvent is called for each entry that is written, deleted, in conflict or refused, or would
	// be in a dry run, in no order that can be relied on. Those here come once they are committed,
	// those of the peer's tree when they are sent: what the peer then refuses is told once more,
	// as far as it names the keys. Its bytes are borrowed.
	OnEvent func(Event)

	// Progress is called now and then, at most ten times a second, and once more at the end.
	Progress func(Progress)

	Limits
}

// ServeOptions are the options of [Serve]. A nil *ServeOptions, and each zero field, means the
// default.
type ServeOptions struct {
	// Table is the tree to serve, if it is not the DB's own.
	Table *okra.Table

	// Write allows the peer to change the tree.
	Write bool

	// Accept is asked before an entry of the peer's is put, as that of [Options].
	Accept func(key, value []byte) error

	// Budget bounds the work for the peer. Sessions of one peer may share one. Nil means one of
	// this session alone.
	Budget *Budget

	// Log gets a line for each request. Nil means none.
	Log *slog.Logger

	Limits
}

// Limits bound what a peer can cost. A zero field means its default.
type Limits struct {
	// MaxFrame is the size of a message in bytes, 4 KiB to 1 MiB: 256 KiB. The smaller of both
	// sides' holds.
	MaxFrame int

	// MaxValue is the size of a value in bytes: 64 MiB. A larger one is refused and the rest is
	// synced. It is held in memory while it is received.
	MaxValue int64

	// MaxReceive is how many bytes are taken from the peer in a session: 64 GiB. What was written
	// before the limit stays, and another session goes on from there.
	MaxReceive int64

	// MaxRefused is how many entries may be refused until the session ends: any number. Those that
	// were not refused are synced in any case.
	MaxRefused int

	// Timeout is how long the peer may be silent: 10 seconds, also between the sessions that one
	// Serve answers. A slow peer gains time with every byte, but at less than 4 KiB a second not
	// enough. Behind much that was sent to it, and may still be on its way, it is given up to
	// three times as long.
	Timeout time.Duration

	// Hold is how long a view of the tree is held while differences are looked for: 2 seconds, or
	// longer after it has once been too short, up to 16. A held view keeps LMDB from using again
	// the pages that it sees.
	Hold time.Duration
}

// The bounds and defaults of Limits.
const (
	leastFrame = 4 << 10
	mostFrame  = 1 << 20

	defaultFrame   = 256 << 10
	defaultValue   = 64 << 20
	defaultReceive = 64 << 30
	defaultTimeout = 10 * time.Second
	defaultHold    = 2 * time.Second
	mostHold       = 16 * time.Second

	minRate = 4 << 10 // bytes a second that keep a slow peer from timing out
)

func (l Limits) withDefaults() (Limits, error) {
	if l.MaxFrame == 0 {
		l.MaxFrame = defaultFrame
	}
	if l.MaxFrame < leastFrame || l.MaxFrame > mostFrame {
		return l, fmt.Errorf("%w: MaxFrame is %d, and must be %d to %d", okra.ErrOptions, l.MaxFrame, leastFrame, mostFrame)
	}
	if l.MaxValue < 0 || l.MaxReceive < 0 || l.MaxRefused < 0 || l.Timeout < 0 || l.Hold < 0 {
		return l, fmt.Errorf("%w: a limit of a session is negative", okra.ErrOptions)
	}
	if l.MaxValue == 0 {
		l.MaxValue = defaultValue
	}
	if l.MaxReceive == 0 {
		l.MaxReceive = defaultReceive
	}
	if l.MaxRefused == 0 {
		l.MaxRefused = math.MaxInt
	}
	if l.Timeout == 0 {
		l.Timeout = defaultTimeout
	}
	if l.Hold == 0 {
		l.Hold = defaultHold
	}
	return l, nil
}

// Errors of a session. What is wrapped around them says in which step, and what to do.
var (
	ErrProtocol = errors.New("peer breaks the sync protocol") // or is not okra at all
	ErrVersion  = errors.New("peer speaks another version")   // of the protocol
	ErrTimeout  = errors.New("peer is silent or too slow")    // see Limits.Timeout
	ErrCut      = errors.New("connection ended too early")    // by the peer or on the way
	ErrLimit    = errors.New("limit of the session reached")  // see Limits
	ErrBusy     = errors.New("peer is busy")                  // its budget for us is used up: try later
	ErrDenied   = errors.New("access denied")                 // a push to a peer that only serves reads
	ErrPeer     = errors.New("peer has failed")               // its store gave an error: see its log
	ErrMoving   = errors.New("tree changes faster than it can be compared")
	ErrConflict = errors.New("conflict is left as it is") // returned by the function of Merge
)

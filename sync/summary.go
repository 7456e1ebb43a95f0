package sync

import (
	"time"

	"github.com/okradb/okra-go/okra"
)

// Summary is what a session has done, or in a dry run would do.
type Summary struct {
	Here  Changes `json:"here"`  // made in our tree
	There Changes `json:"there"` // made in the peer's

	Conflicts Conflicts `json:"conflicts"`
	Refused   []Refused `json:"refused,omitempty"` // by reason

	BytesSent     int64 `json:"bytes_sent"`
	BytesReceived int64 `json:"bytes_received"`
	Discovery     int64 `json:"discovery_bytes"` // those of both that are not entries or their names
	RoundTrips    int   `json:"round_trips"`
	Passes        int   `json:"passes"` // each over a further part of the keys, or once more over one

	// Before and After are our root at the begin and at the end. Peer is the peer's at the begin,
	// PeerAfter its last that we know of.
	Before    okra.Root `json:"before"`
	After     okra.Root `json:"after"`
	Peer      okra.Root `json:"peer"`
	PeerAfter okra.Root `json:"peer_after"`

	// Complete says that all was done that had to be: nothing was refused, no conflict is left,
	// no entry was changed by others in between, and no error came. Equal says that After is
	// PeerAfter.
	Complete bool `json:"complete"`
	Equal    bool `json:"equal"`
	DryRun   bool `json:"dry_run,omitempty"`

	Elapsed time.Duration `json:"elapsed_ns"`
}

// Changes counts changed entries.
type Changes struct {
	Added   int64 `json:"added"`
	Changed int64 `json:"changed"`
	Deleted int64 `json:"deleted"`
}

// add adds those of o.
func (c *Changes) add(o Changes) {
	c.Added += o.Added
	c.Changed += o.Changed
	c.Deleted += o.Deleted
}

// Total returns the number of entries changed.
func (c Changes) Total() int64 { return c.Added + c.Changed + c.Deleted }

// Conflicts counts keys with different values on both sides, by how they were decided.
type Conflicts struct {
	Mine   int64 `json:"mine"`
	Theirs int64 `json:"theirs"`
	Merged int64 `json:"merged"`
	Left   int64 `json:"left"` // as they are
}

// Reason is why an entry was refused.
type Reason string

// The reasons.
const (
	ReasonTooLarge Reason = "value is too large"          // see Limits.MaxValue
	ReasonAccept   Reason = "refused by Accept"           // of ours or the peer's
	ReasonChanged  Reason = "changed in the meantime"     // so it is no longer the entry compared
	ReasonStore    Reason = "store cannot hold the value" // too long for LMDB
)

// Refused counts entries that were refused for one reason.
type Refused struct {
	Reason Reason   `json:"reason"`
	There  bool     `json:"there"` // by the peer
	Count  int64    `json:"count"`
	Keys   [][]byte `json:"keys"`             // the first of them, 16 at most
	Detail string   `json:"detail,omitempty"` // about the first
}

// Action is what an [Event] tells.
type Action uint8

// The actions.
const (
	Added Action = iota + 1
	Changed
	Deleted
	Conflicted // and left as it is
	Rejected
)

// String returns the action as a word: "added", "changed", "deleted", "conflict" or "refused".
func (a Action) String() string {
	return [...]string{Added: "added", Changed: "changed", Deleted: "deleted",
		Conflicted: "conflict", Rejected: "refused"}[a]
}

// Event is something that was done to one entry.
type Event struct {
	Action Action
	There  bool // in the peer's tree
	Key    []byte
	Reason Reason // of Rejected
}

// Progress is how far a session is.
type Progress struct {
	Step          string // what it does, in words
	Here, There   int64  // entries changed so far
	BytesSent     int64
	BytesReceived int64
}

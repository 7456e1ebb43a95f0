package okra

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/okradb/okra-go/lmdbenv"
)

// A Snapshot is the store as one commit left it, for as long as it is open, through any number
// of Views. While it is open LMDB cannot use again the pages that it sees, so the file grows
// with every commit: close it soon. [DB.Stats] lists those that are open, and Close of the DB
// waits for them. It may be used by many goroutines, whose Views take turns.
type Snapshot struct {
	db    *DB
	begun time.Time
	id    uint64 // of the commit

	mu  sync.Mutex   // held by a View
	txn *lmdbenv.Txn // nil when closed
}

// SnapshotInfo describes an open Snapshot of this process.
type SnapshotInfo struct {
	Age time.Duration // since it was taken
	Txn uint64        // number of the commit that it shows
}

// Snapshot returns the store as of the last commit. It must be closed.
func (db *DB) Snapshot() (*Snapshot, error) {
	txn, err := db.env.BeginRead()
	if err != nil {
		return nil, err
	}
	s := &Snapshot{db: db, txn: txn, begun: time.Now(), id: txn.ID()}
	db.snapshots.add(s)
	return s, nil
}

// View runs fn with the DB's tree as the snapshot shows it, as [DB.View] does. View inside View
// of one Snapshot waits for ever.
func (s *Snapshot) View(fn func(*Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.txn == nil {
		return fmt.Errorf("snapshot: %w", ErrClosed)
	}
	return s.db.within(s.txn, false, fn)
}

// Close ends the snapshot, after the View under way. A second Close does nothing.
func (s *Snapshot) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.txn != nil {
		s.db.snapshots.remove(s)
		s.db.env.EndRead(s.txn)
		s.txn = nil
	}
	return nil
}

// snapshots are those of a DB that are open.
type snapshots struct {
	mu   sync.Mutex
	open []*Snapshot
}

func (l *snapshots) add(s *Snapshot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = append(l.open, s)
}

func (l *snapshots) remove(s *Snapshot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = slices.DeleteFunc(l.open, func(o *Snapshot) bool { return o == s })
}

// list describes the open snapshots, the oldest first.
func (l *snapshots) list() []SnapshotInfo {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []SnapshotInfo
	for _, s := range l.open {
		all = append(all, SnapshotInfo{Age: time.Since(s.begun), Txn: s.id})
	}
	return all
}

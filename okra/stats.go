package okra

import "github.com/okradb/okra-go/lmdbenv"

// Reader is a read transaction that is under way, of any process.
type Reader = lmdbenv.Reader

// Stats describes the file of a store and who reads it.
type Stats struct {
	lmdbenv.Stats
	Snapshots []SnapshotInfo // those of this DB that are open, the oldest first
}

// Stats returns the state of the store's file. It reads LMDB's list of free pages.
func (db *DB) Stats() (Stats, error) {
	s, err := db.env.Stats()
	return Stats{Stats: s, Snapshots: db.snapshots.list()}, err
}

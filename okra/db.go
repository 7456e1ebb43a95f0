package okra

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"github.com/okradb/okra-go/lmdbenv"
)

// A DB is an open store. It may be used by many goroutines.
type DB struct {
	env   *lmdbenv.Env
	main  *Table
	group group
	cache cache

	snapshots snapshots
}

// Open opens the store in the directory at path, and makes it, with an empty tree, if it is
// missing and opts do not say ReadOnly.
//
// The errors it wraps are [ErrOptions], [ErrNotExist], [ErrPermission], [ErrInUse] if this
// process has the store open already, [ErrNotLMDB], [ErrNotOkra] if the table holds something
// else, [ErrNoTable], and [ErrFormat] if the stored tree disagrees with opts.
func Open(path string, opts *Options) (*DB, error) {
	if opts == nil {
		opts = &Options{}
	}
	if err := opts.check(); err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	env, err := lmdbenv.Open(path, opts.env())
	if err != nil {
		return nil, err
	}
	db, err := newDB(env, opts)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), env.Close(context.Background()))
	}
	return db, nil
}

// Attach makes a DB of an LMDB environment that the caller has opened and goes on to own, with
// room for a named table if opts name one. Of opts the table and its format count; the rest does
// not apply. Close the DB before the environment. An environment with the WriteMap flag gives
// [ErrWriteMap]: it has no nested transactions.
func Attach(env *lmdb.Env, opts *Options) (*DB, error) {
	if opts == nil {
		opts = &Options{}
	}
	if err := opts.check(); err != nil {
		return nil, fmt.Errorf("attach: %w", err)
	}
	e, err := lmdbenv.Attach(env)
	if err != nil {
		return nil, err
	}
	db, err := newDB(e, opts)
	if err != nil {
		return nil, fmt.Errorf("attach to %s: %w", e.Path(), err)
	}
	return db, nil
}

func newDB(env *lmdbenv.Env, opts *Options) (*DB, error) {
	db := &DB{env: env}
	db.cache.open(opts.CacheSize)
	var err error
	db.main, err = db.open(opts.Table, opts.format())
	return db, err
}

// Close refuses new transactions, waits for those under way and for snapshots, and closes the
// store. A second Close does nothing; other calls after it give [ErrClosed]. Calling it inside
// View or Update waits for ever.
func (db *DB) Close() error { return db.Shutdown(context.Background()) }

// Shutdown is [DB.Close] with an end to its patience: when ctx ends while transactions are under
// way it returns the error of ctx. The store then takes no new ones, and a later Close goes on
// waiting.
func (db *DB) Shutdown(ctx context.Context) error {
	err := db.env.Close(ctx)
	if open := db.snapshots.list(); err != nil && len(open) > 0 {
		return fmt.Errorf("%w; of these, %d are snapshots, the oldest %s old", err, len(open),
			open[0].Age.Round(time.Millisecond))
	}
	return err
}

// Path returns the path that the store was opened by.
func (db *DB) Path() string { return db.env.Path() }

// Format returns the format of the DB's tree; no field is zero.
func (db *DB) Format() Format { return db.main.format }

// Sync flushes to disk what commits under NoSync have left in memory.
func (db *DB) Sync() error { return db.env.Sync() }

// View runs fn with the DB's tree as the last commit left it, and returns fn's error. The Tx
// refuses writes. View inside View, or inside Update, is fine.
func (db *DB) View(fn func(*Tx) error) error {
	txn, err := db.env.BeginRead()
	if err != nil {
		return err
	}
	defer db.env.EndRead(txn)
	return db.within(txn, false, fn)
}

// Update runs fn in a write transaction and commits it, with the index complete, if fn returns
// nil. Otherwise, or if the commit fails, nothing has happened. One Update runs at a time and
// others wait; Update inside Update gives [ErrNested]. fn runs in the calling goroutine, which
// stays on its thread, and must not wait for another Update.
//
// When the map is full the transaction is begun again in a map of twice the size, up to
// Options.MaxSize, so fn may run more than once: what it leaves outside the store must not add
// up. [ErrMapFull] comes back when the map can grow no further, or when Views of this process
// do not end within Options.GrowTimeout to let it grow.
func (db *DB) Update(fn func(*Tx) error) error {
	return db.UpdateContext(context.Background(), fn)
}

// UpdateContext is [DB.Update] that gives up waiting for its turn when ctx ends, with ctx's
// error. It does not interrupt fn, nor the wait for another process that writes.
func (db *DB) UpdateContext(ctx context.Context, fn func(*Tx) error) error {
	return db.env.Update(ctx, func(txn *lmdbenv.Txn) error { return db.within(txn, true, fn) })
}

// Join runs fn inside the caller's own transaction txn of the environment given to [Attach].
// When it returns nil the index is complete in txn, to be committed or aborted with all else
// that txn holds; when it returns an error, nothing that fn did is in txn. If txn only reads,
// the Tx refuses writes. Join must be called on the goroutine and thread of txn, and not on two
// DBs of one table at once. Nothing else may write to the tree's table.
func (db *DB) Join(txn *lmdb.Txn, fn func(*Tx) error) error {
	return db.env.Join(txn, func(t *lmdbenv.Txn, writes bool) error {
		return db.within(t, writes, fn)
	})
}

// within runs fn on the main tree in txn and, if it may write, completes the index.
func (db *DB) within(txn *lmdbenv.Txn, writes bool, fn func(*Tx) error) error {
	tx := &Tx{db: db, txn: txn, table: db.main, writes: writes}
	tx.first = tx
	tx.open()
	defer tx.close()
	if err := fn(tx); err != nil {
		return err
	}
	if err := tx.lost(); err != nil || !writes {
		return err
	}
	return tx.flush()
}

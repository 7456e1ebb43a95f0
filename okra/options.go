package okra

import (
	"fmt"
	"io/fs"
	"time"

	"github.com/okradb/okra-go/lmdbenv"
	"github.com/okradb/okra-go/tree"
)

// Mode says whether a tree keeps values beside its hashes.
type Mode = tree.Mode

// The modes of a tree. The zero Mode takes what the file says, and Store in a new tree.
const (
	AnyMode = tree.AnyMode
	Store   = tree.Store
	Index   = tree.Index
)

// Format is the parameters of a tree: K, Q and mode. Roots compare within one Format only.
type Format = tree.Format

// Options for [Open] and [Attach]. A nil *Options, and each zero field, means the default.
type Options struct {
	// Table is the named LMDB table that holds the tree; "" is the unnamed one. A tree in the
	// unnamed table has the file for itself: named tables would sit among its records.
	Table string

	// Q is the mean number of children of a node, at least 2, and K the number of bytes of a
	// hash, 4 to 32. Zero takes what the file says, and 32 and 16 in a new tree; other values
	// must agree with the file, as must a Mode that is not AnyMode.
	Q    uint32
	K    int
	Mode Mode

	// MapSize is the size of the map at first, in bytes, rounded up to a page. Zero means 1 TiB
	// (1 GiB on 32 bits), or what there is address space for. It reserves address space, not
	// disk. A map that is full grows to twice its size, up to MaxSize in bytes, which bounds the
	// data file; zero means 64 TiB (1 GiB). A map never shrinks.
	MapSize, MaxSize int64

	// GrowTimeout is how long growing the map waits for the transactions of this process to end.
	// Zero means 10 seconds.
	GrowTimeout time.Duration

	// MaxReaders is the number of reader slots, which Views and snapshots of all processes share,
	// if this process is the first to open the store. Zero means 2048.
	MaxReaders int

	// ReadOnly opens an existing store for reading. It makes no data file and no directory, and
	// changes no byte of the data.
	ReadOnly bool

	// NoLock, together with ReadOnly, does without LMDB's lock file, which even reading needs to
	// write: for a user without the right to. Nobody may write to the store meanwhile, or what is
	// read may be garbage or crash the process.
	NoLock bool

	// NoSync skips the flush to disk at commit. A crash of the machine may then lose the last
	// commits or damage the file; a crash of the process does no harm. Use it for data that can
	// be made again, and call Sync at the end.
	NoSync bool

	// CacheSize bounds the memory for nodes that were read or written, in bytes: with it a write
	// need not read the siblings of what it changes, which counts most where values are large. A
	// tree needs about 18 bytes for an entry, with hashes of 16 bytes; nothing is cached with
	// shorter ones. Half a MiB is the least. Zero means 32 MiB, a negative size no cache.
	CacheSize int

	// FileMode is given to files that are made, before umask. Zero means 0o644.
	FileMode fs.FileMode
}

func (o *Options) format() Format { return Format{K: o.K, Q: o.Q, Mode: o.Mode} }

func (o *Options) env() lmdbenv.Options {
	return lmdbenv.Options{
		MapSize: o.MapSize, MaxSize: o.MaxSize, GrowTimeout: o.GrowTimeout,
		MaxReaders: o.MaxReaders, ReadOnly: o.ReadOnly, NoLock: o.NoLock, NoSync: o.NoSync,
		FileMode: o.FileMode,
	}
}

// check returns an error wrapping ErrOptions for a field that no store can have.
func (o *Options) check() error {
	if err := o.format().Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrOptions, err)
	}
	if o.MapSize < 0 || o.MaxSize < 0 || o.GrowTimeout < 0 || o.MaxReaders < 0 {
		return fmt.Errorf("%w: MapSize is %d, MaxSize %d, GrowTimeout %s, MaxReaders %d",
			ErrOptions, o.MapSize, o.MaxSize, o.GrowTimeout, o.MaxReaders)
	}
	if o.MaxSize != 0 && o.MapSize > o.MaxSize {
		return fmt.Errorf("%w: MapSize %d is above MaxSize %d", ErrOptions, o.MapSize, o.MaxSize)
	}
	if o.NoLock && !o.ReadOnly {
		return fmt.Errorf("%w: NoLock goes with ReadOnly only", ErrOptions)
	}
	return nil
}

package tree

// Storage is an ordered table of records inside one transaction: keys of 1 to 511 bytes, in
// the order of unsigned bytes, shorter first. It knows records and hash prefixes, not trees.
//
// Bytes that a method returns belong to the storage: they are valid until the next Apply or
// Append and must not be written to. Arguments are not kept past the call. A Storage is used by
// one goroutine at a time. After an error from Apply or Append the table may hold part of the
// batch: the transaction must be aborted.
type Storage interface {
	// Get returns the value of the record under prefix·key, and whether there is one.
	Get(prefix byte, key []byte) (value []byte, ok bool, err error)

	// Scan fills out with consecutive records and returns how many there were: fewer than
	// len(out) means that there are no more. It begins as start says of from, and ends before
	// the first record at or above stop going forward (nil: none), below stop going backward.
	Scan(start Start, from, stop []byte, out []Record) (n int, err error)

	// Gather reads runs of records. A run begins at a boundary, or at the record whose key is
	// its first byte alone, and ends before the next such. For each question in turn, which
	// ascend and share their first byte, it reads the run that begins at the key, or for a Before
	// the run that holds the record before the key, unless that is the run it read last. It
	// empties out first and stops at a run that does not fit. A run that is not there gives
	// ErrCorrupt, as does a value too short for its hash.
	Gather(questions *Batch, rule Rule, out *Gathered) error

	// Floor sets out[i] to the last record at or below the i-th key of keys, which ascend, or to
	// the zero Record if there is none. len(out) is at least keys.Len().
	Floor(keys *Batch, out []Record) error

	// Apply puts and deletes the records of b, whose keys ascend strictly, and sets effects[i]
	// to what the i-th found. Deleting an absent record and putting a value that is stored
	// already write nothing. len(effects) is at least b.Len().
	//
	// Unless olds is nil, it has room for b.Len() hashes, and the i-th is set to that of the
	// record replaced or deleted or, for a record put where there was none, of the record before
	// it: zeros if that is absent or too short. For a delete that finds nothing it is left alone.
	Apply(b *Batch, rule Rule, effects []Effect, olds []byte) error

	// Append puts the records of b, whose keys ascend strictly and follow every record stored.
	Append(b *Batch) error

	// Count returns the number of records.
	Count() (int64, error)
}

// A Hasher is a Storage that hashes many short messages in less time than one after another.
type Hasher interface {
	// HashMany hashes messages that lie one behind the other in joined, the i-th up to ends[i],
	// and writes the first size bytes of each BLAKE3 hash, one behind the other, to sums, which
	// has room for them. It reports whether it did, which it may not where a message has more
	// than 128 KiB or the machine is none for it. Any goroutine may call it at any time.
	HashMany(joined []byte, ends []int, size int, sums []byte) bool
}

// A Record is one record of a Storage.
type Record struct{ Key, Value []byte }

// Start says where a Scan begins and which way it goes.
type Start uint8

// The four starts of a Scan, relative to its key.
const (
	AtOrAfter  Start = iota // forward from the first record at or above the key
	After                   // forward from the first record above the key
	AtOrBefore              // backward from the last record at or below the key
	Before                  // backward from the last record below the key
)

// Backward reports whether a scan that starts so descends.
func (s Start) Backward() bool { return s >= AtOrBefore }

// An Effect is what a put or delete found under its key.
type Effect uint8

// The bits of an Effect.
const (
	Existed     Effect = 1 << iota // there was a record
	WasBoundary                    // and it was a boundary
	Unchanged                      // nothing was written
)

// Gathered is the answer of Storage.Gather: runs, and the hashes of their records, joined.
type Gathered struct {
	Hashes []byte // its capacity bounds one answer
	Runs   []Run
	Done   int    // questions answered; if fewer than asked, the next run did not fit
	End    []byte // where the last run ended: the key of the next boundary, nil at the end
}

// A Run is the records of one node's children.
type Run struct {
	First []byte // key of its first record
	End   int    // where its hashes end in Hashes
}

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

	// Floor sets out[i] to the key of the greatest record not above the i-th key of keys that
	// shares its first byte, or to nil. Keys ascend; len(out) is at least keys.Len().
	Floor(keys *Batch, out [][]byte) error

	// Gather reads, for each key of starts in turn, the run of records from that key up to, not
	// including, the next boundary or the next first byte, and collects the hashes in out,
	// which it empties first. Keys ascend. It stops early when out.Hashes has no capacity left:
	// see Gathered. A start that is not stored gives ErrCorrupt, as does a value too short for
	// its hash.
	Gather(starts *Batch, rule Rule, out *Gathered) error

	// Apply puts and deletes the records of b, whose keys ascend strictly, and sets effects[i]
	// to what the i-th found. Deleting an absent record and putting a value that is stored
	// already write nothing. len(effects) is at least b.Len().
	Apply(b *Batch, rule Rule, effects []Effect) error

	// Append puts the records of b, whose keys ascend strictly and follow every record stored.
	Append(b *Batch) error

	// Count returns the number of records.
	Count() (int64, error)
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

// Gathered is the answer of Storage.Gather: the hashes of whole runs, joined.
type Gathered struct {
	Hashes []byte // its capacity bounds one answer
	Ends   []int  // Ends[i] is where the i-th run ends in Hashes
	// Last is the key of the last record read, if part of one more run was read, whose hashes
	// stand in Hashes after the last end; otherwise nil.
	Last []byte
}

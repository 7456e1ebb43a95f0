package tree

import "errors"

// Errors about arguments. They change nothing and leave the transaction usable.
var (
	// ErrKeyEmpty refuses the empty key: its record would be the anchor's.
	ErrKeyEmpty = errors.New("key is empty")
	// ErrKeyTooLong refuses a key of more than MaxKey bytes.
	ErrKeyTooLong = errors.New("key is longer than 510 bytes")
	// ErrValueTooLong refuses a value that does not fit a record together with its hash.
	ErrValueTooLong = errors.New("value is too long")
	// ErrHashSize refuses a hash whose length is not the tree's K.
	ErrHashSize = errors.New("hash has the wrong length")
	// ErrLevel refuses a level outside 0 to MaxLevel, or the children of a leaf.
	ErrLevel = errors.New("no such level")
	// ErrMode refuses an operation that the mode of the tree does not have.
	ErrMode = errors.New("operation does not fit the mode of the tree")
)

// Errors about what is stored.
var (
	// ErrNotFound says that there is no such key or node.
	ErrNotFound = errors.New("not found")
	// ErrNoValues answers a read of values in a tree that keeps only hashes.
	ErrNoValues = errors.New("tree is in index mode and keeps no values")
	// ErrNotEmpty refuses a load into a tree that has entries.
	ErrNotEmpty = errors.New("tree is not empty")
	// ErrNotOkra says that the storage holds no okra tree.
	ErrNotOkra = errors.New("not an okra store")
	// ErrFormat says that the tree was made with another version, K, Q or mode than asked for.
	ErrFormat = errors.New("tree has another format")
	// ErrCorrupt says that a record breaks the format.
	ErrCorrupt = errors.New("tree is damaged")
	// ErrTooTall says that the entries need more than MaxLevel levels.
	ErrTooTall = errors.New("tree is too tall")
)

// Errors about the transaction.
var (
	// ErrFailed says that an earlier step of this transaction failed, so that the index may be
	// half repaired: the transaction can only be aborted.
	ErrFailed = errors.New("transaction has failed and can only be aborted")
	// ErrReadOnly refuses a write to an index opened for reading.
	ErrReadOnly = errors.New("only reads are possible here")
	// ErrWritten ends an iteration during which the same transaction wrote to the tree.
	ErrWritten = errors.New("tree was written to during iteration")
)

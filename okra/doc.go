// Package okra keeps a Merkle index beside the data of an LMDB store, in the same LMDB
// transactions, so that two replicas know from one root whether they are equal and find every
// difference by walking only the parts that differ.
//
// Five nouns are enough to use it:
//
//   - A [DB] is a directory with an LMDB environment, and one tree in it by default.
//   - A [Tx] is one tree in one transaction, given to the function of [DB.View] or [DB.Update].
//   - An [Entry] is a key with its value.
//   - A [Root] names all entries of a tree: equal entries, equal roots.
//   - A [Node] is a part of the index, for those who compare trees by themselves.
//
// Keys have 1 to 510 bytes, in the order of unsigned bytes, shorter first: numbers sort when
// they are big-endian and of one length. Values may be empty.
//
// # Borrowed bytes
//
// The slices that a transaction hands out point into LMDB's memory and must not be written to.
// They are valid until the View ends. In an Update the next write ends their time, and for a
// value from Get any next call but Get and Has, since that may apply writes which wait. Touching
// one later may give other bytes or crash the process; bytes.Clone keeps a copy.
//
// # Goroutines
//
// A DB may be used by many goroutines. Any number of Views run at once, and one Update beside
// them. A Tx belongs to the goroutine that received it, and ends with its function: so does
// what iter.Pull makes of its sequences, which must be stopped before. Such a sequence, made
// outside an Update, cannot be advanced inside one: an Update has its thread for itself, and the
// Go runtime ends the program. Nor can a DB be attached, or an Update begun, inside a write
// transaction that the program has begun by itself: it would wait for that for ever.
//
// A View sees the last commit before it began, also when it is called inside Update, whose own
// writes it does not see. Keep Views short: while one is open LMDB cannot reuse the pages that
// it sees, so the file grows with every commit.
//
// # Limits of LMDB
//
// A file may be open once in a process, which Open checks, and should be on a local disk: not
// on a network file system, and not shared by containers that have separate process ids.
package okra

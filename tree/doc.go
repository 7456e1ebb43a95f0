// Package tree keeps a Merkle index over sorted entries: a prolly tree in the okra v3 format,
// which FORMAT.md at the root of the repository specifies to the byte.
//
// The nouns, each used in one sense only:
//
//   - An entry is a key with its value. Its leaf is the level-0 record that holds both and
//     the leaf hash.
//   - A node is a record of some level: a leaf at level 0, above it the hash of its children.
//   - The anchor of a level is its first node. It has no key.
//   - A boundary is a node whose hash is small enough to begin a node on the level above.
//   - The root is the anchor of the top level, named by the pair of level and hash.
//
// The tree is a pure function of its entries: whatever the order of writes, equal entries give
// equal nodes on every level. [Tree] reads and writes one tree through a [Storage]. Writes
// wait in memory and are applied in key order, and each level is repaired once per flush, so
// the work follows the nodes touched and not the number of writes.
//
// The package does no I/O, has no cgo and starts no goroutine that outlives a call.
package tree

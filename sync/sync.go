// Package sync makes replicas equal: two okra trees that share most of their entries find what
// differs and send only that, over any stream of bytes. Import it under the name okrasync, since
// the standard library has a sync of its own:
//
//	import okrasync "github.com/okradb/okra-go/sync"
//
// One side asks: it calls [Pull], [Push], [Sync] or [Diff]. The other answers with [Serve]. The
// package knows no transport; package peer has one.
//
// # What a difference means
//
// A tree does not tell "deleted here" from "added there". So nothing is deleted by default: the
// union of both sides is what remains, and a key that was deleted on one side only comes back
// from the other. [Options.Mirror] makes the target equal to the source instead, deletes
// included. Those who need deletes in a union keep a marked value under the key, a tombstone,
// and delete it on all replicas once they all have it.
//
// Where both sides have a key with different values there is a conflict, which
// [Options.Resolve] decides. okra stores no clock, so no side is newer. With [Larger], which
// gives the same on any side and in any order, all replicas converge.
//
// # How differences are found
//
// Equal nodes have equal hashes, and where nodes begin depends on the entries alone. So the
// hashes of one level, in order, are the same sequence on both sides except around differences.
// The sides take turns: each compares the list that it got with its own nodes, names the gaps by
// ordinals, and lists its own nodes of the level below within these. Hashes are cut to a few
// bytes, under a salt that changes each time, and no key travels until the entries do. A sum
// over the nodes that were taken for equal shows when two that differ look alike, and the lists
// are made again with another salt. FORMAT.md in this
// folder has the messages.
//
// Equal trees are known from one round trip, and so is what was appended behind the last key of
// the other side.
//
// # Interruptions and writers
//
// Entries are written in short durable batches, so that a session which is cut off has done what
// it has done, and the next finds only the rest. Both sides may be written to meanwhile: a
// session is about the entries that the sides had when it began. A mirror deletes or overwrites
// an entry only if it is still the one that was compared, as does every change at the peer; what
// is not is counted as refused, with [ReasonChanged]. A conflict is decided here between the
// values of that moment.
package sync

import (
	"context"
	"iter"

	"github.com/okradb/okra-go/okra"
)

// Pull brings what the peer has and db has not into db. With [Options.Mirror] it then deletes
// what only db has.
//
// The Summary tells what was done, also beside an error. Errors are those of the package, of the
// store (okra.Err...), or of ctx; entries that were written before stay.
func Pull(ctx context.Context, conn Conn, db *okra.DB, opts *Options) (Summary, error) {
	return run(ctx, conn, db, opts, direction{pull: true})
}

// Push brings what db has and the peer has not to the peer, which must allow writing. With
// [Options.Mirror] it then deletes there what only the peer has. Else as [Pull].
func Push(ctx context.Context, conn Conn, db *okra.DB, opts *Options) (Summary, error) {
	return run(ctx, conn, db, opts, direction{push: true})
}

// Sync is [Pull] and [Push] in one session: unless entries are refused or conflicts are left,
// both sides then have the same. [Options.Mirror] is an error.
func Sync(ctx context.Context, conn Conn, db *okra.DB, opts *Options) (Summary, error) {
	return run(ctx, conn, db, opts, direction{pull: true, push: true})
}

// A Difference is one key under which db and the peer differ. Its key is borrowed until the next.
type Difference struct {
	Change okra.Change // what would make ours like theirs
	Key    []byte
	Ours   okra.Hash // leaf hash; zero if only the peer has the key
	Theirs okra.Hash // leaf hash; zero if only db has the key
}

// Diff yields what differs between db and the peer in ascending order of keys, and changes
// nothing on either side. On failure it yields a zero Difference with the error once, then
// stops. Of opts only those about range, limits and time apply.
func Diff(ctx context.Context, conn Conn, db *okra.DB, opts *Options) iter.Seq2[Difference, error] {
	return func(yield func(Difference, error) bool) {
		if err := diff(ctx, conn, db, opts, func(d Difference) bool { return yield(d, nil) }); err != nil {
			yield(Difference{}, err)
		}
	}
}

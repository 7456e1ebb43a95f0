//go:build (linux || darwin) && amd64 && !okra_portable

package lmdbenv

/*
#cgo noescape okra_hash_many
#cgo nocallback okra_hash_many
#include "hash.h"
*/
import "C"

import (
	"unsafe"

	"github.com/okradb/okra-go/tree"
)

// lanes is what the machine can hash many messages at once by, once it has been seen to give the
// library's hashes: a wrong one would be written into the trees.
var lanes = sound(int(C.okra_hash_lanes()))

// sound returns lanes, or that there are none if they give a hash that the library does not.
func sound(lanes int) int {
	var joined []byte
	var ends []int
	for _, n := range []int{0, 16, 64, 65, 512, 1000, 1024, 1040, 2048, 3100} {
		for i := range n {
			joined = append(joined, byte(i*n>>3))
		}
		ends = append(ends, len(joined))
	}
	sums := make([]byte, tree.MaxHash*len(ends))
	if !hashMany(lanes, joined, ends, tree.MaxHash, sums) {
		return C.OKRA_NO_LANES
	}
	begin := 0
	for i, end := range ends {
		right := tree.NodeHash(tree.MaxHash, joined[begin:end])
		if got, err := tree.HashFrom(sums[i*tree.MaxHash:][:tree.MaxHash]); err != nil || got != right {
			return C.OKRA_NO_LANES
		}
		begin = end
	}
	return lanes
}

// HashMany implements tree.Hasher.
func (*bulk) HashMany(joined []byte, ends []int, size int, sums []byte) bool {
	return hashMany(lanes, joined, ends, size, sums)
}

func hashMany(lanes int, joined []byte, ends []int, size int, sums []byte) bool {
	n := len(ends)
	if lanes == C.OKRA_NO_LANES || n == 0 {
		return n == 0
	}
	done := C.okra_hash_many(C.int(lanes), (*C.uchar)(unsafe.SliceData(joined)),
		(*C.size_t)(unsafe.Pointer(&ends[0])), C.size_t(n), C.size_t(size),
		(*C.uchar)(unsafe.SliceData(sums)))
	return int(done) == n
}

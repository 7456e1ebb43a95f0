//go:build (linux || darwin) && amd64 && !okra_portable

package lmdbenv

/*
#cgo noescape okra_hash_many
#cgo nocallback okra_hash_many
#include "hash.h"
*/
import "C"

import "unsafe"

// lanes is what the machine can hash many messages at once by.
var lanes = int(C.okra_hash_lanes())

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

// BLAKE3 of many short messages at once, each in a lane of its own of the processor's vectors.
#ifndef OKRA_HASH_H
#define OKRA_HASH_H

#include <stddef.h>
#include <stdint.h>

// The vectors that okra_hash_many can use: none, so that it must not be called; AVX2; AVX2 with
// the rotations and registers of AVX-512. Each includes those before it.
enum { OKRA_NO_LANES, OKRA_AVX2, OKRA_AVX512 };

// okra_hash_lanes returns the best of the above that the machine has.
int okra_hash_lanes(void);

// The most chunks, of 1 KiB each, that a message may have.
enum { OKRA_MOST_CHUNKS = 128 };

// okra_hash_many hashes n messages that lie one behind the other in data, the i-th up to ends[i],
// and writes the first size bytes of each hash, at most 32, one behind the other to sums. It
// returns how many it hashed: fewer than n when the next is too long.
size_t okra_hash_many(int lanes, const unsigned char *data, const size_t *ends, size_t n,
	size_t size, unsigned char *sums);

#endif

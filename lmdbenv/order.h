// The order of keys: that of LMDB, by whole words.
#ifndef OKRA_ORDER_H
#define OKRA_ORDER_H

#include <stdint.h>
#include <string.h>

#include "lmdb09.h"

static inline uint64_t okra_big64(const char *p) {
	uint64_t v;
	memcpy(&v, p, 8);
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? v : __builtin_bswap64(v);
}

static inline uint32_t okra_big32(const char *p) {
	uint32_t v;
	memcpy(&v, p, 4);
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? v : __builtin_bswap32(v);
}

// okra_compare orders keys by their bytes, unsigned, a shorter one before those it begins. Most
// keys have few bytes, for which a call of memcmp takes longer than the comparison.
static inline int okra_compare(const MDB_val *a, const MDB_val *b) {
	const char *p = a->mv_data, *q = b->mv_data;
	size_t n = a->mv_size < b->mv_size ? a->mv_size : b->mv_size;
	for (; n >= 8; n -= 8, p += 8, q += 8) {
		uint64_t x = okra_big64(p), y = okra_big64(q);
		if (x != y)
			return x < y ? -1 : 1;
	}
	if (n >= 4) { // two words that may share bytes
		uint64_t x = (uint64_t)okra_big32(p) << 32 | okra_big32(p + n - 4);
		uint64_t y = (uint64_t)okra_big32(q) << 32 | okra_big32(q + n - 4);
		if (x != y)
			return x < y ? -1 : 1;
	} else {
		for (; n > 0; n--, p++, q++)
			if (*p != *q)
				return *(const unsigned char *)p < *(const unsigned char *)q ? -1 : 1;
	}
	return (a->mv_size > b->mv_size) - (a->mv_size < b->mv_size);
}

#endif

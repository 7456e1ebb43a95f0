//go:build (linux || darwin) && amd64 && !okra_portable

#include "hash.h"

#include <string.h>

// BLAKE3 as its specification has it. A message is cut into chunks, and a chunk into blocks that
// are compressed one after another into eight words. The words of two chunks make a block too,
// and so on until eight are left. Libraries fill their vectors with the chunks of one message; a
// node has but one or two, so that here the vectors are filled with those of many nodes.
enum { LANES = 8, BLOCK = 64, CHUNK = 1024, CHUNK_START = 1, CHUNK_END = 2, PARENT = 4, ROOT = 8 };

typedef uint32_t vector __attribute__((vector_size(4 * LANES)));

typedef union {
	vector all;
	uint32_t lane[LANES];
} word;

static const uint32_t iv[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
	0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

// A part is a chunk of a message, or two results to be joined, which are one block.
typedef struct {
	const unsigned char *data;
	uint32_t size, counter;
	uint32_t flags, first, last; // of all its blocks; more of the first, and of the last
	uint32_t *result;            // eight words
} part;

// UNROLL before a short loop over vectors keeps them in registers.
#define UNROLL _Pragma("GCC unroll 8")

#ifdef __clang__
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define PICK(a, b, ...) __builtin_shuffle(a, b, (vector){__VA_ARGS__})
#endif

// transpose sets m to the words of a block in each lane.
static inline __attribute__((always_inline)) void transpose(
	const unsigned char *const *blocks, vector *m) {
	UNROLL for (int half = 0; half < 2; half++, m += 8) {
		vector r[8], s[8], t[8];
		UNROLL for (int l = 0; l < 8; l++)
			memcpy(&r[l], blocks[l] + 32 * half, 32);
		UNROLL for (int l = 0; l < 8; l += 2) {
			s[l] = PICK(r[l], r[l + 1], 0, 8, 1, 9, 4, 12, 5, 13);
			s[l + 1] = PICK(r[l], r[l + 1], 2, 10, 3, 11, 6, 14, 7, 15);
		}
		UNROLL for (int l = 0; l < 8; l += 4) {
			t[l] = PICK(s[l], s[l + 2], 0, 1, 8, 9, 4, 5, 12, 13);
			t[l + 1] = PICK(s[l], s[l + 2], 2, 3, 10, 11, 6, 7, 14, 15);
			t[l + 2] = PICK(s[l + 1], s[l + 3], 0, 1, 8, 9, 4, 5, 12, 13);
			t[l + 3] = PICK(s[l + 1], s[l + 3], 2, 3, 10, 11, 6, 7, 14, 15);
		}
		UNROLL for (int l = 0; l < 4; l++) {
			m[l] = PICK(t[l], t[l + 4], 0, 1, 2, 3, 8, 9, 10, 11);
			m[l + 4] = PICK(t[l], t[l + 4], 4, 5, 6, 7, 12, 13, 14, 15);
		}
	}
}

#define TURN(x, n) ((x) >> (n) | (x) << (32 - (n)))
#define MIX(a, b, c, d, x, y) \
	a += b + x, d = TURN(d ^ a, 16), c += d, b = TURN(b ^ c, 12), \
	a += b + y, d = TURN(d ^ a, 8), c += d, b = TURN(b ^ c, 7)
#define ROUND(a, b, c, d, e, f, g, h, i, j, k, l, o, p, q, r) \
	MIX(v0, v4, v8, v12, m[a], m[b]), MIX(v1, v5, v9, v13, m[c], m[d]), \
	MIX(v2, v6, v10, v14, m[e], m[f]), MIX(v3, v7, v11, v15, m[g], m[h]), \
	MIX(v0, v5, v10, v15, m[i], m[j]), MIX(v1, v6, v11, v12, m[k], m[l]), \
	MIX(v2, v7, v8, v13, m[o], m[p]), MIX(v3, v4, v9, v14, m[q], m[r])

// compress takes the next block of every lane into its words h.
static inline __attribute__((always_inline)) void compress(word *h,
	const unsigned char *const *blocks, const word *counter, const word *size, const word *flags) {
	vector m[16], none = {0};
	transpose(blocks, m);
	vector v0 = h[0].all, v1 = h[1].all, v2 = h[2].all, v3 = h[3].all;
	vector v4 = h[4].all, v5 = h[5].all, v6 = h[6].all, v7 = h[7].all;
	vector v8 = none + iv[0], v9 = none + iv[1], v10 = none + iv[2], v11 = none + iv[3];
	vector v12 = counter->all, v13 = none, v14 = size->all, v15 = flags->all;
	ROUND(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	ROUND(2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8);
	ROUND(3, 4, 10, 12, 13, 2, 7, 14, 6, 5, 9, 0, 11, 15, 8, 1);
	ROUND(10, 7, 12, 9, 14, 3, 13, 15, 4, 0, 11, 2, 5, 8, 1, 6);
	ROUND(12, 13, 9, 11, 15, 10, 14, 8, 7, 2, 5, 3, 0, 1, 6, 4);
	ROUND(9, 14, 11, 5, 8, 12, 15, 1, 13, 3, 0, 10, 2, 6, 4, 7);
	ROUND(11, 15, 5, 0, 1, 9, 8, 6, 14, 10, 2, 12, 3, 4, 7, 13);
	h[0].all = v0 ^ v8, h[1].all = v1 ^ v9, h[2].all = v2 ^ v10, h[3].all = v3 ^ v11;
	h[4].all = v4 ^ v12, h[5].all = v5 ^ v13, h[6].all = v6 ^ v14, h[7].all = v7 ^ v15;
}

// hash_parts hashes n parts. A lane whose part is done takes the next.
static inline __attribute__((always_inline)) void hash_parts(const part *parts, size_t n) {
	const part *of[LANES] = {0};
	const unsigned char *blocks[LANES];
	unsigned char tails[LANES][BLOCK] = {{0}}; // blocks that are not whole
	word h[8] = {{{0}}}, counter = {{0}}, size = {{0}}, flags = {{0}};
	uint32_t at[LANES] = {0};
	size_t next = 0, done = 0;
	for (int l = 0; l < LANES; l++)
		blocks[l] = tails[l];
	while (done < n) {
		for (int l = 0; l < LANES; l++) {
			if (of[l] == NULL) {
				if (next == n)
					continue;
				of[l] = &parts[next++];
				at[l] = 0;
				for (int i = 0; i < 8; i++)
					h[i].lane[l] = iv[i];
				counter.lane[l] = of[l]->counter;
			}
			const part *p = of[l];
			uint32_t left = p->size - at[l], take = left < BLOCK ? left : BLOCK;
			blocks[l] = p->data + at[l];
			if (take < BLOCK) {
				memset(tails[l], 0, BLOCK);
				if (take > 0)
					memcpy(tails[l], blocks[l], take);
				blocks[l] = tails[l];
			}
			uint32_t flag = p->flags | (at[l] == 0 ? p->first : 0) | (left <= BLOCK ? p->last : 0);
			if (size.lane[l] != take) // a vector is slow to read after a word of it was written
				size.lane[l] = take;
			if (flags.lane[l] != flag)
				flags.lane[l] = flag;
			at[l] += take;
		}
		compress(h, blocks, &counter, &size, &flags);
		for (int l = 0; l < LANES; l++) {
			if (of[l] == NULL || at[l] < of[l]->size)
				continue;
			for (int i = 0; i < 8; i++)
				of[l]->result[i] = h[i].lane[l];
			of[l] = NULL;
			blocks[l] = tails[l];
			done++;
		}
	}
}

__attribute__((target("avx2"))) static void by_avx2(const part *parts, size_t n) {
	hash_parts(parts, n);
}

__attribute__((target("avx2,avx512f,avx512vl"))) static void by_avx512(const part *parts, size_t n) {
	hash_parts(parts, n);
}

int okra_hash_lanes(void) {
	if (!__builtin_cpu_supports("avx2"))
		return OKRA_NO_LANES;
	if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vl"))
		return OKRA_AVX2;
	return OKRA_AVX512;
}

static size_t chunks(size_t size) { return size <= CHUNK ? 1 : (size + CHUNK - 1) / CHUNK; }

// A message of a group, by what of it is hashed: a row of results, to be joined to one.
typedef struct {
	size_t first, count;
} row;

typedef uint32_t result[8];

// join joins the results of every row by twos until one is left; an odd one waits.
static void join(void (*hash)(const part *, size_t), part *parts, result *results, row *rows,
	size_t n) {
	for (;;) {
		size_t joins = 0;
		for (row *m = rows; m < rows + n; m++) {
			result *r = results + m->first;
			for (size_t c = 0; c + 1 < m->count; c += 2)
				parts[joins++] = (part){(const unsigned char *)r[c], BLOCK, 0, PARENT, 0,
					m->count == 2 ? ROOT : 0, r[c / 2]}; // nobody reads that later
		}
		if (joins == 0)
			return;
		hash(parts, joins);
		for (row *m = rows; m < rows + n; m++) {
			result *r = results + m->first;
			if (m->count > 1 && m->count % 2 == 1)
				memcpy(r[m->count / 2], r[m->count - 1], sizeof(result));
			m->count = (m->count + 1) / 2;
		}
	}
}

size_t okra_hash_many(int lanes, const unsigned char *data, const size_t *ends, size_t n,
	size_t size, unsigned char *sums) {
	void (*hash)(const part *, size_t) = lanes == OKRA_AVX512 ? by_avx512 : by_avx2;
	part parts[OKRA_MOST_CHUNKS];
	result results[OKRA_MOST_CHUNKS];
	row rows[OKRA_MOST_CHUNKS];
	size_t done = 0, begin = 0;
	while (done < n) {
		size_t used = 0, group = 0;
		for (; done + group < n; group++) { // as many messages as there is room for
			size_t left = ends[done + group] - begin;
			size_t count = chunks(left);
			if (count > OKRA_MOST_CHUNKS - used)
				break;
			rows[group] = (row){used, count};
			for (size_t c = 0; c < count; c++, used++) {
				size_t take = left < CHUNK ? left : CHUNK;
				parts[used] = (part){data + begin, take, c, 0, CHUNK_START,
					CHUNK_END | (count == 1 ? ROOT : 0), results[used]};
				begin += take;
				left -= take;
			}
		}
		if (group == 0)
			break;
		hash(parts, used);
		join(hash, parts, results, rows, group);
		for (size_t i = 0; i < group; i++, done++)
			memcpy(sums + done * size, results[rows[i].first], size);
	}
	return done;
}

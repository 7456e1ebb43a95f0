//go:build (linux || darwin) && !okra_portable

#include "bulk.h"

#include <string.h>

#include "walk.h"

#define DELETE UINT32_MAX

// An item of a batch: u32 value length or DELETE, u16 key length, key, value.
typedef struct {
	MDB_val key, value;
	int del;
} item;

// next decodes the item at p and returns the place of the one after it.
static const char *next(const char *p, item *it) {
	uint32_t value;
	uint16_t key;
	memcpy(&value, p, 4);
	memcpy(&key, p + 4, 2);
	p += 6;
	it->key = (MDB_val){key, (void *)p};
	p += key;
	it->del = value == DELETE;
	it->value = (MDB_val){it->del ? 0 : value, (void *)p};
	return p + it->value.mv_size;
}

static int boundary(MDB_val v, uint32_t limit) {
	const unsigned char *b = v.mv_data;
	return v.mv_size >= 4 &&
		((uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]) < limit;
}

static int compare(MDB_val a, const char *b, size_t b_size) {
	size_t n = a.mv_size < b_size ? a.mv_size : b_size;
	int c = memcmp(a.mv_data, b, n);
	return c ? c : (a.mv_size > b_size) - (a.mv_size < b_size);
}

static okra_bytes bytes(MDB_val v) { return (okra_bytes){(uintptr_t)v.mv_data, v.mv_size}; }

static int first_byte(MDB_val v) { return *(const unsigned char *)v.mv_data; }

int okra_get(MDB_cursor *c, char prefix, const char *key, size_t size, okra_bytes *value) {
	char whole[511];
	MDB_val k = {1 + size, whole}, v;
	if (size >= sizeof whole)
		return NOTFOUND;
	whole[0] = prefix;
	if (size > 0)
		memcpy(whole + 1, key, size);
	int rc = mdb_get(mdb_cursor_txn(c), mdb_cursor_dbi(c), &k, &v);
	if (rc == 0)
		*value = bytes(v);
	return rc;
}

// seek moves c to the first record of a scan.
static int seek(MDB_cursor *c, int start, const char *from, size_t size, MDB_val *k, MDB_val *v) {
	*k = (MDB_val){size, (void *)from};
	int rc = mdb_cursor_get(c, k, v, SET_RANGE);
	int backward = start >= 2;
	if (rc == NOTFOUND && backward)
		return mdb_cursor_get(c, k, v, LAST);
	if (rc)
		return rc;
	int equal = compare(*k, from, size) == 0;
	if (start == 1 && equal)
		return mdb_cursor_get(c, k, v, NEXT);
	if (backward && (start == 3 || !equal))
		return mdb_cursor_get(c, k, v, PREV);
	return 0;
}

int okra_scan(MDB_cursor *c, int start, const char *from, size_t from_size, const char *stop,
	size_t stop_size, okra_record *out, size_t room, size_t *found) {
	MDB_val k, v;
	int op = start >= 2 ? PREV : NEXT;
	int rc = seek(c, start, from, from_size, &k, &v);
	size_t n = 0;
	okra_walk w = {0};
	if (rc == 0)
		w = okra_walk_begin(c, k);
	while (rc == 0) {
		int past = stop_size == 0 ? -1 : compare(k, stop, stop_size);
		if (op == NEXT ? past >= 0 : stop_size != 0 && past < 0)
			break;
		out[n++] = (okra_record){bytes(k), bytes(v)};
		if (n == room)
			break;
		rc = okra_walk_step(&w, op, &k, &v);
	}
	*found = n;
	return rc == NOTFOUND ? 0 : rc;
}

int okra_floor(MDB_cursor *c, const char *batch, size_t size, okra_bytes *out) {
	const char *end = batch + size;
	item it;
	while (batch < end) {
		batch = next(batch, &it);
		MDB_val k, v;
		int rc = seek(c, 2, it.key.mv_data, it.key.mv_size, &k, &v);
		if (rc != 0 && rc != NOTFOUND)
			return rc;
		if (rc == NOTFOUND || first_byte(k) != first_byte(it.key))
			*out++ = (okra_bytes){0, 0};
		else
			*out++ = bytes(k);
	}
	return 0;
}

int okra_gather(MDB_cursor *c, const char *batch, size_t size, size_t hash, uint32_t limit,
	char *hashes, size_t room, size_t *ends, okra_gathered *out) {
	const char *begin = batch, *end = batch + size;
	MDB_val k = {0, 0}, v = {0, 0};
	okra_walk w = {0};
	item it;
	*out = (okra_gathered){0};
	while (batch < end) {
		out->start = batch - begin;
		batch = next(batch, &it);
		int rc = 0;
		// A node often follows the one before it: then c stands on its start already.
		if (k.mv_size == 0 || compare(k, it.key.mv_data, it.key.mv_size) != 0) {
			k = it.key;
			rc = mdb_cursor_get(c, &k, &v, SET_KEY); // k becomes LMDB's copy
			if (rc == 0)
				w = okra_walk_begin(c, k);
		}
		int level = first_byte(it.key), first = 1;
		while (rc == 0 && first_byte(k) == level && (first || !boundary(v, limit))) {
			if (v.mv_size < hash) {
				out->bad = bytes(k);
				return OKRA_SHORT;
			}
			if (room - out->used < hash)
				return 0;
			memcpy(hashes + out->used, v.mv_data, hash);
			out->used += hash;
			out->last = bytes(k);
			first = 0;
			rc = okra_walk_step(&w, NEXT, &k, &v);
		}
		if (first)
			return rc == 0 || rc == NOTFOUND ? OKRA_ABSENT : rc;
		if (rc == NOTFOUND)
			k.mv_size = 0;
		else if (rc)
			return rc;
		ends[out->runs++] = out->used;
		out->last = (okra_bytes){0, 0};
	}
	return 0;
}

// put stores one record and reports in effect what it replaced.
static int put(MDB_cursor *c, item *it, uint32_t limit, uint8_t *effect) {
	MDB_val old = it->value;
	int rc = mdb_cursor_put(c, &it->key, &old, NOOVERWRITE);
	if (rc != KEYEXIST)
		return rc;
	*effect = OKRA_EXISTED;
	if (boundary(old, limit))
		*effect |= OKRA_BOUNDARY;
	if (old.mv_size == it->value.mv_size &&
		memcmp(old.mv_data, it->value.mv_data, old.mv_size) == 0) {
		*effect |= OKRA_UNCHANGED;
		return 0;
	}
	return mdb_cursor_put(c, &it->key, &it->value, CURRENT);
}

// del deletes one record and reports in effect what it was.
static int del(MDB_cursor *c, item *it, uint32_t limit, uint8_t *effect) {
	MDB_val k = it->key, v;
	int rc = mdb_cursor_get(c, &k, &v, SET);
	if (rc == NOTFOUND) {
		*effect = OKRA_UNCHANGED;
		return 0;
	}
	if (rc)
		return rc;
	*effect = OKRA_EXISTED;
	if (boundary(v, limit))
		*effect |= OKRA_BOUNDARY;
	return mdb_cursor_del(c, 0);
}

int okra_apply(MDB_cursor *c, const char *batch, size_t size, uint32_t limit, uint8_t *effects) {
	const char *end = batch + size;
	item it;
	while (batch < end) {
		batch = next(batch, &it);
		*effects = 0;
		int rc = it.del ? del(c, &it, limit, effects) : put(c, &it, limit, effects);
		if (rc)
			return rc;
		effects++;
	}
	return 0;
}

int okra_append(MDB_cursor *c, const char *batch, size_t size) {
	const char *end = batch + size;
	item it;
	while (batch < end) {
		batch = next(batch, &it);
		int rc = mdb_cursor_put(c, &it.key, &it.value, APPEND);
		if (rc)
			return rc;
	}
	return 0;
}

void okra_constants(int *out) {
	const int all[] = {LAST, NEXT, PREV, SET, SET_KEY, SET_RANGE, NOOVERWRITE, CURRENT, APPEND,
		KEYEXIST, NOTFOUND};
	memcpy(out, all, sizeof all);
}

//go:build (linux || darwin) && !okra_portable

#include "bulk.h"

#include <string.h>

#include "aside.h"
#include "order.h"
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
	MDB_val other = {b_size, (void *)b};
	return okra_compare(&a, &other);
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
	*found = 0;
	if (rc == 0)
		w = okra_walk_begin(c, k);
	while (rc == 0) {
		int past = stop_size == 0 ? -1 : compare(k, stop, stop_size);
		if (op == NEXT ? past >= 0 : stop_size != 0 && past < 0)
			break;
		if (k.mv_size == 0)
			return CORRUPTED;
		out[n++] = (okra_record){bytes(k), k.mv_size, bytes(v), v.mv_size};
		if (n == room)
			break;
		rc = okra_walk_step(&w, op, &k, &v);
	}
	*found = n;
	return rc == NOTFOUND ? 0 : rc;
}

static void copy(char *to, const void *from, size_t n) {
	if (n == 16) // the usual length, as two moves
		memcpy(to, from, 16);
	else
		memcpy(to, from, n);
}

// gathering is one call of okra_gather.
typedef struct {
	MDB_cursor *c;
	size_t hash;
	uint32_t limit;
	char *hashes;
	size_t room;
	okra_walk walk;
	MDB_val k, v; // the record the walk stands on; k.mv_size is 0 if on none
	okra_gathered *out;
} gathering;

// find moves to the record at, or with start 0 at or after, a key.
static int find(gathering *g, MDB_val key, int op) {
	// A run often follows the one before it: then the walk stands on its first record.
	if (g->k.mv_size != 0 && compare(g->k, key.mv_data, key.mv_size) == 0)
		return 0;
	g->k = key;
	int rc = mdb_cursor_get(g->c, &g->k, &g->v, op);
	if (rc == 0 && g->k.mv_size == 0)
		return CORRUPTED;
	if (rc == 0)
		g->walk = okra_walk_begin(g->c, g->k);
	else
		g->k.mv_size = 0;
	return rc;
}

// back collects the hashes of the records before key down to the first of their run, behind
// those in hand, and leaves the walk at or after key.
static int back(gathering *g, MDB_val key, okra_bytes *first) {
	int rc = find(g, key, SET_RANGE);
	size_t at = g->room;
	okra_walk walk = g->walk;
	MDB_val k = g->k, v = g->v;
	if (rc == 0) {
		rc = okra_walk_step(&walk, PREV, &k, &v);
	} else if (rc == NOTFOUND) {
		rc = mdb_cursor_get(g->c, &k, &v, LAST);
		walk = okra_walk_begin(g->c, k);
	}
	for (;;) {
		if (rc)
			return rc == NOTFOUND ? OKRA_ABSENT : rc;
		if (k.mv_size == 0)
			return CORRUPTED;
		if (first_byte(k) != first_byte(key))
			return OKRA_ABSENT;
		if (v.mv_size < g->hash) {
			g->out->bad = bytes(k);
			return OKRA_SHORT;
		}
		if (at - g->out->used < g->hash)
			return OKRA_FULL;
		at -= g->hash;
		copy(g->hashes + at, v.mv_data, g->hash);
		*first = bytes(k);
		if (k.mv_size == 1 || boundary(v, g->limit))
			break;
		rc = okra_walk_step(&walk, PREV, &k, &v);
	}
	memmove(g->hashes + g->out->used, g->hashes + at, g->room - at);
	g->out->used += g->room - at;
	// The walk at key is still good if the steps back did not leave its page. A page further
	// back, the next page leads to it.
	if (g->k.mv_size == 0 || okra_walk_return(&walk, &g->walk))
		return 0;
	g->k.mv_size = 0;
	return find(g, key, SET_RANGE);
}

// forth collects the hashes from the record the walk stands on to the end of its run. The first
// is taken whatever it is if it begins the run.
static int forth(gathering *g, int level, int begins) {
	int rc = g->k.mv_size == 0 ? NOTFOUND : 0;
	while (rc == 0 && first_byte(g->k) == level) {
		if (g->v.mv_size < g->hash) {
			g->out->bad = bytes(g->k);
			return OKRA_SHORT;
		}
		if (!begins && boundary(g->v, g->limit)) {
			g->out->end = bytes(g->k);
			return 0;
		}
		if (g->room - g->out->used < g->hash)
			return OKRA_FULL;
		copy(g->hashes + g->out->used, g->v.mv_data, g->hash);
		g->out->used += g->hash;
		begins = 0;
		rc = okra_walk_step(&g->walk, NEXT, &g->k, &g->v);
		if (rc == 0 && g->k.mv_size == 0)
			return CORRUPTED;
	}
	g->out->end = (okra_bytes){0, 0};
	if (rc == NOTFOUND) {
		g->k.mv_size = 0;
		return 0;
	}
	return rc;
}

// gather reads the run that a question asks for.
static int gather(gathering *g, item *q, okra_run *run) {
	int level = first_byte(q->key), rc;
	if (q->del) {
		rc = back(g, q->key, &run->first);
	} else {
		rc = find(g, q->key, SET_KEY);
		if (rc == NOTFOUND)
			return OKRA_ABSENT;
		run->first = bytes(g->k);
	}
	return rc ? rc : forth(g, level, !q->del);
}

int okra_gather(MDB_cursor *c, const char *batch, size_t size, size_t hash, uint32_t limit,
	char *hashes, size_t room, okra_run *runs, okra_gathered *out) {
	gathering g = {c, hash, limit, hashes, room, {0}, {0, 0}, {0, 0}, out};
	const char *begin = batch, *end = batch + size;
	item q;
	*out = (okra_gathered){0};
	for (; batch < end; out->done++) {
		out->question = batch - begin;
		batch = next(batch, &q);
		if (q.del && out->runs > 0 && (out->end.size == 0 ||
			compare(q.key, (const char *)out->end.data, out->end.size) <= 0))
			continue; // it is in the run read last
		size_t used = out->used;
		int rc = gather(&g, &q, runs);
		if (rc) {
			out->used = used;
			return rc == OKRA_FULL ? 0 : rc;
		}
		runs++->end = out->used;
		out->runs++;
	}
	return 0;
}

int okra_floor(MDB_cursor *c, const char *batch, size_t size, okra_record *out) {
	const char *end = batch + size;
	MDB_val above = {0, NULL}; // key of the record after the answer, if known
	okra_record floor = {0};
	item q;
	for (; batch < end; *out++ = floor) {
		batch = next(batch, &q);
		if (above.mv_size != 0 && compare(above, q.key.mv_data, q.key.mv_size) > 0)
			continue;
		MDB_val k = q.key, v;
		int rc = mdb_cursor_get(c, &k, &v, SET_RANGE);
		above = (MDB_val){0, NULL};
		if (rc == NOTFOUND) {
			rc = mdb_cursor_get(c, &k, &v, LAST);
		} else if (rc == 0 && compare(k, q.key.mv_data, q.key.mv_size) != 0) {
			above = k;
			okra_walk w = okra_walk_begin(c, k);
			rc = okra_walk_step(&w, PREV, &k, &v);
		}
		if (rc != 0 && rc != NOTFOUND)
			return rc;
		floor = rc ? (okra_record){0} : (okra_record){bytes(k), k.mv_size, bytes(v), v.mv_size};
	}
	return 0;
}

// note copies the hash of a value to old, or zeros if it has none.
static void note(char *old, MDB_val v, size_t hash) {
	if (v.mv_size >= hash)
		copy(old, v.mv_data, hash);
	else
		memset(old, 0, hash);
}

// note_before is note of the record before the one c stands on.
static int note_before(MDB_cursor *c, char *old, size_t hash) {
	MDB_val k, v = {0, NULL};
	int rc = mdb_cursor_get(c, &k, &v, PREV);
	if (rc == NOTFOUND) {
		rc = 0;
		v.mv_size = 0;
	}
	if (rc == 0)
		note(old, v, hash);
	return rc;
}

// put stores one record and reports in effect what it replaced, and in old_hash its hash or that of
// the record before, unless old_hash is NULL.
static int put(MDB_cursor *c, okra_aside *aside, item *it, size_t hash, uint32_t limit,
	uint8_t *effect, char *old_hash) {
	MDB_val old = it->value;
	int rc = mdb_cursor_put(c, &it->key, &old, NOOVERWRITE);
	if (rc == 0) {
		okra_walk written = {0};
		if (aside->used == 0)
			written = okra_walk_written(c, it->key);
		if (old_hash != NULL)
			rc = note_before(c, old_hash, hash);
		return rc == 0 && written.page != NULL ? okra_aside_take(aside, c, written) : rc;
	}
	if (rc != KEYEXIST)
		return rc;
	if (old_hash != NULL)
		note(old_hash, old, hash);
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

// del deletes one record and reports in effect what it was, and in old its hash unless that is
// NULL.
static int del(MDB_cursor *c, item *it, size_t hash, uint32_t limit, uint8_t *effect, char *old) {
	MDB_val k = it->key, v;
	int rc = mdb_cursor_get(c, &k, &v, SET);
	if (rc == NOTFOUND) {
		*effect = OKRA_UNCHANGED;
		return 0;
	}
	if (rc)
		return rc;
	if (old != NULL)
		note(old, v, hash);
	*effect = OKRA_EXISTED;
	if (boundary(v, limit))
		*effect |= OKRA_BOUNDARY;
	return mdb_cursor_del(c, 0);
}

int okra_apply(MDB_cursor *c, const char *batch, size_t size, size_t hash, uint32_t limit,
	uint8_t *effects, char *olds) {
	const char *end = batch + size;
	okra_aside aside;
	item it;
	int rc = 0;
	for (aside.used = 0; rc == 0 && batch < end; effects++) {
		batch = next(batch, &it);
		*effects = 0;
		if (aside.used > 0 && !okra_aside_before(&aside, it.key))
			rc = okra_aside_return(&aside, c);
		if (rc == 0)
			rc = it.del ? del(c, &it, hash, limit, effects, olds)
				: put(c, &aside, &it, hash, limit, effects, olds);
		if (olds != NULL)
			olds += hash;
	}
	return rc == 0 && aside.used > 0 ? okra_aside_return(&aside, c) : rc;
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

static int by_words(const MDB_val *a, const MDB_val *b) { return okra_compare(a, b); }

int okra_order_by_words(MDB_cursor *c) {
	return mdb_set_compare(mdb_cursor_txn(c), mdb_cursor_dbi(c), by_words);
}

int okra_order(const char *a, size_t a_size, const char *b, size_t b_size) {
	return compare((MDB_val){a_size, (void *)a}, b, b_size);
}

void okra_constants(int *out) {
	const int all[] = {LAST, NEXT, PREV, SET, SET_KEY, SET_RANGE, NOOVERWRITE, CURRENT, APPEND,
		KEYEXIST, NOTFOUND};
	memcpy(out, all, sizeof all);
}

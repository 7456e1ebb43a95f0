//go:build (linux || darwin) && !okra_portable

#include "aside.h"

#include "order.h"
#include "walk.h"

static unsigned even(unsigned n) { return n + (n & 1); }

// length is what a record takes of a page beside the 2 bytes of its place, with a key and a value of
// these sizes.
static unsigned length(unsigned key, unsigned value) {
	return even(OKRA_RECORD_HEAD + key + value);
}

static unsigned length_of(const char *record) {
	MDB_val k, v;
	okra_page_read(record, &k, &v);
	if (okra_u16(record + 4) & OKRA_OVERFLOWS)
		v.mv_size = 8; // the number of a page
	return length(k.mv_size, v.mv_size);
}

static unsigned char group(const char *record) {
	return *(const unsigned char *)(record + OKRA_RECORD_HEAD);
}

// taken returns what the records from one place to another take of their page.
static unsigned taken(const okra_walk *w, unsigned from, unsigned to) {
	unsigned n = 0;
	for (; from < to; from++)
		n += 2 + length_of(okra_page_record(w->page, from));
	return n;
}

// sound reports whether the records of a page of so many bytes lie one after another up to its end,
// and their keys ascend from the one w stands on: LMDB moves them about as if it were so.
static int sound(const okra_walk *w, unsigned size) {
	uint16_t lengths[OKRA_PAGE_MOST / 2]; // of the record that begins at twice the index
	unsigned at = okra_page_begin(w->page), count = 0;
	if (size > OKRA_PAGE_MOST || at > size || OKRA_PAGE_HEAD + 2 * w->count > at)
		return 0;
	memset(lengths, 0, size);
	MDB_val before, k = {0, NULL}, v;
	for (unsigned i = 0; i < w->count; i++, before = k) {
		const char *r = okra_page_record(w->page, i);
		unsigned place = r - w->page;
		if (place % 2 != 0 || place < at || place > size - OKRA_RECORD_HEAD)
			return 0;
		okra_page_read(r, &k, &v);
		if (v.mv_size > size && !(okra_u16(r + 4) & OKRA_OVERFLOWS) || length_of(r) > size - place)
			return 0;
		lengths[place / 2] = length_of(r);
		if (i > w->at && okra_compare(&before, &k) >= 0)
			return 0;
	}
	for (; at < size && lengths[at / 2] > 0; count++)
		at += lengths[at / 2];
	return at == size && count == w->count;
}

// drop deletes the records that were put aside, which follow the one with key k.
static int drop(const okra_aside *a, MDB_cursor *c, MDB_val k) {
	MDB_val v, want;
	int rc = mdb_cursor_get(c, &k, &v, SET);
	for (const char *r = a->bytes; rc == 0 && r < a->bytes + a->used; r += length_of(r)) {
		okra_page_read(r, &want, &v);
		rc = mdb_cursor_get(c, &k, &v, NEXT);
		if (rc == 0)
			rc = okra_compare(&k, &want) == 0 ? mdb_cursor_del(c, 0) : CORRUPTED;
	}
	return rc == NOTFOUND ? CORRUPTED : rc;
}

int okra_aside_take(okra_aside *a, MDB_cursor *c, okra_walk w) {
	if (w.at + 1 == w.count)
		return 0;
	const char *last = okra_page_record(w.page, w.at);
	unsigned free = okra_page_free(w.page), used = 0;
	if (group(last) == group(okra_page_record(w.page, w.at + 1)) || free >= 2 + length_of(last))
		return 0;
	// LMDB would leave some (count + 1) / 2 records, or one more.
	MDB_stat stat;
	if (w.at <= (w.count + 1) / 2 + 1 ||
		mdb_stat(mdb_cursor_txn(c), mdb_cursor_dbi(c), &stat) != 0 || !sound(&w, stat.ms_psize))
		return 0;
	a->size = taken(&w, w.at + 1, w.count);
	if (3 * taken(&w, 0, w.at + 1) < a->size + free) // LMDB joins pages less than a quarter full
		return 0;
	for (unsigned i = w.at + 1; i < w.count; i++) {
		const char *r = okra_page_record(w.page, i);
		if (okra_u16(r + 4) != 0) // its value is on other pages
			return 0;
		memcpy(a->bytes + used, r, length_of(r));
		used += length_of(r);
	}
	a->used = used;
	MDB_val k, v;
	okra_page_read(last, &k, &v);
	return drop(a, c, k);
}

int okra_aside_before(const okra_aside *a, MDB_val k) {
	return *(const unsigned char *)k.mv_data < group(a->bytes);
}

// fill puts a record of zeros that takes n bytes of a page, an even number, its place there included.
static int fill(MDB_cursor *c, MDB_val key, unsigned n) {
	static const char zeros[OKRA_PAGE_MOST / 2];
	MDB_val value = {n - 2 - OKRA_RECORD_HEAD - key.mv_size, (void *)zeros};
	return mdb_cursor_put(c, &key, &value, NOOVERWRITE);
}

static int unfill(MDB_cursor *c, MDB_val key) {
	MDB_val v;
	int rc = mdb_cursor_get(c, &key, &v, SET);
	return rc ? rc : mdb_cursor_del(c, 0);
}

// put_back puts the records.
static int put_back(const okra_aside *a, MDB_cursor *c) {
	MDB_val k, v;
	int rc = 0;
	for (const char *r = a->bytes; rc == 0 && r < a->bytes + a->used; r += length_of(r)) {
		okra_page_read(r, &k, &v);
		rc = mdb_cursor_put(c, &k, &v, NOOVERWRITE);
	}
	return rc;
}

// last finds the last record before those that are put aside, and returns LMDB's code.
static int last(const okra_aside *a, MDB_cursor *c, MDB_val *k) {
	MDB_val v;
	okra_page_read(a->bytes, k, &v);
	int rc = mdb_cursor_get(c, k, &v, SET_RANGE);
	if (rc == 0)
		return mdb_cursor_get(c, k, &v, PREV);
	if (rc == NOTFOUND)
		rc = mdb_cursor_get(c, k, &v, LAST);
	// Without this LMDB takes the cursor to be at the end, which a walk cannot begin at.
	return rc ? rc : mdb_cursor_get(c, k, &v, SET_KEY);
}

int okra_aside_return(okra_aside *a, MDB_cursor *c) {
	MDB_val k;
	int rc = last(a, c, &k), used = 0;
	if (rc)
		return rc == NOTFOUND ? CORRUPTED : rc;
	okra_walk w = okra_walk_begin(c, k);
	// Where beside them no further record of the group before would fit they begin a new page. For
	// that zeros take all that is left of this one. LMDB brings the last of these to the new page,
	// too, which begins with their key: so that is above nearly all that may yet come in the group.
	char name[] = "\0\xff\xff\xff\xff\xff\xff\xff\xff";
	name[0] = *(char *)k.mv_data;
	const MDB_val names[] = {{sizeof name - 1, name}, {sizeof name - 2, name}, {sizeof name - 3, name}};
	unsigned least = 2 + length(names[0].mv_size, 0);
	if (w.page != NULL && w.at + 1 == w.count && okra_compare(&k, &names[2]) < 0) {
		unsigned room = okra_page_free(w.page), before = taken(&w, 0, w.count);
		unsigned most = (before + room) / 2 & ~1u; // of a record: LMDB puts longer values elsewhere
		if (room < a->size + 2 + length_of(okra_page_record(w.page, w.at)) && room >= least &&
			before > most / 2 + least && before + room < OKRA_PAGE_MOST) {
			unsigned n = room < 2 * least ? room : least;
			for (; rc == 0 && room > 0; n = room <= most ? room : most - least) {
				rc = fill(c, names[used++], n);
				room -= n;
			}
		}
	}
	if (rc == 0)
		rc = put_back(a, c);
	while (rc == 0 && used > 0)
		rc = unfill(c, names[--used]);
	a->used = 0;
	return rc == NOTFOUND ? CORRUPTED : rc;
}

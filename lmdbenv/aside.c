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

static int group(const char *record) {
	return *(const unsigned char *)(record + OKRA_RECORD_HEAD);
}

// taken returns what the records from one place to another take of their page.
static unsigned taken(const okra_walk *w, unsigned from, unsigned to) {
	unsigned n = 0;
	for (; from < to; from++)
		n += 2 + length_of(okra_page_record(w->page, from));
	return n;
}

static int drop(MDB_cursor *c, MDB_val k) {
	MDB_val v;
	int rc = mdb_cursor_get(c, &k, &v, SET);
	return rc ? rc : mdb_cursor_del(c, 0);
}

// each puts the records, or drops them.
static int each(const okra_aside *a, MDB_cursor *c, int put) {
	MDB_val k, v;
	int rc = 0;
	for (const char *r = a->bytes; rc == 0 && r < a->bytes + a->used; r += length_of(r)) {
		okra_page_read(r, &k, &v);
		rc = put ? mdb_cursor_put(c, &k, &v, 0) : drop(c, k);
	}
	return rc;
}

int okra_aside_take(okra_aside *a, MDB_cursor *c, okra_walk w) {
	if (w.page == NULL || w.at + 1 == w.count)
		return 0;
	const char *r = okra_page_record(w.page, w.at);
	unsigned free = okra_page_free(w.page), used = 0;
	if (group(r) == group(okra_page_record(w.page, w.at + 1)) || free >= 2 + length_of(r))
		return 0;
	unsigned before = taken(&w, 0, w.at + 1);
	a->size = taken(&w, w.at + 1, w.count);
	// LMDB would leave some (count + 1) / 2 records, or one more, and it joins pages that are less
	// than a quarter full.
	if (w.at <= (w.count + 1) / 2 + 1 || 3 * before < a->size + free)
		return 0;
	for (unsigned i = w.at + 1; i < w.count; i++) {
		r = okra_page_record(w.page, i);
		unsigned n = length_of(r);
		if (okra_u16(r + 4) != 0 || n > sizeof a->bytes - used)
			return 0; // its value is elsewhere, or the page is damaged
		memcpy(a->bytes + used, r, n);
		used += n;
	}
	a->used = used;
	return each(a, c, 0);
}

int okra_aside_before(const okra_aside *a, MDB_val k) {
	MDB_val first, v;
	okra_page_read(a->bytes, &first, &v);
	return okra_compare(&k, &first) < 0;
}

// fill puts a record of zeros that takes n bytes of a page, its place there included.
static int fill(MDB_cursor *c, MDB_val key, unsigned n) {
	static const char zeros[1 << 14];
	MDB_val value = {n - 2 - OKRA_RECORD_HEAD - key.mv_size, (void *)zeros};
	return mdb_cursor_put(c, &key, &value, 0);
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
		return rc;
	okra_walk w = okra_walk_begin(c, k);
	// Where none of their group would fit beside them they begin a new page. For that zeros take all
	// that is left of this one. LMDB brings the last of these to the new page, too, which begins with
	// their key: so it is above what may yet come in the group.
	char name[] = "\0\xff\xff\xff\xff\xff\xff\xff\xff";
	name[0] = *(char *)k.mv_data;
	const MDB_val names[] = {{sizeof name - 1, name}, {sizeof name - 2, name}, {sizeof name - 3, name}};
	unsigned least = 2 + length(names[0].mv_size, 0);
	if (w.page != NULL && w.at + 1 == w.count && okra_compare(&k, &names[2]) < 0) {
		unsigned room = okra_page_free(w.page), before = taken(&w, 0, w.count);
		unsigned most = (before + room) / 2 & ~1u; // of a record: LMDB puts longer values elsewhere
		if (room < a->size + 2 + length_of(okra_page_record(w.page, w.at)) && room >= least &&
			before > most / 2 + least && before + room < sizeof a->bytes) {
			unsigned n = room < 2 * least ? room : least;
			for (; rc == 0 && room > 0; n = room <= most ? room : most - least) {
				rc = fill(c, names[used++], n);
				room -= n;
			}
		}
	}
	if (rc == 0)
		rc = each(a, c, 1);
	while (rc == 0 && used > 0)
		rc = drop(c, names[--used]);
	a->used = 0;
	return rc;
}

//go:build (linux || darwin) && !okra_portable

#include "walk.h"

#include <stdint.h>
#include <string.h>

// The cursor of LMDB 0.9.35, as far as it is needed.
enum { KNOWN_PATCH = 35 };
typedef struct {
	void *next, *backup, *xcursor, *txn;
	unsigned dbi;
	void *db, *dbx;
	unsigned char *dbflag;
	unsigned short depth, top;
	unsigned flags;
	char *pages[32];
	uint16_t places[32];
} cursor;

enum { INITIALIZED = 0x01, END = 0x02, DELETED = 0x08 }; // flags of a cursor

// A page: a head of 16 bytes with its flags at 10 and the end of its list of places at 12, then
// the places of its records, each a u16 offset from the page.
enum { PAGE_HEAD = 16, LEAF = 0x02, FIXED = 0x20 };

// A record: value length (low, high), flags, key length, as u16, then key and value, unless the
// value is on pages of its own.
enum { RECORD_HEAD = 8, OVERFLOWS = 0x01 };

static int off;

static int known(void) {
	static int answer = -1; // set to the same by every thread
	if (answer < 0) {
		int major, minor, patch;
		mdb_version(&major, &minor, &patch);
		answer = major == 0 && minor == 9 && patch == KNOWN_PATCH;
	}
	return answer && !off;
}

int okra_walk_direct(int on) {
	off = !on;
	return known();
}

static uint16_t u16(const char *p) {
	uint16_t v;
	memcpy(&v, p, 2);
	return v;
}

static const char *record(const char *page, unsigned at) {
	return page + u16(page + PAGE_HEAD + 2 * at);
}

okra_walk okra_walk_begin(MDB_cursor *handle, MDB_val k) {
	okra_walk w = {.c = handle};
	if (!known())
		return w;
	cursor *c = (cursor *)handle;
	if ((c->flags & (INITIALIZED | END | DELETED)) != INITIALIZED || c->xcursor != NULL)
		return w;
	const char *page = c->pages[c->top];
	unsigned at = c->places[c->top];
	unsigned count = (u16(page + 12) - PAGE_HEAD) / 2;
	if ((u16(page + 10) & (LEAF | FIXED)) != LEAF || at >= count ||
		record(page, at) + RECORD_HEAD != k.mv_data)
		return w;
	w.page = page;
	w.at = at;
	w.count = count;
	return w;
}

// by_lmdb makes the step through LMDB.
static int by_lmdb(okra_walk *w, int op, MDB_val *k, MDB_val *v) {
	if (w->page)
		((cursor *)w->c)->places[((cursor *)w->c)->top] = w->at;
	int rc = mdb_cursor_get(w->c, k, v, op);
	if (rc == 0)
		*w = okra_walk_begin(w->c, *k);
	return rc;
}

int okra_walk_return(okra_walk *w, okra_walk *to) {
	if (w->page == NULL || to->page == NULL)
		return 0;
	if (w->page != to->page) {
		MDB_val k, v;
		w->at = w->count - 1;
		if (by_lmdb(w, NEXT, &k, &v) != 0 || w->page != to->page)
			return 0;
	}
	return 1;
}

int okra_walk_step(okra_walk *w, int op, MDB_val *k, MDB_val *v) {
	unsigned to = op == NEXT ? w->at + 1 : w->at - 1; // before the first it is too large
	if (w->page == NULL || to >= w->count)
		return by_lmdb(w, op, k, v);
	const char *r = record(w->page, to);
	if (u16(r + 4) & OVERFLOWS)
		return by_lmdb(w, op, k, v);
	uint32_t value = u16(r) | (uint32_t)u16(r + 2) << 16;
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		value = u16(r + 2) | (uint32_t)u16(r) << 16;
	uint16_t key = u16(r + 6);
	*k = (MDB_val){key, (void *)(r + RECORD_HEAD)};
	*v = (MDB_val){value, (void *)(r + RECORD_HEAD + key)};
	w->at = to;
	return 0;
}

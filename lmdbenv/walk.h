// A walk over the records of a table, page by page.
//
// mdb_cursor_get spends more on a step than the step needs. A walk reads the records of a leaf
// page straight from the page, whose form is that of the file and so does not change in LMDB
// 0.9, and asks LMDB only for the next page. To find the page it looks into the cursor, which
// is LMDB's own affair: so it does only for the one version whose cursor it knows, and only
// after the record that LMDB gave last was found where it should be. Otherwise every step is
// LMDB's.
#ifndef OKRA_WALK_H
#define OKRA_WALK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lmdb09.h"

typedef struct {
	MDB_cursor *c;
	const char *page; // the page of the record last given, or NULL if it cannot be read directly
	unsigned at;      // the record's place on it
	unsigned count;   // the records on it
} okra_walk;

// okra_walk_begin returns a walk from the record with key k that c was just moved to by LMDB.
okra_walk okra_walk_begin(MDB_cursor *c, MDB_val k);

// okra_walk_written returns a walk from the record with key k that LMDB has just put by c.
okra_walk okra_walk_written(MDB_cursor *c, MDB_val k);

// okra_walk_by_lmdb makes a step of a walk through LMDB.
int okra_walk_by_lmdb(okra_walk *w, int op, MDB_val *k, MDB_val *v);

// A page: a head of 16 bytes with its flags at 10, the end of its list of places at 12 and the
// begin of its records at 14, then the places of its records, each a u16 offset from the page.
enum { OKRA_PAGE_HEAD = 16, OKRA_LEAF = 0x02, OKRA_FIXED = 0x20 };

// A record: value length (low, high), flags, key length, as u16, then key and value, unless the
// value is on pages of its own.
enum { OKRA_RECORD_HEAD = 8, OKRA_OVERFLOWS = 0x01 };

static inline uint16_t okra_u16(const char *p) {
	uint16_t v;
	memcpy(&v, p, 2);
	return v;
}

// okra_page_begin returns where the records of a page begin.
static inline unsigned okra_page_begin(const char *page) { return okra_u16(page + 14); }

// okra_page_free returns how many bytes are left on a page.
static inline unsigned okra_page_free(const char *page) {
	return okra_page_begin(page) - okra_u16(page + 12);
}

static inline unsigned okra_page_count(const char *page) {
	return (okra_u16(page + 12) - OKRA_PAGE_HEAD) / 2;
}

static inline const char *okra_page_record(const char *page, unsigned at) {
	return page + okra_u16(page + OKRA_PAGE_HEAD + 2 * at);
}

// okra_page_read sets k and v to a record whose value is on the page.
static inline void okra_page_read(const char *r, MDB_val *k, MDB_val *v) {
	uint32_t value = okra_u16(r) | (uint32_t)okra_u16(r + 2) << 16;
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		value = okra_u16(r + 2) | (uint32_t)okra_u16(r) << 16;
	uint16_t key = okra_u16(r + 6);
	*k = (MDB_val){key, (void *)(r + OKRA_RECORD_HEAD)};
	*v = (MDB_val){value, (void *)(r + OKRA_RECORD_HEAD + key)};
}

// okra_walk_step moves to the next record, or with op PREV to the one before, and sets k and v.
// It returns 0 or LMDB's code, NOTFOUND at the end.
static inline int okra_walk_step(okra_walk *w, int op, MDB_val *k, MDB_val *v) {
	unsigned to = op == NEXT ? w->at + 1 : w->at - 1; // before the first it is too large
	if (w->page == NULL || to >= w->count)
		return okra_walk_by_lmdb(w, op, k, v);
	const char *r = okra_page_record(w->page, to);
	if (okra_u16(r + 4) & OKRA_OVERFLOWS)
		return okra_walk_by_lmdb(w, op, k, v);
	okra_page_read(r, k, v);
	w->at = to;
	return 0;
}

// okra_walk_return moves the cursor of w back to where the walk to was, if that is on the same
// page or the next, and says whether it did.
int okra_walk_return(okra_walk *w, okra_walk *to);

// okra_walk_direct turns reading from pages on or off, for tests; it returns whether it is on,
// which it cannot be with a version of LMDB that is not known.
int okra_walk_direct(int on);

#endif

//go:build (linux || darwin) && !okra_portable

#include "walk.h"

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

// stand returns a walk from where the cursor is, or one that cannot read directly.
static okra_walk stand(MDB_cursor *handle) {
	okra_walk w = {.c = handle};
	if (!known())
		return w;
	cursor *c = (cursor *)handle;
	if ((c->flags & (INITIALIZED | END | DELETED)) != INITIALIZED || c->xcursor != NULL)
		return w;
	const char *page = c->pages[c->top];
	unsigned at = c->places[c->top];
	unsigned count = okra_page_count(page);
	if ((okra_u16(page + 10) & (OKRA_LEAF | OKRA_FIXED)) != OKRA_LEAF || at >= count)
		return w;
	w.page = page;
	w.at = at;
	w.count = count;
	return w;
}

okra_walk okra_walk_begin(MDB_cursor *c, MDB_val k) {
	okra_walk w = stand(c);
	if (w.page != NULL && okra_page_record(w.page, w.at) + OKRA_RECORD_HEAD != k.mv_data)
		w.page = NULL;
	return w;
}

okra_walk okra_walk_written(MDB_cursor *c, MDB_val k) {
	okra_walk w = stand(c);
	if (w.page != NULL) {
		const char *r = okra_page_record(w.page, w.at);
		if (okra_u16(r + 6) != k.mv_size || memcmp(r + OKRA_RECORD_HEAD, k.mv_data, k.mv_size) != 0)
			w.page = NULL;
	}
	return w;
}

int okra_walk_by_lmdb(okra_walk *w, int op, MDB_val *k, MDB_val *v) {
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
		if (okra_walk_by_lmdb(w, NEXT, &k, &v) != 0 || w->page != to->page)
			return 0;
	}
	return 1;
}

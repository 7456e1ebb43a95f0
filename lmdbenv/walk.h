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

#include "lmdb09.h"

typedef struct {
	MDB_cursor *c;
	const char *page; // the page of the record last given, or NULL if it cannot be read directly
	unsigned at;      // the record's place on it
	unsigned count;   // the records on it
} okra_walk;

// okra_walk_begin returns a walk from the record with key k that c was just moved to by LMDB.
okra_walk okra_walk_begin(MDB_cursor *c, MDB_val k);

// okra_walk_step moves to the next record, or with op PREV to the one before, and sets k and v.
// It returns 0 or LMDB's code, NOTFOUND at the end.
int okra_walk_step(okra_walk *w, int op, MDB_val *k, MDB_val *v);

// okra_walk_return moves the cursor of w back to where the walk to was, if that is on the same
// page or the next, and says whether it did.
int okra_walk_return(okra_walk *w, okra_walk *to);

// okra_walk_direct turns reading from pages on or off, for tests; it returns whether it is on,
// which it cannot be with a version of LMDB that is not known.
int okra_walk_direct(int on);

#endif

// Records that are put aside while keys that ascend are written before them.
//
// LMDB splits a full page in halves, but leaves it full where a record comes behind all others of
// the page, so that keys that ascend fill their pages. A table of okra's holds groups of records, by
// the first byte of their keys, and keys that ascend within a group come before the first record of
// the next, amid a page: all pages would be left half full. So what follows the group on a page that
// is about to be split is taken from it, by LMDB's own deletes, and put behind the group again when
// the batch goes on to other groups or ends, on a page of its own if need be.
#ifndef OKRA_ASIDE_H
#define OKRA_ASIDE_H

#include "walk.h"

enum { OKRA_PAGE_MOST = 1 << 15 }; // bytes of a page

typedef struct {
	unsigned used; // bytes; 0 if nothing is put aside
	unsigned size; // what the records take of a page
	char bytes[OKRA_PAGE_MOST]; // records as they were on their page
} okra_aside;

// okra_aside_take puts aside what follows the record that LMDB has just put by c, where w begins, a
// walk that reads from the page, if that record is the last of its group on a page where another
// group begins and no other record of its size fits. It leaves alone what it would not make better:
// a page that LMDB would not split before that record, that would be less than a quarter full, or is
// damaged, or holds values of other pages behind. It returns 0 or LMDB's code, and leaves c anywhere.
int okra_aside_take(okra_aside *a, MDB_cursor *c, okra_walk w);

// okra_aside_before reports whether key k is of a group before that of the first record put aside.
int okra_aside_before(const okra_aside *a, MDB_val k);

// okra_aside_return puts the records back where they were. It returns 0 or LMDB's code, and leaves c
// anywhere.
int okra_aside_return(okra_aside *a, MDB_cursor *c);

#endif

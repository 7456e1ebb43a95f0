// What is used of LMDB 0.9, which lmdb-go links into the program without having its header on
// our path. A test compares the constants with those that lmdb-go exports.
#ifndef OKRA_LMDB09_H
#define OKRA_LMDB09_H

#include <stddef.h>

typedef struct MDB_cursor MDB_cursor;
typedef struct MDB_txn MDB_txn;
typedef unsigned int MDB_dbi;
typedef struct {
	size_t mv_size;
	void *mv_data;
} MDB_val;
typedef struct {
	unsigned int ms_psize, ms_depth;
	size_t ms_branch_pages, ms_leaf_pages, ms_overflow_pages, ms_entries;
} MDB_stat;

extern char *mdb_version(int *major, int *minor, int *patch);
extern MDB_txn *mdb_cursor_txn(MDB_cursor *c);
extern MDB_dbi mdb_cursor_dbi(MDB_cursor *c);
extern int mdb_stat(MDB_txn *txn, MDB_dbi dbi, MDB_stat *stat);
extern int mdb_set_compare(MDB_txn *txn, MDB_dbi dbi, int (*)(const MDB_val *, const MDB_val *));
extern int mdb_get(MDB_txn *txn, MDB_dbi dbi, MDB_val *key, MDB_val *data);
extern int mdb_cursor_get(MDB_cursor *c, MDB_val *key, MDB_val *data, int op);
extern int mdb_cursor_put(MDB_cursor *c, MDB_val *key, MDB_val *data, unsigned int flags);
extern int mdb_cursor_del(MDB_cursor *c, unsigned int flags);

enum { LAST = 6, NEXT = 8, PREV = 12, SET = 15, SET_KEY = 16, SET_RANGE = 17 };
enum { NOOVERWRITE = 0x10, CURRENT = 0x40, APPEND = 0x20000 };
enum { KEYEXIST = -30799, NOTFOUND = -30798, CORRUPTED = -30796 };

#endif

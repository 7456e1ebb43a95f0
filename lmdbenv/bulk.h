// Bulk calls on the records of one LMDB table: many records for one crossing from Go to C.
//
// They know records (key, value, the length of the hash that begins a value, the boundary
// limit), not trees. No function keeps a pointer after it returns, and none calls into Go.
// Each returns 0, an LMDB or system error code, or one of the codes below.
#ifndef OKRA_BULK_H
#define OKRA_BULK_H

#include <stddef.h>
#include <stdint.h>

#include "lmdb09.h"

// A value is shorter than its hash; a run is not there. Outside LMDB's and errno's range.
#define OKRA_SHORT (-40001)
#define OKRA_ABSENT (-40002)
#define OKRA_FULL (-40003) // within bulk.c: a run did not fit

// Bits of an effect, as package tree defines them.
#define OKRA_EXISTED 1
#define OKRA_BOUNDARY 2
#define OKRA_UNCHANGED 4

// Bytes of LMDB's. The address is a number so that Go need not look for its own pointers in an
// answer before each call.
typedef struct {
	uintptr_t data;
	size_t size;
} okra_bytes;

// A record as tree.Record holds it: two slices of Go, each with its capacity.
typedef struct {
	okra_bytes key;
	size_t key_cap;
	okra_bytes value;
	size_t value_cap;
} okra_record;

// okra_get finds one record by its key, prefix and then the bytes of key, at most 511 in all.
// LMDB's own code says that there is none.
int okra_get(MDB_cursor *c, char prefix, const char *key, size_t size, okra_bytes *value);

// okra_scan fills out with up to room records. start is 0 at or after, 1 after, 2 at or before,
// 3 before the key from; the scan ends before stop (going backward: below it), which has
// stop_size 0 for none.
int okra_scan(MDB_cursor *c, int start, const char *from, size_t from_size, const char *stop,
	size_t stop_size, okra_record *out, size_t room, size_t *found);

typedef struct {
	okra_bytes first; // key of its first record
	size_t end;       // where its hashes end
} okra_run;

typedef struct {
	size_t done; // questions answered
	size_t runs; // runs read
	size_t used; // bytes of hashes
	okra_bytes end; // where the last run ended: the key of the next boundary, or none
	okra_bytes bad; // for OKRA_SHORT: the key at fault
	size_t question; // for OKRA_ABSENT: the place in the batch of the question at fault
} okra_gathered;

// okra_gather reads for each question of the batch the run that begins at its key or, where the
// question is a delete, that holds the record before it, and joins the hashes of their records.
// It stops at a run that does not fit.
int okra_gather(MDB_cursor *c, const char *batch, size_t size, size_t hash, uint32_t limit,
	char *hashes, size_t room, okra_run *runs, okra_gathered *out);

// okra_floor sets out, for each key of the batch, to the last record at or below it, or to
// nothing.
int okra_floor(MDB_cursor *c, const char *batch, size_t size, okra_record *out);

// okra_apply puts and deletes the records of the batch, in ascending order, and tells what each
// found; in olds, unless that is NULL, with the first hash bytes of the value replaced or deleted
// or, where there was none, of the value before it.
int okra_apply(MDB_cursor *c, const char *batch, size_t size, size_t hash, uint32_t limit,
	uint8_t *effects, char *olds);

// okra_append puts the records of the batch behind all that are stored.
int okra_append(MDB_cursor *c, const char *batch, size_t size);

// okra_order_by_words has LMDB compare the keys of the table of c by okra_compare, from now on and
// in every transaction of the process. The order stays the same.
int okra_order_by_words(MDB_cursor *c);

// okra_order is okra_compare, for a test.
int okra_order(const char *a, size_t a_size, const char *b, size_t b_size);

// okra_constants sets out to the 11 constants of LMDB's that bulk.c declares for itself.
void okra_constants(int *out);

#endif

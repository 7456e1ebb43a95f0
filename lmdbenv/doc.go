// Package lmdbenv opens LMDB environments and gives package tree its storage: the records of
// one named table in one transaction, read and written many at a time.
//
// It is the only package that knows LMDB's error codes, flags and files. The bulk calls are
// made by a small C file beside it, where the C handle of an lmdb-go cursor can be found, and
// otherwise by lmdb-go's own calls, with the same results. With them comes the hashing of many
// nodes at once, on machines with the vectors for it.
package lmdbenv

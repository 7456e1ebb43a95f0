// Package dump writes and reads the entries of a tree as one stream, in three formats:
//
//   - [Binary], okra's own: compact, and the same bytes for the same tree on every machine.
//   - [JSONLines], one JSON object a line, with the encoding of each key and value named.
//   - [MDB] and [MDBPrint], the text of LMDB's mdb_dump and mdb_load.
//
// The first two begin with the tree's parameters and end with the number of entries and the
// root, so that a dump that was cut or changed is noticed; FORMAT.md in this folder fixes their
// bytes. LMDB's text has room for neither. A [Writer] writes one entry after another and a
// [Reader] yields them; both work in the memory of one entry. [ReadOps] reads a batch of writes
// in the notation of JSONLines.
package dump

// Package bench measures okra against plain LMDB, through the same binding, on the same work.
//
// A [Workload] says what the stores hold: keys 0..N-1 and values derived from them by BLAKE3. A
// [Row] is one line of the table, or several: what a timed iteration does, once for each side.
// The sides are okra and lmdb, and in some rows okra by its Update where the first is by its
// Batch. A [Batch] holds the keys and values of one iteration; it is filled before the
// clock starts and is the same for both sides. [Run] takes rows at sizes, lets the sides take
// turns and gives a [Report], which is printed as text, Markdown, CSV or JSON.
//
// No figure is reported for work that was not done: a row fails unless each side touched the
// number of entries the row promises, both sides read the same bytes, and, after writes, both
// stores hold the same entries and the values last written. What writes beside the timed work is
// checked in the same way.
package bench

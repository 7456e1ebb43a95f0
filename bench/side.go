package bench

// side is one of the stores that are measured.
type side struct {
	name string
	open func(path string, o StoreOptions) (store, error)
}

// StoreOptions are the same for all sides.
type StoreOptions struct {
	MapSize  int64 // bytes; see [MapSize]
	NoSync   bool  // commits are not flushed to disk
	ReadOnly bool  // the store is there, and only read
	Tables   int   // named tables of an LMDB environment, at most
}

// sidesOf returns okra and lmdb and, for a row that has Update, okra's other way, in this order:
// results are kept by the index.
func sidesOf(row Row) []side {
	all := []side{{"okra", openOkra}, {"lmdb", openPlain}}
	if row.lines()[0].Update != nil {
		all = append(all, side{"update", openUpdate})
	}
	return all
}

// store is an open store of one side: what the runner needs beside the timed work. Nothing here
// but run is timed.
type store interface {
	// run does the timed work of row.
	run(row Row, b *Batch) (Tally, error)

	// put stores the entries of b in one transaction.
	put(b *Batch) (Tally, error)

	// get returns a copy of the value under key. A missing key is an error.
	get(key []byte) ([]byte, error)

	// check does the check of row, if it is of this store.
	check(row Row) error

	// each calls fn with all entries in key order. The slices are valid during the call only.
	each(fn func(key, value []byte)) error

	close() error
}

// MapSize returns the size of the map of a store of so many entries, in bytes: far above the
// need of either side, including a transaction that rewrites every page. It reserves address
// space, not disk.
func MapSize(entries, valueSize int) int64 {
	const (
		overhead   = 128     // bytes: key, hash, page and node headers, half-full pages
		overflow   = 4096    // a value that takes pages of its own fills the last one badly
		largestRow = 100_000 // entries: more than any row writes
		spare      = 1 << 30 // bytes
		margin     = 4       // for pages freed by earlier transactions, and the levels of the index
	)
	per := int64(valueSize) + overhead
	if valueSize > 1000 {
		per += overflow
	}
	return (int64(entries)+largestRow)*per*margin/overflow*overflow + spare
}

package okra

// Backup writes a consistent copy of the whole environment, as of its last commit, to the
// directory dir, while the store is in use. It makes dir, or fills it if it is there and empty;
// a failed Backup leaves no copy behind. The copy has the file mode of the source. Inside Update
// it gives [ErrNested].
func (db *DB) Backup(dir string) error { return db.env.Copy(dir, false) }

// Compact is [DB.Backup] without the free pages, the pages in order: the copy is as small as it
// can be. It takes longer.
func (db *DB) Compact(dir string) error { return db.env.Copy(dir, true) }

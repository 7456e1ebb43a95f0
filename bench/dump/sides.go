package dump

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"github.com/okradb/okra-go/bench"
	"github.com/okradb/okra-go/bench/suite"
	"github.com/okradb/okra-go/okra"
	dumps "github.com/okradb/okra-go/okra/dump"
)

// What is in the folder of a repetition.
const (
	sourceStore = "store"    // what is exported or copied
	sourceDump  = "dump"     // what is imported
	madeDump    = "exported" // a file
	madeStore   = "imported" // a folder
)

func in(r *suite.Rep, name string) string { return filepath.Join(r.Dir, name) }

// dataFile is the file of an LMDB environment in the folder dir.
func dataFile(dir string) string { return filepath.Join(dir, "data.mdb") }

// exportSide writes a dump of an okra store.
func (w work) exportSide(name string, kind dumps.Kind) suite.Side {
	return suite.Side{
		Name:    name,
		Prepare: func(r *suite.Rep) error { return w.fillOkra(in(r, sourceStore)) },
		Run: func(r *suite.Rep) (suite.Measurement, error) {
			var m suite.Measurement
			start := time.Now()
			if err := export(in(r, sourceStore), in(r, madeDump), kind, &m); err != nil {
				return m, err
			}
			return m, finish(&m, start, in(r, madeDump))
		},
		Check: func(r *suite.Rep) (bench.Contents, error) { return contentsOf(in(r, madeDump), kind) },
	}
}

// finish stops the clock when file is on the disk, and sets its size.
func finish(m *suite.Measurement, start time.Time, file string) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	err = f.Sync()
	m.Value = milliseconds(time.Since(start))
	info, statErr := f.Stat()
	if statErr == nil {
		m.FileSize = info.Size()
	}
	return errors.Join(err, statErr, f.Close())
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// export writes a dump of the store in dir to file, as the command does, and counts in m.
func export(dir, file string, kind dumps.Kind, m *suite.Measurement) error {
	db, err := okra.Open(dir, &okra.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	err = withFile(file, func(out io.Writer) error {
		writer, err := dumps.NewWriter(out, kind, header(db.Format(), kind))
		if err != nil {
			return err
		}
		return db.View(func(tx *okra.Tx) error {
			for e, err := range tx.All() {
				if err != nil {
					return err
				}
				if err := writer.Write(dumps.Entry{Key: e.Key, Value: e.Value, Hash: e.Hash()}); err != nil {
					return err
				}
				m.Ops++
				m.Bytes += int64(len(e.Key) + len(e.Value))
			}
			_, err := writer.Close()
			return err
		})
	})
	return errors.Join(err, db.Close())
}

// header returns what a dump begins with. LMDB's text says how large a map the store needs.
func header(f okra.Format, kind dumps.Kind) dumps.Header {
	h := dumps.Header{Format: f}
	if kind == dumps.MDB {
		h.MapSize = mapSize
	}
	return h
}

// mapSize has room for maxKeys.
const mapSize = 4 << 30

// withFile makes file and has fn write it.
func withFile(file string, fn func(io.Writer) error) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(fn(out), out.Close())
}

// contentsOf returns the contents of a dump.
func contentsOf(file string, kind dumps.Kind) (bench.Contents, error) {
	in, err := os.Open(file)
	if err != nil {
		return bench.Contents{}, err
	}
	defer in.Close()
	return bench.ContentsOf(func(add func(key, value []byte)) error {
		reader, err := dumps.NewReader(in, kind)
		if err != nil {
			return err
		}
		for e, err := range reader.Entries() {
			if err != nil {
				return err
			}
			add(e.Key, e.Value)
		}
		return nil
	})
}

// helperCount is the helper that counts what a program, or a copy, has made: the memory for that
// is not theirs.
const helperCount = "count"

// counted returns the helpers of a side whose Check is check.
func counted(check func(*suite.Rep) (bench.Contents, error)) map[string]func(*suite.Rep) (suite.Measurement, error) {
	return map[string]func(*suite.Rep) (suite.Measurement, error){
		helperCount: func(r *suite.Rep) (suite.Measurement, error) {
			c, err := check(r)
			return suite.Measurement{Ops: c.Entries, Bytes: c.Bytes}, err
		},
	}
}

// count has the helper count, into m.
func count(r *suite.Rep, m *suite.Measurement) error {
	p, err := r.Start(helperCount)
	if err != nil {
		return err
	}
	found, err := p.Wait()
	if err != nil {
		return fmt.Errorf("count: %w", err)
	}
	m.Ops, m.Bytes = found.Ops, found.Bytes
	return nil
}

// mdbDumpSide dumps a plain store by LMDB's program.
func (w work) mdbDumpSide(mdb tool) suite.Side {
	check := func(r *suite.Rep) (bench.Contents, error) { return contentsOf(in(r, madeDump), dumps.MDB) }
	return suite.Side{
		Name: mdb.name, Absent: mdb.absent(),
		Prepare: func(r *suite.Rep) error { return w.fillPlain(in(r, sourceStore)) },
		Run: func(r *suite.Rep) (suite.Measurement, error) {
			var m suite.Measurement
			start := time.Now()
			if err := mdb.run(&m, "-f", in(r, madeDump), in(r, sourceStore)); err != nil {
				return m, err
			}
			if err := finish(&m, start, in(r, madeDump)); err != nil {
				return m, err
			}
			return m, count(r, &m)
		},
		Check: check, Helpers: counted(check),
	}
}

// copySide copies the file of an okra store.
func (w work) copySide() suite.Side {
	check := func(r *suite.Rep) (bench.Contents, error) { return bench.CheckOkra(in(r, madeStore)) }
	return suite.Side{
		Name:    sideCopy,
		Prepare: func(r *suite.Rep) error { return w.fillOkra(in(r, sourceStore)) },
		Run: func(r *suite.Rep) (suite.Measurement, error) {
			var m suite.Measurement
			start := time.Now()
			if err := copyStore(in(r, sourceStore), in(r, madeStore)); err != nil {
				return m, err
			}
			if err := finish(&m, start, dataFile(in(r, madeStore))); err != nil {
				return m, err
			}
			return m, count(r, &m)
		},
		Check: check, Helpers: counted(check),
	}
}

// copyStore copies the file of a store that nobody has open to the new folder to.
func copyStore(from, to string) error {
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	source, err := os.Open(dataFile(from))
	if err != nil {
		return err
	}
	defer source.Close()
	return withFile(dataFile(to), func(out io.Writer) error {
		_, err := io.Copy(out, source)
		return err
	})
}

// importSide makes an okra store of a dump.
func (w work) importSide(name string, kind dumps.Kind) suite.Side {
	return suite.Side{
		Name: name,
		Prepare: func(r *suite.Rep) error {
			return w.writeDump(in(r, sourceDump), kind)
		},
		Run: func(r *suite.Rep) (suite.Measurement, error) {
			var m suite.Measurement
			start := time.Now()
			if err := load(in(r, sourceDump), in(r, madeStore), kind, &m); err != nil {
				return m, err
			}
			return m, finish(&m, start, dataFile(in(r, madeStore)))
		},
		Check: func(r *suite.Rep) (bench.Contents, error) { return bench.CheckOkra(in(r, madeStore)) },
	}
}

// load makes a store in dir of the dump in file, as the command does, and counts in m.
func load(file, dir string, kind dumps.Kind, m *suite.Measurement) error {
	source, err := os.Open(file)
	if err != nil {
		return err
	}
	defer source.Close()
	reader, err := dumps.NewReader(source, kind)
	if err != nil {
		return err
	}
	db, err := okra.Open(dir, nil)
	if err != nil {
		return err
	}
	err = db.Update(func(tx *okra.Tx) error {
		for e, err := range reader.Entries() {
			if err == nil {
				err = tx.Put(e.Key, e.Value)
			}
			if err != nil {
				return err
			}
			m.Ops++
			m.Bytes += int64(len(e.Key) + len(e.Value))
		}
		return agree(tx, reader)
	})
	return errors.Join(err, db.Close())
}

// agree compares the number of entries and the root of a tree with those that its dump names.
func agree(tx *okra.Tx, reader *dumps.Reader) error {
	n, err := tx.Len()
	if err != nil {
		return err
	}
	root, err := tx.Root()
	if err != nil {
		return err
	}
	said, _ := reader.Trailer()
	if n != said.Count || said.Root != (okra.Root{}) && root != said.Root {
		return fmt.Errorf("%w: %s, want %s", dumps.ErrMismatch, dumps.Trailer{Count: n, Root: root}, said)
	}
	return nil
}

// mdbLoadSide makes a plain store of LMDB's text by LMDB's program.
func (w work) mdbLoadSide(mdb tool) suite.Side {
	check := func(r *suite.Rep) (bench.Contents, error) { return bench.CheckPlain(in(r, madeStore)) }
	return suite.Side{
		Name: mdb.name, Absent: mdb.absent(),
		Prepare: func(r *suite.Rep) error { return w.writeDump(in(r, sourceDump), dumps.MDB) },
		Run: func(r *suite.Rep) (suite.Measurement, error) {
			var m suite.Measurement
			start := time.Now()
			if err := os.Mkdir(in(r, madeStore), 0o755); err != nil {
				return m, err
			}
			if err := mdb.run(&m, "-f", in(r, sourceDump), in(r, madeStore)); err != nil {
				return m, err
			}
			if err := finish(&m, start, dataFile(in(r, madeStore))); err != nil {
				return m, err
			}
			return m, count(r, &m)
		},
		Check: check, Helpers: counted(check),
	}
}

// writeDump writes a dump of the entries of w to file.
func (w work) writeDump(file string, kind dumps.Kind) error {
	return withFile(file, func(out io.Writer) error {
		format := okra.Format{K: 16, Q: 32, Mode: okra.Store}
		writer, err := dumps.NewWriter(out, kind, header(format, kind))
		if err != nil {
			return err
		}
		err = w.each(func(key, value []byte) error {
			return writer.Write(dumps.Entry{Key: key, Value: value})
		})
		if err != nil {
			return err
		}
		_, err = writer.Close()
		return err
	})
}

// fillOkra makes an okra store of the entries of w in the folder dir.
func (w work) fillOkra(dir string) error {
	db, err := okra.Open(dir, &okra.Options{NoSync: true})
	if err != nil {
		return err
	}
	return errors.Join(w.putOkra(db), db.Close())
}

// putOkra writes the entries of w in one transaction.
func (w work) putOkra(db *okra.DB) error {
	return db.Update(func(tx *okra.Tx) error { return w.each(tx.Put) })
}

// fillPlain is fillOkra for plain LMDB.
func (w work) fillPlain(dir string) error {
	p, err := bench.OpenPlain(dir, bench.StoreOptions{MapSize: mapSize, NoSync: true})
	if err != nil {
		return err
	}
	return errors.Join(w.putPlain(p), p.Close())
}

func (w work) putPlain(p *bench.Plain) error {
	return p.Env.Update(func(txn *lmdb.Txn) error {
		return w.each(func(key, value []byte) error { return txn.Put(p.DBI, key, value, 0) })
	})
}

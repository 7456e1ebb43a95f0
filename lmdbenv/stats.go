package lmdbenv

import (
	"encoding/binary"
	"os"
	"strconv"
	"strings"

	"github.com/PowerDNS/lmdb-go/lmdb"
)

// Stats describes an environment and its file.
type Stats struct {
	FileSize   int64  // bytes of the data file
	UsedSize   int64  // bytes of the pages that hold data
	FreeSize   int64  // bytes of the pages that LMDB will use again
	MapSize    int64  // bytes: the largest size of the data, as in force
	Readers    int    // reader slots taken, by all processes; a DB keeps some for its next Views
	MaxReaders int    // reader slots
	LastTxn    uint64 // the number of the last commit
}

// Stats returns the state of the environment. It reads LMDB's list of free pages.
func (e *Env) Stats() (Stats, error) {
	if err := e.enter(); err != nil {
		return Stats{}, err
	}
	defer e.leave()
	s, err := e.stats()
	return s, classify("stat "+e.path, err)
}

func (e *Env) stats() (Stats, error) {
	file, err := os.Stat(e.DataFile())
	if err != nil {
		return Stats{}, err
	}
	info, err := e.env.Info()
	if err != nil {
		return Stats{}, err
	}
	whole, err := e.env.Stat()
	if err != nil {
		return Stats{}, err
	}
	s := Stats{
		FileSize: file.Size(), MapSize: info.MapSize, MaxReaders: int(info.MaxReaders),
		LastTxn: uint64(info.LastTxnID),
	}
	free, err := e.freePages()
	if err != nil {
		return Stats{}, err
	}
	s.FreeSize = free * int64(whole.PSize)
	s.UsedSize = (info.LastPNO+1)*int64(whole.PSize) - s.FreeSize
	// A line for each reader, after a heading, or one that there are none.
	err = e.env.ReaderList(func(line string) error {
		if fields := strings.Fields(line); len(fields) > 0 {
			if _, err := strconv.Atoi(fields[0]); err == nil {
				s.Readers++
			}
		}
		return nil
	})
	return s, err
}

// freePages counts the pages on LMDB's free list, which it keeps as table 0: for each commit,
// a number of pages and then the page numbers, in the machine's words.
func (e *Env) freePages() (int64, error) {
	var n int64
	err := e.env.View(func(txn *lmdb.Txn) error {
		txn.RawRead = true
		cur, err := txn.OpenCursor(0)
		if err != nil {
			return err
		}
		defer cur.Close()
		for {
			_, v, err := cur.Get(nil, nil, lmdb.Next)
			if lmdb.IsNotFound(err) {
				return nil
			}
			if err != nil {
				return err
			}
			if strconv.IntSize == 64 {
				n += int64(binary.NativeEndian.Uint64(v))
			} else {
				n += int64(binary.NativeEndian.Uint32(v))
			}
		}
	})
	return n, err
}

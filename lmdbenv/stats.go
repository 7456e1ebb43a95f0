package lmdbenv

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Stats describes an environment and its file.
type Stats struct {
	FileSize   int64    // bytes of the data file
	UsedSize   int64    // bytes of the pages that hold data
	FreeSize   int64    // bytes of the pages that LMDB will use again
	MapSize    int64    // bytes: the largest size of the data, as in force
	Slots      int      // reader slots taken, by all processes; a DB keeps some for its next Views
	MaxReaders int      // reader slots
	Readers    []Reader // read transactions under way, the oldest first
	LastTxn    uint64   // the number of the last commit
}

// Reader is a read transaction that is under way, of any process.
type Reader struct {
	PID  int
	Txn  uint64 // the number of the commit that it sees
	Dead bool   // its process is gone: the next writable open frees its slot
}

// Stats returns the state of the environment. It reads LMDB's list of free pages.
func (e *Env) Stats() (Stats, error) {
	// A read transaction sees to it that the map is as large as the file. Without a slot for one
	// there are other readers, which have.
	t, err := e.BeginRead()
	switch {
	case err == nil:
		e.EndRead(t)
	case !errors.Is(err, ErrReadersFull):
		return Stats{}, fmt.Errorf("stat %s: %w", e.path, err)
	}
	if err := e.gate.enter(); err != nil {
		return Stats{}, err
	}
	defer e.gate.leave()
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
	all, free, err := countPages(e.DataFile())
	if err != nil {
		return Stats{}, err
	}
	s.FreeSize = free * int64(whole.PSize)
	s.UsedSize = (all - free) * int64(whole.PSize)
	s.Slots, s.Readers, err = e.readers()
	return s, err
}

// readers returns how many reader slots are taken, and the transactions in them. LMDB gives a
// line for each slot, after a heading: process, thread, and the commit seen or "-".
func (e *Env) readers() (slots int, list []Reader, err error) {
	err = e.env.ReaderList(func(line string) error {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return nil
		}
		pid, err := strconv.Atoi(fields[0])
		if err != nil {
			return nil // the heading
		}
		slots++
		txn, err := strconv.ParseUint(fields[2], 10, 64)
		if err == nil {
			list = append(list, Reader{PID: pid, Txn: txn, Dead: !alive(pid)})
		}
		return nil
	})
	slices.SortStableFunc(list, func(a, b Reader) int { return cmp.Compare(a.Txn, b.Txn) })
	return slots, list, err
}

// alive reports whether there is a process of the number pid, as far as can be told.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	return !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

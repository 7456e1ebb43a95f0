package lmdbenv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/okradb/okra-go/tree"
)

// The file of LMDB 0.9 on 64 bits, as far as it must be known to tell whether it is whole. It is
// read with bounds here, not through LMDB, which would touch what may not be there.
const (
	metaMagic   = 0xbeefc0de
	metaVersion = 1
	pageHead    = 16 // of every page; its flags at 10, the end of the list of places at 12
	pageFlags   = 10
	pageLower   = 12
	branchPage  = 0x01
	leafPage    = 0x02
	recordHead  = 8 // of every record: u16 low, high, flags, key length
	bigValue    = 0x01
	metaMap     = 16 // in a meta page: map size
	metaPage    = 24 // page size
	metaFree    = 64 // root of the free list
	metaLast    = 120
	metaTxn     = 128
	metaEnd     = 136
	mostPageLen = 1 << 16
	mostDepth   = 32
)

// errShort says that a page which is in use lies beyond the end of the file.
var errShort = errors.New("a page in use is missing")

// checkWhole returns an error wrapping tree.ErrCorrupt if the LMDB file at path has been cut
// short, so that reading it would kill the process. The file of a whole database may end before
// its last page, when that is free and was never written. Another process may write meanwhile,
// so a failure is looked at again.
func checkWhole(path string) error {
	if strconv.IntSize != 64 {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for range 3 {
		if err = checkFile(f); err == nil || !errors.Is(err, errShort) {
			return err
		}
	}
	return fmt.Errorf("%w: %s is cut short: %w; restore a backup", tree.ErrCorrupt, path, err)
}

func checkFile(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	m, err := readMeta(f)
	if err != nil {
		return err
	}
	w := freeWalk{f: f, size: m.page, pages: info.Size() / m.page}
	if missing := m.last + 1 - w.pages; missing > 0 {
		if err := w.visit(m.free, 0); err != nil {
			return err
		}
		if w.beyond < missing {
			return fmt.Errorf("%w: of %d pages %d are there", errShort, m.last+1, w.pages)
		}
	}
	return nil
}

// meta is what a meta page says.
type meta struct {
	page, last, txn int64
	mapSize         int64
	free            uint64 // page number, all ones for none
}

// readMeta returns the newer of the two meta pages.
func readMeta(f *os.File) (meta, error) {
	first, err := readMetaAt(f, 0)
	if err != nil {
		return meta{}, err
	}
	second, err := readMetaAt(f, first.page)
	if err != nil || second.txn < first.txn {
		return first, nil
	}
	return second, nil
}

func readMetaAt(f *os.File, at int64) (meta, error) {
	var b [metaEnd + pageHead]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		return meta{}, fmt.Errorf("%w: no meta page", ErrNotLMDB)
	}
	p := b[pageHead:]
	m := meta{
		mapSize: int64(binary.NativeEndian.Uint64(p[metaMap:])),
		page:    int64(binary.NativeEndian.Uint32(p[metaPage:])),
		free:    binary.NativeEndian.Uint64(p[metaFree:]),
		last:    int64(binary.NativeEndian.Uint64(p[metaLast:])),
		txn:     int64(binary.NativeEndian.Uint64(p[metaTxn:])),
	}
	if v := binary.NativeEndian.Uint32(p[4:]); binary.NativeEndian.Uint32(p) == metaMagic &&
		v != metaVersion {
		return meta{}, fmt.Errorf("%w: its version is %d, so it was made by another LMDB generation",
			ErrNotLMDB, v)
	}
	if binary.NativeEndian.Uint32(p) != metaMagic || m.page < 512 || m.page > mostPageLen ||
		m.last < 1 {
		return meta{}, fmt.Errorf("%w: bad meta page", ErrNotLMDB)
	}
	return m, nil
}

// metaOf returns what the LMDB file at path says of itself.
func metaOf(path string) (meta, error) {
	f, err := os.Open(path)
	if err != nil {
		return meta{}, err
	}
	defer f.Close()
	return readMeta(f)
}

// countPages returns how many pages the file at path has come to use, and how many of them are
// on LMDB's free list. It reads the file itself, so it takes no reader slot, and again while
// commits change it; after some tries it settles for what it has.
func countPages(path string) (all, free int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	for tries := 0; ; tries++ {
		info, err := f.Stat()
		if err != nil {
			return 0, 0, err
		}
		m, err := readMeta(f)
		if err != nil {
			return 0, 0, err
		}
		w := freeWalk{f: f, size: m.page, pages: info.Size() / m.page}
		err = w.visit(m.free, 0)
		after, afterErr := readMeta(f)
		same := err == nil && afterErr == nil && after.txn == m.txn
		if same || tries == 100 {
			return m.last + 1, min(w.free, m.last), errors.Join(err, afterErr)
		}
	}
}

// freeWalk counts the pages on LMDB's free list, and those of them beyond the end of the file.
type freeWalk struct {
	f      *os.File
	size   int64 // of a page
	pages  int64 // in the file
	seen   int64
	free   int64 // pages in the list
	beyond int64 // those of them beyond the end
}

// visit reads the pages of the free list below number, which is all ones in an empty list.
func (w *freeWalk) visit(number uint64, depth int) error {
	if number == ^uint64(0) {
		return nil
	}
	if w.seen++; depth > mostDepth || w.seen > w.pages {
		return fmt.Errorf("%w: the free list is no tree", tree.ErrCorrupt)
	}
	p := make([]byte, w.size)
	if err := w.read(p, number, 0); err != nil {
		return err
	}
	flags := binary.NativeEndian.Uint16(p[pageFlags:])
	lower := int(binary.NativeEndian.Uint16(p[pageLower:]))
	for at := pageHead; at+2 <= lower && at+2 <= len(p); at += 2 {
		place := int(binary.NativeEndian.Uint16(p[at:]))
		if place+recordHead > len(p) {
			return fmt.Errorf("%w: a record of the free list is off its page", tree.ErrCorrupt)
		}
		r := p[place:]
		var err error
		switch {
		case flags&branchPage != 0:
			err = w.visit(u48(r), depth+1)
		case flags&leafPage != 0:
			err = w.list(r)
		default:
			err = fmt.Errorf("%w: page %d of the free list is of another kind", tree.ErrCorrupt, number)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// u48 returns the page number that a record of a branch page holds.
func u48(r []byte) uint64 {
	return uint64(binary.NativeEndian.Uint16(r)) | uint64(binary.NativeEndian.Uint16(r[2:]))<<16 |
		uint64(binary.NativeEndian.Uint16(r[4:]))<<32
}

// list counts the pages that one record of the free list names: a number of pages and then the
// page numbers, as u64, in the record or on pages of their own.
func (w *freeWalk) list(r []byte) error {
	size := int(binary.NativeEndian.Uint32(r)) // low and high
	key := recordHead + int(binary.NativeEndian.Uint16(r[6:]))
	if binary.NativeEndian.Uint16(r[4:])&bigValue == 0 {
		if key+size > len(r) {
			return fmt.Errorf("%w: a record of the free list is off its page", tree.ErrCorrupt)
		}
		w.count(r[key : key+size])
		return nil
	}
	if key+8 > len(r) || int64(size) > w.pages*w.size {
		return fmt.Errorf("%w: a record of the free list is off its page", tree.ErrCorrupt)
	}
	b := make([]byte, size)
	if err := w.read(b, binary.NativeEndian.Uint64(r[key:]), pageHead); err != nil {
		return err
	}
	w.count(b)
	return nil
}

func (w *freeWalk) count(b []byte) {
	if len(b) < 8 {
		return
	}
	n := binary.NativeEndian.Uint64(b)
	for b = b[8:]; n > 0 && len(b) >= 8; n, b = n-1, b[8:] {
		w.free++
		if int64(binary.NativeEndian.Uint64(b)) >= w.pages {
			w.beyond++
		}
	}
}

// read fills p from a page, which must lie within the file.
func (w *freeWalk) read(p []byte, number uint64, skip int64) error {
	if number >= uint64(w.pages) {
		return fmt.Errorf("%w: page %d of the free list", errShort, number)
	}
	_, err := w.f.ReadAt(p, int64(number)*w.size+skip)
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: page %d of the free list", errShort, number)
	}
	return err
}

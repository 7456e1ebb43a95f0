package okra_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/okradb/okra-go/okra"
)

// opener is the part of a process that opens the stores it is told of, for reading or writing,
// reads and, where it may, writes them, and says what came of it: the root, or the error.
func opener(t *testing.T, p *parent) {
	for {
		line, ok := p.hear()
		if !ok {
			return
		}
		how, dir, _ := strings.Cut(line, " ")
		answer, err := tryStore(dir, how == "read")
		if err != nil {
			answer = "refused: " + strings.ReplaceAll(err.Error(), "\n", " ")
		}
		p.tell("%s", answer)
	}
}

// tryStore uses a store that may be damaged, and returns what it found it to be.
func tryStore(dir string, readOnly bool) (string, error) {
	db, err := okra.Open(dir, &okra.Options{ReadOnly: readOnly, NoSync: !readOnly})
	if err != nil {
		for kind, name := range map[error]string{
			okra.ErrNotLMDB: "not LMDB", okra.ErrCorrupt: "corrupt", okra.ErrNotOkra: "not okra",
			okra.ErrNotExist: "missing",
		} {
			if errors.Is(err, kind) {
				return name, nil
			}
		}
		return "", err
	}
	defer db.Close()
	answer := ""
	read := func(tx *okra.Tx) error {
		root, err := tx.Root()
		n, lenErr := tx.Len()
		answer = fmt.Sprintf("%s with %d entries", root, n)
		return errors.Join(err, lenErr, wholeTree(tx))
	}
	if err := db.View(read); err != nil || readOnly {
		return answer, err
	}
	before := answer
	for _, fn := range []func(*okra.Tx) error{
		put("zz new", "value"),
		func(tx *okra.Tx) error { return tx.Delete([]byte("zz new")) },
	} {
		if err := db.Update(fn); err != nil {
			return "", err
		}
	}
	if err := db.View(read); err != nil || answer != before {
		return "", fmt.Errorf("a put and a delete turn %s into %s: %w", before, answer, err)
	}
	return answer, nil
}

// openers are processes that open what may kill them.
type openers struct {
	t *testing.T
	c *child
}

// try tells what opening a store for reading or writing comes to. A process that dies of it is
// an error of the test, which says what it was about.
func (o *openers) try(how, dir, about string) string {
	o.t.Helper()
	if o.c == nil {
		o.c = start(o.t, "opener", "")
	}
	o.c.tell(how + " " + dir)
	line, ok := o.c.next()
	if !ok {
		o.c.kill()
		text, _, _ := strings.Cut(o.c.text(), "\n")
		o.t.Errorf("%s, opened to %s: the process dies: %s", about, how, text)
		o.c = nil
	}
	return line
}

// end ends the process that is there.
func (o *openers) end() {
	o.t.Helper()
	if o.c != nil {
		o.c.end()
	}
}

// aStore makes a store with free pages among others and at its end, and returns the bytes of
// its file.
func aStore(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	db := storeIn(t, dir, okra.Options{Q: 8})
	for i := range 6 {
		updateOK(t, db, fill(fmt.Sprint("part ", i), 40))
	}
	updateOK(t, db, put("large", strings.Repeat("x", 100000)))
	updateOK(t, db, fill("part 6", 40))
	for _, key := range []string{"large", "part 2 000007"} {
		updateOK(t, db, func(tx *okra.Tx) error { return tx.Delete([]byte(key)) })
	}
	updateOK(t, db, func(tx *okra.Tx) error {
		for i := range 40 {
			if err := tx.Delete(fmt.Appendf(nil, "part 6 %06d", i)); err != nil {
				return err
			}
		}
		return nil
	})
	wantIs(t, "Close", db.Close(), nil)
	return []byte(files(t, dir)["data.mdb"])
}

// A file that was cut, at any length, is refused, or nothing that is in use was cut off and all
// is there: Open and what follows never crash, and never show less than was stored. What is
// refused stays as it is.
func TestL20Truncated(t *testing.T) {
	if isChild(t, parts{"opener": opener}) {
		return
	}
	whole := aStore(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "data.mdb")
	page := os.Getpagesize()
	lengths := []int{1, 100, 152, page - 1, page, page + 100, page + 152, 2*page - 1, 2 * page}
	step := page
	if testing.Short() {
		step = 7 * page
	}
	for n := 3 * page; n <= len(whole); n += step {
		lengths = append(lengths, n-100, n)
	}
	lengths = append(lengths, len(whole)-page, len(whole))
	slices.Reverse(lengths)
	o := openers{t: t}
	want, harmless, refused := "", 0, 0
	for _, n := range lengths {
		for _, how := range []string{"read", "write"} {
			if err := os.WriteFile(path, whole[:n], 0o644); err != nil {
				t.Fatal(err)
			}
			same := unchanged(t, dir)
			about := fmt.Sprintf("%d of %d bytes", n, len(whole))
			got := o.try(how, dir, about)
			switch {
			case want == "":
				want = got
				if !strings.HasSuffix(want, " with 239 entries") {
					t.Fatalf("the whole store is %s", want)
				}
			case got == want:
				harmless++
			case got == "corrupt" || got == "not LMDB" && n < 2*page:
				refused++
				same()
			case got != "": // a process that died
				t.Errorf("%s, opened to %s, is %s, want %s", about, how, got, want)
			}
		}
	}
	if harmless < 4 || refused < 10 {
		t.Errorf("%d cuts do no harm and %d are refused: not all is covered", harmless, refused)
	}
	o.end()
}

// What is no LMDB file is refused with an error that says so, and nothing is made or changed,
// not even LMDB's lock file.
func TestL20NotLMDB(t *testing.T) {
	if isChild(t, parts{"opener": opener}) {
		return
	}
	rng := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 100000)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	o := openers{t: t}
	for name, content := range map[string][]byte{
		"a byte":     {0},
		"100 bytes":  make([]byte, 100),
		"zeros":      make([]byte, 100000),
		"text":       []byte(strings.Repeat("This is not a database.\n", 1000)),
		"short text": []byte("This is not a database.\n"),
		"noise":      noise,
	} {
		for _, how := range []string{"read", "write"} {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "data.mdb"), content, 0o644); err != nil {
				t.Fatal(err)
			}
			same := unchanged(t, dir)
			if got := o.try(how, dir, name); got != "not LMDB" {
				t.Errorf("%s, opened to %s, is %q", name, how, got)
			}
			same()
			if _, err := os.Stat(filepath.Join(dir, "lock.mdb")); err == nil {
				t.Errorf("%s, opened to %s: the open that failed leaves a lock file", name, how)
			}
		}
	}
	if got := o.try("read", emptyFile(t), "an empty file"); got != "not LMDB" {
		t.Errorf("an empty file is %q", got)
	}
	if got := o.try("write", emptyFile(t), "an empty file"); !strings.HasSuffix(got, " 0 entries") {
		t.Errorf("an empty file, opened to write, is %q", got)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "data.mdb"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"read", "write"} {
		got := o.try(how, dir, "a directory")
		if got != "not LMDB" && !strings.HasPrefix(got, "refused") {
			t.Errorf("a directory is %q", got)
		}
	}
	o.end()
}

// emptyFile makes a directory with an empty data file.
func emptyFile(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "data.mdb"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Places in a meta page of LMDB 0.9 on 64 bits, of which there are two.
const (
	metaMagic    = 16
	metaVersion  = 20
	metaPageSize = 40
	metaLastPage = 136
)

// A file of another generation of LMDB, by the version number in its meta pages, is refused with
// an error that says which generation is meant.
func TestL26OtherVersion(t *testing.T) {
	whole := aStore(t)
	for _, version := range []uint32{0, 2, 3, 999, 1 << 31} {
		for _, readOnly := range []bool{false, true} {
			dir := t.TempDir()
			for _, meta := range []int{0, os.Getpagesize()} {
				binary.NativeEndian.PutUint32(whole[meta+metaVersion:], version)
			}
			if err := os.WriteFile(filepath.Join(dir, "data.mdb"), whole, 0o644); err != nil {
				t.Fatal(err)
			}
			same := unchanged(t, dir)
			_, err := okra.Open(dir, &okra.Options{ReadOnly: readOnly})
			wantIs(t, fmt.Sprint("Open of version ", version), err, okra.ErrNotLMDB)
			wantWords(t, err, dir, "not an LMDB 0.9 database")
			same()
			if _, err := os.Stat(filepath.Join(dir, "lock.mdb")); err == nil {
				t.Errorf("version %d: the open that failed leaves a lock file", version)
			}
		}
	}
}

// Meta pages that make no sense here, as those of a machine of another word size or byte order
// or with a damaged number, are refused and do not kill the process.
func TestL20L25OddMetaPages(t *testing.T) {
	if isChild(t, parts{"opener": opener}) {
		return
	}
	o := openers{t: t}
	whole := aStore(t)
	page := os.Getpagesize()
	// A meta page of 32 bits: the same magic and version, then address and map size of 4 bytes
	// each, and two tables of 24 bytes that begin with the page size.
	narrow := make([]byte, len(whole))
	for meta := 0; meta <= page; meta += page {
		p := narrow[meta:]
		copy(p[4:], whole[meta+8:meta+12])
		binary.NativeEndian.PutUint16(p[6:], 0x08) // of a meta page
		binary.NativeEndian.PutUint32(p[12:], 0xbeefc0de)
		binary.NativeEndian.PutUint32(p[16:], 1)
		binary.NativeEndian.PutUint32(p[24:], 1<<20)
		binary.NativeEndian.PutUint32(p[28:], uint32(page))
	}
	swapped := make([]byte, len(whole))
	for i := 0; i+8 <= len(whole); i += 8 {
		binary.BigEndian.PutUint64(swapped[i:], binary.LittleEndian.Uint64(whole[i:]))
	}
	cases := map[string][]byte{"32 bits": narrow, "the other byte order": swapped}
	for name, c := range map[string]struct {
		at    int
		value uint64
		size  int
	}{
		"page size 0":           {metaPageSize, 0, 4},
		"page size 1":           {metaPageSize, 1, 4},
		"page size 4097":        {metaPageSize, 4097, 4},
		"page size 2^20":        {metaPageSize, 1 << 20, 4},
		"page size 2^31":        {metaPageSize, 1 << 31, 4},
		"page size 512":         {metaPageSize, 512, 4},
		"page size 65536":       {metaPageSize, 65536, 4},
		"last page 0":           {metaLastPage, 0, 8},
		"last page 2^40":        {metaLastPage, 1 << 40, 8},
		"last page 2^62":        {metaLastPage, 1 << 62, 8},
		"last page 2^63-1":      {metaLastPage, 1<<63 - 1, 8},
		"last page 2^64-1":      {metaLastPage, 1<<64 - 1, 8},
		"magic of another file": {metaMagic, 0x12345678, 4},
	} {
		b := append([]byte{}, whole...)
		for meta := 0; meta <= page; meta += page {
			if c.size == 4 {
				binary.NativeEndian.PutUint32(b[meta+c.at:], uint32(c.value))
			} else {
				binary.NativeEndian.PutUint64(b[meta+c.at:], c.value)
			}
		}
		cases[name] = b
	}
	for name, content := range cases {
		dir := t.TempDir()
		path := filepath.Join(dir, "data.mdb")
		for _, how := range []string{"read", "write"} {
			if err := os.WriteFile(path, content, 0o644); err != nil {
				t.Fatal(err)
			}
			switch got := o.try(how, dir, name); got {
			case "", "not LMDB", "corrupt":
			default:
				t.Errorf("%s, opened to %s, is %s", name, how, got)
			}
		}
	}
	o.end()
}

package okra_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/okradb/okra-go/okra"
)

// snapshotsOf takes n snapshots, which the end of the test closes.
func snapshotsOf(t *testing.T, db *okra.DB, n int) []*okra.Snapshot {
	t.Helper()
	var all []*okra.Snapshot
	for i := range n {
		s, err := db.Snapshot()
		if err != nil {
			t.Fatalf("snapshot %d: %v", i, err)
		}
		t.Cleanup(func() { s.Close() })
		all = append(all, s)
	}
	return all
}

// holder is the part of a process that takes as many snapshots as it is told to, and holds them
// until it is killed.
func holder(t *testing.T, p *parent) {
	db, err := okra.Open(p.arg, nil)
	if err != nil {
		t.Fatal(err)
	}
	for {
		line, ok := p.hear()
		if !ok {
			return
		}
		n, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		snapshotsOf(t, db, n)
		p.tell("done")
	}
}

// One reader more than there are slots is an error that says what to do; those under way go on,
// Updates too, and the end of one makes room for another.
func TestL7ReadersFull(t *testing.T) {
	db := newStore(t, okra.Options{MaxReaders: 3})
	updateOK(t, db, put("a", "1"))
	all := snapshotsOf(t, db, 3)
	for range 3 {
		err := db.View(wantContent("a", "1"))
		wantIs(t, "View", err, okra.ErrReadersFull)
		wantWords(t, err, "MaxReaders", "end snapshots and Views")
		_, err = db.Snapshot()
		wantIs(t, "Snapshot", err, okra.ErrReadersFull)
		updateOK(t, db, put("b", "2"))
		wantIs(t, "View of a snapshot", all[0].View(wantContent("a", "1")), nil)
	}
	wantIs(t, "Close", all[1].Close(), nil)
	for range 10 {
		viewOK(t, db, wantContent("a", "1", "b", "2"))
	}
	one, err := db.Snapshot()
	wantIs(t, "Snapshot", err, nil)
	defer one.Close()
	wantIs(t, "View", db.View(wantContent("a", "1", "b", "2")), okra.ErrReadersFull)
	for _, s := range all {
		wantIs(t, "Close", s.Close(), nil)
	}
}

// With every slot taken it can still be seen who has them.
func TestL7L9StatsWithReadersFull(t *testing.T) {
	db := newStore(t, okra.Options{MaxReaders: 3})
	all := snapshotsOf(t, db, 3)
	s, err := db.Stats()
	if err != nil {
		wantIs(t, "Stats", err, okra.ErrReadersFull)
	}
	if len(s.Readers) != 3 || len(s.Snapshots) != 3 || s.Slots != 3 {
		t.Errorf("%d readers, %d snapshots, %d slots (%v)", len(s.Readers), len(s.Snapshots),
			s.Slots, err)
	}
	for _, s := range all {
		wantIs(t, "Close", s.Close(), nil)
	}
}

// By default there are more slots than a program uses, and the lock file that holds them is
// small.
func TestL7DefaultSlots(t *testing.T) {
	dir := t.TempDir()
	db := storeIn(t, dir, okra.Options{})
	most := statsOf(t, db).MaxReaders
	if most < 1000 {
		t.Fatalf("there are %d slots", most)
	}
	for _, s := range snapshotsOf(t, db, most) {
		wantIs(t, "Close", s.Close(), nil)
	}
	info, err := os.Stat(filepath.Join(dir, "lock.mdb"))
	if err != nil || info.Size() > mebi {
		t.Errorf("the lock file: %v, %v", info.Size(), err)
	}
}

// The slots of a process that was killed are free for the next who opens the store.
func TestL7L8KilledReadersAtOpen(t *testing.T) {
	if isChild(t, parts{"holder": holder}) {
		return
	}
	dir := t.TempDir()
	first := storeIn(t, dir, okra.Options{MaxReaders: 8})
	wantIs(t, "Close", first.Close(), nil)
	for range 3 {
		// Whoever is the first to open a store sizes the lock file anew.
		keeper := start(t, "holder", dir)
		keeper.ask("1")
		c := start(t, "holder", dir)
		c.ask("7")
		c.kill()
		db := storeIn(t, dir, okra.Options{})
		for _, r := range statsOf(t, db).Readers {
			if r.Dead || r.PID != keeper.cmd.Process.Pid {
				t.Errorf("reader %+v is there after the open", r)
			}
		}
		for _, s := range snapshotsOf(t, db, 7) {
			wantIs(t, "Close", s.Close(), nil)
		}
		wantIs(t, "Close", db.Close(), nil)
		keeper.kill()
	}
}

// A store that is open when a reader's process is killed shows that it is dead, and takes its
// slots when there are no others: for one View, and for many at once.
func TestL7L8KilledReadersWhileOpen(t *testing.T) {
	if isChild(t, parts{"holder": holder}) {
		return
	}
	const slots = 8
	rounds := 20
	if testing.Short() {
		rounds = 5
	}
	dir := t.TempDir()
	db := storeIn(t, dir, okra.Options{MaxReaders: slots})
	updateOK(t, db, put("a", "1"))
	for round := range rounds {
		viewOK(t, db, wantContent("a", "1"))
		taken := statsOf(t, db).Slots // this process keeps those for its next Views
		c := start(t, "holder", dir)
		c.ask(strconv.Itoa(slots - taken))
		mine := snapshotsOf(t, db, taken)
		err := db.View(wantContent("a", "1"))
		wantIs(t, "View while they live", err, okra.ErrReadersFull)
		for _, s := range mine {
			wantIs(t, "Close", s.Close(), nil)
		}
		dead := 0
		c.kill()
		for _, r := range statsOf(t, db).Readers {
			if r.Dead && r.PID == c.cmd.Process.Pid {
				dead++
			}
		}
		if dead != slots-taken {
			t.Errorf("%d readers are shown as dead, want %d", dead, slots-taken)
		}
		if round == 0 {
			for _, s := range snapshotsOf(t, db, 3) {
				wantIs(t, "Close", s.Close(), nil)
			}
			continue
		}
		var together, over sync.WaitGroup
		together.Add(slots)
		for range slots {
			over.Go(func() {
				err := db.View(func(tx *okra.Tx) error {
					together.Done()
					together.Wait() // all have a slot now
					return wantContent("a", "1")(tx)
				})
				if err != nil {
					t.Errorf("round %d: View: %v", round, err)
					together.Done()
				}
			})
		}
		over.Wait()
		if t.Failed() {
			return
		}
		wantIs(t, "Close", db.Close(), nil)
		db = storeIn(t, dir, okra.Options{MaxReaders: slots})
	}
}

// overwrite puts the same keys again and again, and returns by how much the file grew.
func overwrite(t *testing.T, db *okra.DB, rounds int) int64 {
	t.Helper()
	before := statsOf(t, db).FileSize
	for round := range rounds {
		updateOK(t, db, func(tx *okra.Tx) error {
			for i := range 100 {
				if err := tx.Put(number(i), kibi(fmt.Sprint("round ", round%7), i)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return statsOf(t, db).FileSize - before
}

// A reader whose process was killed keeps pages from being used again until somebody looks for
// such readers: an open does, and so does a store that is open, now and then, so that the file
// does not grow for ever.
func TestL8DeadReader(t *testing.T) {
	if isChild(t, parts{"holder": holder}) {
		return
	}
	die := func(dir string) {
		c := start(t, "holder", dir)
		c.ask("1")
		c.kill()
	}
	dir := t.TempDir()
	db := storeIn(t, dir, okra.Options{})
	overwrite(t, db, 10)
	die(dir)
	first := overwrite(t, db, 200)
	if after := overwrite(t, db, 200); first < mebi || after > mebi {
		t.Errorf("the file grew by %d bytes with a dead reader, and then by %d", first, after)
	}
	for _, r := range statsOf(t, db).Readers {
		if r.Dead {
			t.Errorf("reader %+v is still there", r)
		}
	}

	dir = t.TempDir()
	db = storeIn(t, dir, okra.Options{})
	overwrite(t, db, 10)
	wantIs(t, "Close", db.Close(), nil)
	keeper := start(t, "holder", dir) // or else the lock file is made anew
	keeper.ask("0")
	die(dir)
	db = storeIn(t, dir, okra.Options{})
	if after := overwrite(t, db, 50); after > mebi {
		t.Errorf("opened after the death of a reader, the file grew by %d bytes", after)
	}
	keeper.end()
}

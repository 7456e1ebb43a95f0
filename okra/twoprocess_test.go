package okra_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/okradb/okra-go/okra"
)

// grower is the part of a process that hears a name and a store, and puts 3000 entries, over
// 3 MiB, in a map that it makes larger for them.
func grower(t *testing.T, p *parent) {
	for {
		line, ok := p.hear()
		if !ok {
			return
		}
		name, dir, _ := strings.Cut(line, " ")
		db, err := okra.Open(dir, &okra.Options{NoSync: true, MapSize: mebi})
		if err != nil {
			t.Fatal(err)
		}
		updateOK(t, db, fill(name, 3000))
		wantIs(t, "Close", db.Close(), nil)
		p.tell("done")
	}
}

// When another process has made the file larger than this one's map, whatever this one does
// next takes over the new size by itself, and sees what the other has written.
func TestL3AnotherProcessGrew(t *testing.T) {
	if isChild(t, parts{"grower": grower}) {
		return
	}
	other := start(t, "grower", "")
	calls := map[string]func(t *testing.T, db *okra.DB) error{
		"View":   func(_ *testing.T, db *okra.DB) error { return db.View(filled("mine", 100)) },
		"Update": func(_ *testing.T, db *okra.DB) error { return db.Update(fill("mine", 100)) },
		"Batch":  func(_ *testing.T, db *okra.DB) error { return db.Batch(fill("mine", 100)) },
		"Snapshot": func(_ *testing.T, db *okra.DB) error {
			s, err := db.Snapshot()
			if err != nil {
				return err
			}
			return errors.Join(s.View(filled("mine", 100)), s.Close())
		},
		"Stats": func(_ *testing.T, db *okra.DB) error {
			s, err := db.Stats()
			if err == nil && s.MapSize < s.UsedSize {
				err = fmt.Errorf("the map has %d bytes, and %d are used", s.MapSize, s.UsedSize)
			}
			return err
		},
		"Backup": func(t *testing.T, db *okra.DB) error {
			return db.Backup(filepath.Join(t.TempDir(), "copy"))
		},
		"Compact": func(t *testing.T, db *okra.DB) error {
			return db.Compact(filepath.Join(t.TempDir(), "copy"))
		},
		"Sync": func(_ *testing.T, db *okra.DB) error { return db.Sync() },
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			db := storeIn(t, dir, okra.Options{MapSize: mebi})
			updateOK(t, db, fill("mine", 100))
			for i := range 2 { // from the first size and from one taken over
				part := fmt.Sprint("part", i)
				other.ask(part + " " + dir)
				if err := call(t, db); err != nil {
					t.Errorf("%s after growth %d gives %v", name, i, err)
				}
				viewOK(t, db, filled(part, 3000))
				viewOK(t, db, filled("mine", 100))
			}
		})
	}
	other.end()
}

// A reader's own process that opened a store for reading only, and tables of it, takes over
// another's growth too.
func TestL3AnotherProcessGrewUnderReadOnly(t *testing.T) {
	part := func(t *testing.T, p *parent) {
		db, err := okra.Open(p.arg, &okra.Options{NoSync: true, MapSize: mebi, Table: "main"})
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; ; i++ {
			line, ok := p.hear()
			if !ok {
				break
			}
			table, err := db.Table(line, okra.Format{})
			if err != nil {
				t.Fatal(err)
			}
			updateOK(t, db, func(tx *okra.Tx) error { return fill("e", 2000)(tx.Table(table)) })
			p.tell("done")
		}
		wantIs(t, "Close", db.Close(), nil)
	}
	if isChild(t, parts{"writer": part}) {
		return
	}
	dir := t.TempDir()
	other := start(t, "writer", dir)
	other.ask("first")
	db := storeIn(t, dir, okra.Options{Table: "main", ReadOnly: true})
	for i := range 6 {
		name := fmt.Sprint("table ", i)
		other.ask(name)
		other.ask(name + " and more")
		if i%2 == 0 {
			viewOK(t, db, func(*okra.Tx) error { return nil })
		}
		table, err := db.Table(name, okra.Format{})
		if err != nil {
			t.Errorf("Table after growth gives %v", err)
			continue
		}
		viewOK(t, db, func(tx *okra.Tx) error { return filled("e", 2000)(tx.Table(table)) })
	}
	other.end()
}

// A snapshot that stays open keeps its process from taking over the new size. Until it is
// closed Views and Updates are an error that says so, and the snapshot can be read.
func TestL3SnapshotWhileAnotherProcessGrows(t *testing.T) {
	if isChild(t, parts{"grower": grower}) {
		return
	}
	dir := t.TempDir()
	db := storeIn(t, dir, okra.Options{MapSize: mebi, GrowTimeout: 20 * time.Millisecond})
	updateOK(t, db, fill("mine", 100))
	s, err := db.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	other := start(t, "grower", "")
	other.ask("one " + dir)
	for range 2 {
		err := db.View(filled("one", 3000))
		wantIs(t, "View", err, okra.ErrMapResized)
		wantWords(t, err, "20ms", "did not end")
		err = db.Update(put("a", "1"))
		wantIs(t, "Update", err, okra.ErrMapResized)
		wantWords(t, err, "20ms", "did not end")
		wantIs(t, "the snapshot", s.View(filled("mine", 100)), nil)
	}
	wantIs(t, "Close of the snapshot", s.Close(), nil)
	viewOK(t, db, filled("one", 3000))
	updateOK(t, db, put("a", "1"))
	other.end()
}

// The size that another process gave the file of an attached environment is the program's to
// take over: the error says how.
func TestL3AttachedIsNotGrown(t *testing.T) {
	if isChild(t, parts{"grower": grower}) {
		return
	}
	dir := t.TempDir()
	env := ownEnv(t, dir, 0)
	if err := env.SetMapSize(mebi); err != nil {
		t.Fatal(err)
	}
	db := attach(t, env, okra.Options{})
	updateOK(t, db, fill("mine", 100))
	other := start(t, "grower", "")
	other.ask("part " + dir)
	for range 3 {
		for name, call := range map[string]func(func(*okra.Tx) error) error{
			"View": db.View, "Update": db.Update, "Batch": db.Batch,
		} {
			err := call(func(*okra.Tx) error { t.Error("the function runs"); return nil })
			wantIs(t, name, err, okra.ErrMapResized)
			wantWords(t, err, "owner", "SetMapSize(0)")
		}
	}
	if err := env.SetMapSize(0); err != nil { // nobody reads or writes
		t.Fatal(err)
	}
	viewOK(t, db, filled("part", 3000))
	updateOK(t, db, fill("mine", 100))
	other.end()
}

// Processes that make one store at the same time all get it, and what each puts is there.
func TestL3ManyProcessesCreate(t *testing.T) {
	part := func(t *testing.T, p *parent) {
		for {
			line, ok := p.hear()
			if !ok {
				return
			}
			name, dir, _ := strings.Cut(line, " ")
			db, err := okra.Open(dir, &okra.Options{Q: 8, NoSync: true})
			if err == nil {
				err = errors.Join(db.Update(put(name, name)), db.View(wholeTree), db.Close())
			}
			if err != nil {
				p.tell("%s", strings.ReplaceAll(err.Error(), "\n", " "))
				continue
			}
			p.tell("done")
		}
	}
	if isChild(t, parts{"creator": part}) {
		return
	}
	rounds := 40
	if testing.Short() {
		rounds = 10
	}
	var all []*child
	var pairs []string
	for i := range 4 {
		all = append(all, start(t, "creator", ""))
		pairs = append(pairs, strconv.Itoa(i), strconv.Itoa(i))
	}
	base := t.TempDir()
	for round := range rounds {
		dir := filepath.Join(base, strconv.Itoa(round))
		for i, c := range all {
			c.tell(fmt.Sprint(i, " ", dir))
		}
		for _, c := range all {
			c.hear("done")
		}
		db := storeIn(t, dir, okra.Options{})
		viewOK(t, db, wantContent(pairs...))
		wantIs(t, "Close", db.Close(), nil)
	}
	for _, c := range all {
		c.end()
	}
}

// Two processes write one file and make it larger in turn, each beginning with a map of 1 MiB,
// while a third reads. Every entry is there in the end, and whoever read saw only whole
// transactions, of each writer ever more.
func TestL3L4TwoProcessesGrow(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 10
	}
	writers := []string{"ann", "bob"}
	opts := okra.Options{MapSize: mebi, Q: 8, NoSync: true}
	write := func(t *testing.T, p *parent) {
		dir, name, _ := strings.Cut(p.arg, "\n")
		db, err := okra.Open(dir, &opts)
		if err != nil {
			t.Fatal(err)
		}
		p.tell("done")
		p.hear()
		for i := range rounds {
			updateOK(t, db, func(tx *okra.Tx) error {
				err := fill(fmt.Sprint(name, " ", i), 200+i)(tx)
				return errors.Join(err, put("count "+name, strconv.Itoa(i+1))(tx))
			})
		}
		wantIs(t, "Close", db.Close(), nil)
	}
	read := func(t *testing.T, p *parent) {
		db := storeIn(t, p.arg, opts)
		p.tell("done")
		stop := make(chan struct{})
		go func() {
			p.hear()
			close(stop)
		}()
		last, reads := make([]int, len(writers)), 0
		for done := false; !done; reads++ {
			select {
			case <-stop:
				done = true
			default:
			}
			viewOK(t, db, func(tx *okra.Tx) error { return readRounds(tx, writers, last) })
		}
		if last[0] != rounds || last[1] != rounds {
			t.Errorf("after %d reads the counts are %v, want %d", reads, last, rounds)
		}
	}
	if isChild(t, parts{"write": write, "read": read}) {
		return
	}
	dir := t.TempDir()
	reader := start(t, "read", dir)
	reader.hear("done")
	var all []*child
	for _, name := range writers {
		c := start(t, "write", dir+"\n"+name)
		c.hear("done")
		all = append(all, c)
	}
	for _, c := range all {
		c.tell("go")
	}
	for _, c := range all {
		c.end()
	}
	reader.end()
	db := storeIn(t, dir, okra.Options{})
	viewOK(t, db, func(tx *okra.Tx) error {
		for i := range rounds {
			for _, name := range writers {
				if err := filled(fmt.Sprint(name, " ", i), 200+i)(tx); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// readRounds demands the last round that each writer has counted, whole, and none after it.
func readRounds(tx *okra.Tx, writers []string, last []int) error {
	for i, name := range writers {
		v, err := tx.Get([]byte("count " + name))
		if errors.Is(err, okra.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(string(v))
		if err != nil || n < last[i] {
			return fmt.Errorf("the count is %q after %d (%v)", v, last[i], err)
		}
		last[i] = n
		if err := filled(fmt.Sprint(name, " ", n-1), 200+n-1)(tx); err != nil {
			return err
		}
		if err := filled(fmt.Sprint(name, " ", n), 0)(tx); err != nil {
			return err
		}
	}
	return nil
}

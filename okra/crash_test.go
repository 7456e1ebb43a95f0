package okra_test

import (
	"errors"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/okradb/okra-go/okra"
)

var longFlag = flag.Bool("long", false, "kill 200 processes where the default is 10")

// kills is how many processes a test of crashes kills in all.
func kills() int {
	switch {
	case *longFlag:
		return 200
	case testing.Short():
		return 2
	}
	return 10
}

// A victim is a way to write to a store for ever. It begins with the commit after the one that
// next names, and tells the number of each commit when it has been acknowledged.
type victim struct {
	opts  okra.Options
	write func(db *okra.DB, next int, tell func(n int)) error
	// want returns the content after n commits.
	want func(n int) map[string]string
}

// victims are the ways to write: transactions that flush to disk, that don't, that need a
// larger map, and bulk loads between clearances.
var victims = map[string]victim{
	"update": {okra.Options{Q: 4}, updates(1), contentAfter},
	"nosync": {okra.Options{Q: 4, NoSync: true}, updates(1), contentAfter},
	"growth": {okra.Options{Q: 4, NoSync: true, MapSize: 1 << 16}, updates(8), contentAfter},
	"load":   {okra.Options{Q: 8, NoSync: true, MapSize: 1 << 16}, loads, loadedAfter},
}

// change applies the n-th commit: some puts, some of them over others' keys, and deletes.
func change(n int, put func(k, v string) error, del func(k string) error) error {
	rng := rand.New(rand.NewPCG(7, uint64(n)))
	key := func() string { return fmt.Sprintf("key %04d", rng.IntN(3000)) }
	for range 1 + rng.IntN(30) {
		k, size := key(), rng.IntN(200)
		if rng.IntN(20) == 0 {
			size = 20000 // beside its page
		}
		if err := put(k, strings.Repeat(fmt.Sprintf("%d %s ", n, k), 1+size/15)); err != nil {
			return err
		}
	}
	for range rng.IntN(20) {
		if err := del(key()); err != nil {
			return err
		}
	}
	return put("commits", strconv.Itoa(n))
}

// updates returns a write by Update, some commits in each transaction.
func updates(each int) func(db *okra.DB, next int, tell func(n int)) error {
	return func(db *okra.DB, next int, tell func(n int)) error {
		for n := next; ; n += each {
			err := db.Update(func(tx *okra.Tx) error {
				for i := range each {
					err := change(n+i,
						func(k, v string) error { return tx.Put([]byte(k), []byte(v)) },
						func(k string) error { return tx.Delete([]byte(k)) })
					if err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			tell(n + each - 1)
		}
	}
}

func contentAfter(n int) map[string]string {
	m := map[string]string{}
	for i := 1; i <= n; i++ {
		change(i, func(k, v string) error { m[k] = v; return nil },
			func(k string) error { delete(m, k); return nil })
	}
	return m
}

// loads loads a tree at each odd commit and empties it at each even one.
func loads(db *okra.DB, next int, tell func(n int)) error {
	for n := next; ; n++ {
		err := db.Update(func(tx *okra.Tx) error {
			if n%2 == 1 {
				_, err := tx.Load(loaded(n))
				return err
			}
			for e := range loaded(n - 1) {
				if err := tx.Delete(e.Key); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		tell(n)
	}
}

func loaded(n int) iter.Seq2[okra.Entry, error] {
	return entries(fmt.Sprint("load ", n), 100+n%7*300)
}

func loadedAfter(n int) map[string]string {
	m := map[string]string{}
	for e := range loaded(n) {
		if n%2 == 1 {
			m[string(e.Key)] = string(e.Value)
		}
	}
	return m
}

// soundTree demands that Verify finds nothing wrong with tx's tree.
func soundTree(tx *okra.Tx) error {
	var errs []error
	for p, err := range tx.Verify() {
		if err == nil {
			err = fmt.Errorf("verify: %v", p)
		}
		if errs = append(errs, err); len(errs) > 5 {
			break
		}
	}
	return errors.Join(errs...)
}

// A process that is killed at any moment of a write leaves a store that opens, has every commit
// that was acknowledged, of the one under way all or nothing, and an index that agrees, entry by
// entry and node by node. A flush at each commit makes no difference to that: it is the crash of
// the machine that it guards against.
func TestM12L21Killed(t *testing.T) {
	part := func(t *testing.T, p *parent) {
		name, rest, _ := strings.Cut(p.arg, " ")
		from, dir, _ := strings.Cut(rest, " ")
		next, err := strconv.Atoi(from)
		if err != nil {
			t.Fatal(err)
		}
		v := victims[name]
		db, err := okra.Open(dir, &v.opts)
		if err != nil {
			t.Fatal(err)
		}
		go func() { // end with the test
			p.hear()
			os.Exit(1)
		}()
		t.Fatal(v.write(db, next, func(n int) { p.tell("%d", n) }))
	}
	if isChild(t, parts{"victim": part}) {
		return
	}
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d (replay with -seed)", seed)
	rng := rand.New(rand.NewPCG(seed, 12))
	each := (kills() + len(victims) - 1) / len(victims)
	for name, v := range victims {
		dir := t.TempDir()
		done, lost := 0, 0
		for i := range each {
			var open *okra.DB // half of the time this process has the store open as well
			if i%2 == 1 {
				open = storeIn(t, dir, okra.Options{GrowTimeout: 30 * time.Second})
			}
			acknowledged := killed(t, fmt.Sprint(name, " ", done+1, " ", dir),
				time.Duration(rng.IntN(100))*time.Millisecond)
			db := open
			if db == nil {
				db = storeIn(t, dir, okra.Options{})
			}
			n := found(t, db, name, v, max(done, acknowledged))
			if n > acknowledged && acknowledged > 0 {
				lost++ // its acknowledgement
			}
			done = n
			wantIs(t, "Close", db.Close(), nil)
			if t.Failed() {
				return
			}
		}
		t.Logf("%s: %d commits by %d processes, %d killed between a commit and its word", name, done,
			each, lost)
	}
}

// killed runs a victim until some time after its first commit, and returns the last one that it
// has told of, or 0.
func killed(t *testing.T, arg string, after time.Duration) (last int) {
	t.Helper()
	c := start(t, "victim", arg)
	for {
		line, ok := c.next()
		if !ok {
			break
		}
		n, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		if last == 0 {
			timer := time.AfterFunc(after, func() { c.cmd.Process.Kill() })
			defer timer.Stop()
		}
		last = n
	}
	if last == 0 || strings.Contains(c.text(), "FAIL") {
		t.Fatalf("victim %s ends by itself: %s", arg, c.text())
	}
	c.kill()
	return last
}

// found demands that db has the content after the n-th commit or the transaction after it, and
// returns which.
func found(t *testing.T, db *okra.DB, name string, v victim, n int) int {
	t.Helper()
	var err error
	for _, n := range []int{n, n + 1, n + 8} {
		if n%8 != 0 && name == "growth" && n > 0 {
			continue // no transaction ends there
		}
		if err = db.View(wantContent(contentOf(v.want(n))...)); err == nil {
			wantIs(t, "Verify", db.View(soundTree), nil)
			updateOK(t, db, func(tx *okra.Tx) error { return nil })
			return n
		}
	}
	t.Errorf("%s: after %d commits: %v", name, n, err)
	return n
}

// Goroutines that write by Batch each have in the store, after the process was killed, all that
// they were told is there, and at most the one after it.
func TestM12KilledInBatch(t *testing.T) {
	const goroutines = 16
	part := func(t *testing.T, p *parent) {
		db, err := okra.Open(p.arg, nil)
		if err != nil {
			t.Fatal(err)
		}
		go func() { // end with the test
			p.hear()
			os.Exit(1)
		}()
		var wg sync.WaitGroup
		for g := range goroutines {
			wg.Go(func() {
				for {
					n := 0
					err := db.Batch(func(tx *okra.Tx) error {
						v, err := tx.Get(number(g))
						if err == nil {
							n, err = strconv.Atoi(string(v))
						} else if errors.Is(err, okra.ErrNotFound) {
							err = nil
						}
						n++
						k := fmt.Appendf(nil, "goroutine %d, %d", g, n)
						return errors.Join(err, tx.Put(number(g), []byte(strconv.Itoa(n))), tx.Put(k, k))
					})
					if err != nil {
						p.tell("%q", err)
						return
					}
					p.tell("%d %d", g, n)
				}
			})
		}
		wg.Wait()
	}
	if isChild(t, parts{"victim": part}) {
		return
	}
	dir := t.TempDir()
	var told [goroutines]int
	for i := range max(2, kills()/4) {
		c := start(t, "victim", dir)
		var timer *time.Timer // begins with the first commit
		for line, ok := c.next(); ok; line, ok = c.next() {
			var g, n int
			if _, err := fmt.Sscan(line, &g, &n); err != nil {
				t.Fatalf("the victim says %s", line)
			}
			told[g] = max(told[g], n)
			if timer == nil {
				timer = time.AfterFunc(time.Duration(50+10*i%100)*time.Millisecond,
					func() { c.cmd.Process.Kill() })
				defer timer.Stop()
			}
		}
		if timer == nil {
			t.Fatalf("the victim ends by itself: %s", c.text())
		}
		c.kill()
		db := storeIn(t, dir, okra.Options{})
		viewOK(t, db, func(tx *okra.Tx) error {
			for g := range goroutines {
				v, err := tx.Get(number(g))
				n, _ := strconv.Atoi(string(v))
				if err != nil && told[g] > 0 || n < told[g] || n > told[g]+1 {
					t.Errorf("goroutine %d was told of %d and has %d (%v)", g, told[g], n, err)
				}
				told[g] = n
				for j := range n {
					if ok, err := tx.Has(fmt.Appendf(nil, "goroutine %d, %d", g, j+1)); !ok || err != nil {
						t.Errorf("goroutine %d lacks commit %d (%v)", g, j+1, err)
					}
				}
			}
			return errors.Join(soundTree(tx), wholeTree(tx))
		})
		wantIs(t, "Close", db.Close(), nil)
	}
	t.Logf("the goroutines have committed %v", told)
}

package okra_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/okradb/okra-go/okra"
)

// flipVar tells the child of TestL20FlippedBits where to work and with which damage to begin.
const flipVar = "OKRA_TEST_FLIP"

// flipSeed makes the damages, one from each number.
const flipSeed = 20

// Bits that flip anywhere in a store's file, and stretches that are overwritten: Verify never
// calls the store sound when an entry then differs from what was written. LMDB trusts its file,
// so the process may crash on it; that counts as a refusal too, and is why a child does it.
//
// The one thing that cannot be seen is a page that LMDB keeps for the commit before: damage to
// the first two pages can bring back that state, whole.
func TestL20M13FlippedBits(t *testing.T) {
	if where := os.Getenv(flipVar); where != "" {
		flipInChild(where)
		return
	}
	n := 500
	if testing.Short() {
		n = 60
	}
	dir := t.TempDir()
	states := strings.Join(flipStore(t, dir), "\n")
	if err := os.WriteFile(filepath.Join(dir, "states"), []byte(states), 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := os.Stat(filepath.Join(dir, "data.mdb"))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for at := 0; at < n; {
		answers, next := flipsFrom(t, dir, at, n)
		for i, answer := range answers {
			counts[answer]++
			switch answer {
			case "same", "bad", "crash":
			case "older":
				if d := damageOf(i, int(file.Size())); d.at >= 2*os.Getpagesize() {
					t.Errorf("damage %d, outside of LMDB's meta pages, brings back an older state", i)
				}
			default:
				t.Errorf("damage %d: verified, and then %s", i, answer)
			}
		}
		at = next
	}
	t.Logf("%d damages: %v", n, counts)
	if counts["bad"] == 0 || counts["same"] == 0 {
		t.Errorf("the test tests nothing: %v", counts)
	}
}

// flipStore makes a store of several commits in dir, and returns the state after each.
func flipStore(t *testing.T, dir string) (states []string) {
	db, err := okra.Open(dir, &okra.Options{NoSync: true, Q: 8})
	if err != nil {
		t.Fatal(err)
	}
	for commit := range 4 {
		updateOK(t, db, func(tx *okra.Tx) error {
			for i := range 900 {
				if commit > 0 && i%90 != commit {
					continue
				}
				value := bytes.Repeat([]byte{byte(i)}, i%90)
				if i%150 == 149 {
					value = bytes.Repeat(value, 200) // pages of its own
				}
				if err := tx.Put(fmt.Appendf(nil, "key %05d", 7*i+commit), value); err != nil {
					return err
				}
			}
			return tx.Delete(fmt.Appendf(nil, "key %05d", 70*commit))
		})
		viewOK(t, db, func(tx *okra.Tx) error {
			state, err := stateOf(tx)
			states = append(states, state)
			return err
		})
	}
	return states
}

// stateOf digests all entries as they are read in order, and one by one.
func stateOf(tx *okra.Tx) (string, error) {
	h := fnv.New128()
	for e, err := range tx.All() {
		if err != nil {
			return "", err
		}
		value, err := tx.Get(e.Key)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%x %x %x\n", e.Key, e.Value, value)
	}
	root, err := tx.Root()
	return fmt.Sprintf("%s %x", root, h.Sum(nil)), err
}

// A flip is some bytes of a file that change.
type flip struct {
	at    int
	bytes []byte // to be XORed
}

// damageOf returns the i-th damage to a file of a size: mostly one bit.
func damageOf(i, size int) flip {
	rng := rand.New(rand.NewPCG(flipSeed, uint64(i)))
	n := 1
	if i%5 == 4 {
		n = 1 << rng.IntN(12)
	}
	d := flip{bytes: make([]byte, n)}
	if n == 1 {
		d.bytes[0] = 1 << rng.IntN(8)
	} else {
		for j := range d.bytes {
			d.bytes[j] = byte(rng.Uint32())
		}
	}
	d.at = int(rng.Float64() * float64(size-n))
	return d
}

// flipsFrom runs a child from the damage at on, up to n. It returns the answers by damage, and
// where to go on: after the one that the child crashed or hung at, if it did.
func flipsFrom(t *testing.T, dir string, at, n int) (answers map[int]string, next int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %s", flipVar, at, n, dir),
		"GORACE=atexit_sleep_ms=0", "GOTRACEBACK=none")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hung := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	answers = map[int]string{}
	last := at
	for s := bufio.NewScanner(out); s.Scan(); {
		number, answer, ok := strings.Cut(s.Text(), " ")
		i, err := strconv.Atoi(number)
		if !ok || err != nil {
			continue // of the testing package
		}
		hung.Reset(time.Minute)
		answers[i], last = answer, i
	}
	hung.Stop()
	if err := cmd.Wait(); err == nil {
		return answers, n
	}
	if answers[last] == "begun" || len(answers) == 0 {
		answers[last] = "crash"
	}
	return answers, last + 1
}

// flipInChild verifies damaged stores and says on standard output what came of it: a line when it
// begins, one when it has verified, and one when it has read the entries.
func flipInChild(where string) {
	var at, n int
	var dir string
	fmt.Sscanf(where, "%d %d %s", &at, &n, &dir)
	whole, err := os.ReadFile(filepath.Join(dir, "data.mdb"))
	states, err2 := os.ReadFile(filepath.Join(dir, "states"))
	if err := errors.Join(err, err2); err != nil {
		panic(err)
	}
	list := strings.Split(string(states), "\n")
	for i := at; i < n; i++ {
		fmt.Printf("%d begun\n", i)
		fmt.Printf("%d %s\n", i, flipOnce(i, bytes.Clone(whole), filepath.Join(dir, "damaged"), list))
	}
}

// flipOnce does the i-th damage to a file, and verifies it in a directory of its own.
func flipOnce(i int, file []byte, dir string, states []string) string {
	d := damageOf(i, len(file))
	for j, b := range d.bytes {
		file[d.at+j] ^= b
	}
	os.RemoveAll(dir)
	err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "data.mdb"), file, 0o644))
	if err != nil {
		panic(err)
	}
	db, err := okra.Open(dir, &okra.Options{ReadOnly: true})
	if err != nil {
		return "bad"
	}
	defer db.Close()
	answer := "bad"
	db.View(func(tx *okra.Tx) error {
		if list, err := verified(tx); err != nil || len(list) > 0 {
			return nil
		}
		fmt.Printf("%d sound\n", i)
		state, err := stateOf(tx)
		answer = fmt.Sprintf("reads %s (%v)", state, err)
		for j, s := range states {
			if s == state && j == len(states)-1 {
				answer = "same"
			} else if s == state {
				answer = "older"
			}
		}
		return nil
	})
	return answer
}

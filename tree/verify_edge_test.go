package tree_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

// verify collects what Verify yields up to its first error.
func verify(tr *tree.Tree) (all []tree.Problem, err error) {
	for p, err := range tr.Verify() {
		if err != nil {
			return all, err
		}
		all = append(all, p)
	}
	return all, nil
}

// A problem tells where and what in words, and both hashes.
func TestM13ProblemText(t *testing.T) {
	m, f := six.build(t, tree.Format{K: 16, Q: 4})
	alter(0, "apple", flipAt(15))(m)
	alter(0, "", longer)(m)
	remove(1, "plum")(m)
	set(1, "zzz", "")(m)
	alter(1, "cherry", cutTo(3))(m)
	remove(2, "")(m)
	alter(0xff, "", flipLast)(m)
	set(0xff, "x", "")(m)
	all, err := verify(tree.New(m, f, nil))
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, p := range all {
		text = append(text, p.String())
	}
	want := []string{
		"header: wrong, it is not that of the tree's format",
		"record ff78: stray, it should not be there",
		"level 0 anchor: too long, a hash is all that belongs there",
		"level 0 key 6170706c65: wrong hash f622c094ed34b7ff98a056febf143b27," +
			" its key and value give f622c094ed34b7ff98a056febf143b26",
		"level 1 anchor: wrong hash 3b0d814f3338c509826714f8292d9ae0," +
			" its children give " + all[4].Right.String(),
		"level 1 key 636865727279: too short for a hash",
		"level 1 key 706c756d: missing, its hash would be e2c935c798fa02fc970acbe7bd706639",
		"level 1 key 7a7a7a: stray, it should not be there",
		"level 2 anchor: missing, its hash would be " + all[8].Right.String(),
	}
	if !slices.Equal(text, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(text, "\n"), strings.Join(want, "\n"))
	}
	cherry := "ccbeed45f261f7931d95c462d378d503"
	if p := all[5]; p.Stored != (tree.Hash{}) || p.Right.String() != cherry {
		t.Errorf("the short node has %s, right %s", p.Stored, p.Right)
	}
	if p := all[7]; p.Stored.Len() != 16 || p.Right != (tree.Hash{}) {
		t.Errorf("the stray node has %s, right %s", p.Stored, p.Right)
	}
	alter(0, "", flipAt(0))(m)
	all, _ = verify(tree.New(m, f, nil))
	empty := "that of every tree is af1349b9f5f9a1a6a0404dea36dcc949"
	if got := all[3].Detail(); !strings.HasSuffix(got, empty) {
		t.Errorf("the altered anchor: %s", got)
	}
}

// A tree that the reference has emptied is none the worse; what only looks like it is.
func TestM13EmptiedByTheReference(t *testing.T) {
	m, f := create(t, tree.Format{K: 16, Q: 4})
	h := tree.EmptyHash(16)
	left := tree.NodeHash(16, h.Bytes())
	m.Set([]byte{1}, left.Bytes())
	if got := problemsOf(t, m, f); len(got) > 0 {
		t.Errorf("found %q", got)
	}
	again := m.Clone()
	again.Set([]byte{1}, append(left.Bytes(), 'x'))
	if got := problemsOf(t, again, f); !slices.Equal(got, []string{"1 - stray"}) {
		t.Errorf("with more in its anchor: found %q", got)
	}
	m.Set([]byte{2}, left.Bytes())
	if got := problemsOf(t, m, f); !slices.Equal(got, []string{"1 - stray", "2 - stray"}) {
		t.Errorf("with one more level: found %q", got)
	}
	if r := rebuild(t, m, f); r.Entries != 0 {
		t.Errorf("the rebuild gives %+v", r)
	}
	check(t, m, f, nil)
}

// Writes that wait are applied first; the loop may be left, and ends when it is written in.
func TestVerifyAmongWrites(t *testing.T) {
	m, f := six.build(t, tree.Format{K: 16, Q: 4})
	alter(1, "cherry", flipLast)(m)
	alter(2, "", flipLast)(m)
	tr := tree.New(&treetest.Trashing{Storage: m}, f, &tree.Buffers{})
	put := func(k string) {
		t.Helper()
		if err := tr.Put([]byte(k), []byte("v")); err != nil {
			t.Fatal(err)
		}
	}
	put("zz")
	for p, err := range tr.Verify() {
		if err != nil || short(p) != "1 cherry wrong hash" {
			t.Fatalf("found %s (%v)", p, err)
		}
		break
	}
	var kept []tree.Problem
	var last error
	for p, err := range tr.Verify() {
		if last = err; err != nil {
			continue
		}
		kept = append(kept, p)
		put("zzz")
		if err := tr.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if !errors.Is(last, tree.ErrWritten) || len(kept) != 1 || string(kept[0].Key) != "cherry" {
		t.Errorf("found %v, then %v", kept, last)
	}
	for _, err := range tr.Verify() {
		if err != nil {
			if !errors.Is(err, errSequence) {
				t.Errorf("closed, it ends with %v", err)
			}
			continue
		}
		tr.Close(errSequence)
	}
	if _, err := verify(tr); !errors.Is(err, errSequence) {
		t.Errorf("a closed tree gives %v", err)
	}
	if _, err := tr.Rebuild(nil, nil); !errors.Is(err, errSequence) {
		t.Errorf("Rebuild of a closed tree gives %v", err)
	}
	if _, err := tr.Shape(); !errors.Is(err, errSequence) {
		t.Errorf("Shape of a closed tree gives %v", err)
	}
}

// crooked is a Storage that does not find some key, or does not keep order.
type crooked struct {
	tree.Storage
	hidden string
	loops  bool
}

func (s crooked) Get(prefix byte, key []byte) ([]byte, bool, error) {
	if string(append([]byte{prefix}, key...)) == s.hidden {
		return nil, false, nil
	}
	return s.Storage.Get(prefix, key)
}

func (s crooked) Scan(start tree.Start, from, stop []byte, out []tree.Record) (int, error) {
	n, err := s.Storage.Scan(start, from, stop, out)
	if s.loops && n > 3 && out[0].Key[0] == 0 {
		out[3] = out[1]
	}
	return n, err
}

// A storage that is itself damaged: records that cannot be looked up, or that come again.
func TestM13L20CrookedStorage(t *testing.T) {
	m, f := six.build(t, tree.Format{K: 16, Q: 4})
	for hidden, want := range map[string]string{
		"\x00grape": "0 grape hidden", "\x01cherry": "1 cherry hidden", "\x02": "2 - hidden",
	} {
		s := crooked{Storage: m, hidden: hidden}
		if got := problemsOf(t, s, f); !slices.Equal(got, []string{want}) {
			t.Errorf("%q hidden: found %q, want %s", hidden, got, want)
		}
	}
	s := crooked{Storage: m, hidden: "\x00grape"}
	tr := tree.New(s, f, &tree.Buffers{})
	before := m.Clone()
	if _, err := tr.Rebuild(nil, nil); !errors.Is(err, tree.ErrCorrupt) {
		t.Errorf("Rebuild gives %v, want ErrCorrupt", err)
	}
	if !slices.EqualFunc(before.Records(), m.Records(), sameRecord) {
		t.Error("Rebuild has written")
	}
	n := 0
	for _, err := range tr.Salvage() {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != len(six) {
		t.Errorf("%d entries are salvaged", n)
	}
	s = crooked{Storage: m, loops: true}
	tr = tree.New(s, f, &tree.Buffers{})
	if _, err := verify(tr); !errors.Is(err, tree.ErrCorrupt) {
		t.Errorf("records out of order give %v", err)
	}
	if _, err := tr.Shape(); !errors.Is(err, tree.ErrCorrupt) {
		t.Errorf("records out of order give Shape %v", err)
	}
	if _, err := tr.Rebuild(nil, nil); !errors.Is(err, tree.ErrCorrupt) {
		t.Errorf("records out of order give Rebuild %v", err)
	}
}

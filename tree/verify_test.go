package tree_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

// problemsOf verifies the tree in s and returns what it finds, each as "level key kind".
func problemsOf(t *testing.T, s tree.Storage, f tree.Format) []string {
	t.Helper()
	list := []string{}
	for p, err := range tree.New(s, f, nil).Verify() {
		if err != nil {
			t.Fatalf("after %q: %v", list, err)
		}
		list = append(list, short(p))
		if len(list) > 10000 {
			t.Fatalf("no end of problems: %q", list[:20])
		}
	}
	return list
}

// short returns a problem as "level key kind".
func short(p tree.Problem) string {
	level, key := fmt.Sprint(p.Level), string(p.Key)
	if p.Level == tree.HeaderLevel {
		level = "header"
	}
	if p.Key == nil {
		key = "-"
	}
	return level + " " + key + " " + p.Kind.String()
}

// leavesIn returns what a rebuild makes of the records of level 0.
func leavesIn(m *treetest.Memory, f tree.Format) map[string]treetest.Leaf {
	leaves := map[string]treetest.Leaf{}
	for _, r := range m.Records() {
		if r.Key[0] != 0 || len(r.Key) == 1 || len(r.Value) < f.K {
			continue
		}
		h, _ := tree.HashFrom(r.Value[:f.K])
		leaf := treetest.Leaf{Hash: h}
		if f.Mode == tree.Store {
			leaf.Value = r.Value[f.K:]
			leaf.Hash = tree.LeafHash(f.K, r.Key[1:], leaf.Value)
		}
		leaves[string(r.Key[1:])] = leaf
	}
	return leaves
}

// six is the tree of six entries in FORMAT.md, which has a root on level 2 and over level 0 the
// nodes -, cherry and plum.
var six = content{
	"apple": "red", "banana": "yellow", "cherry": "red", "grape": "green", "lemon": "yellow",
	"plum": "blue",
}

// damage is what is done to one record, and the problems that are to be found.
type damage struct {
	name string
	do   func(*treetest.Memory)
	want string // problems, separated by commas
}

// remove takes a record away, alter changes it, and set puts one with a value or, if that is "",
// the bytes "a hash of 16 b..".
func remove(level byte, key string) func(*treetest.Memory) {
	return func(m *treetest.Memory) { m.Remove(append([]byte{level}, key...)) }
}

func alter(level byte, key string, fn func(v []byte) []byte) func(*treetest.Memory) {
	return func(m *treetest.Memory) {
		v, ok, _ := m.Get(level, []byte(key))
		if !ok {
			panic("no such record: " + key)
		}
		m.Set(append([]byte{level}, key...), fn(bytes.Clone(v)))
	}
}

func set(level byte, key, value string) func(*treetest.Memory) {
	if value == "" {
		value = "a hash of 16 b.."
	}
	return func(m *treetest.Memory) { m.Set(append([]byte{level}, key...), []byte(value)) }
}

// leaf puts a leaf whose hash is right.
func leaf(key, value string) func(*treetest.Memory) {
	h := tree.LeafHash(16, []byte(key), []byte(value))
	return set(0, key, string(h.Bytes())+value)
}

// The changes of a value.
func flipAt(i int) func([]byte) []byte {
	return func(v []byte) []byte { v[i] ^= 1; return v }
}

func flipLast(v []byte) []byte { return flipAt(len(v) - 1)(v) }

func firstByte(b byte) func([]byte) []byte {
	return func(v []byte) []byte { v[0] = b; return v }
}

func cutTo(n int) func([]byte) []byte { return func(v []byte) []byte { return v[:n] } }

func longer(v []byte) []byte { return append(v, 'x') }

// leafDamages are done to level 0.
var leafDamages = []damage{
	{"value altered", alter(0, "apple", flipLast), "0 apple wrong hash"},
	{"value longer", alter(0, "apple", longer), "0 apple wrong hash"},
	{"value shorter", alter(0, "apple", cutTo(18)), "0 apple wrong hash"},
	{"value gone", alter(0, "apple", cutTo(16)), "0 apple wrong hash"},
	{"value of a boundary altered", alter(0, "cherry", flipLast), "0 cherry wrong hash"},
	{"hash altered", alter(0, "apple", flipAt(15)), "0 apple wrong hash, 1 - wrong hash"},
	{"hash altered to a boundary", alter(0, "apple", firstByte(0)),
		"0 apple wrong hash, 1 - wrong hash, 1 apple missing"},
	{"hash altered from a boundary", alter(0, "cherry", firstByte(0xff)),
		"0 cherry wrong hash, 1 - wrong hash, 1 cherry stray"},
	{"hash cut", alter(0, "apple", cutTo(15)), "0 apple too short, 1 - wrong hash"},
	{"hash of a boundary cut", alter(0, "cherry", cutTo(4)),
		"0 cherry too short, 1 - wrong hash, 1 cherry stray"},
	{"nothing left", alter(0, "apple", cutTo(0)), "0 apple too short, 1 - wrong hash"},
	{"leaf deleted", remove(0, "banana"), "1 - wrong hash"},
	{"boundary deleted", remove(0, "cherry"), "1 - wrong hash, 1 cherry stray"},
	{"last leaf deleted", remove(0, "plum"), "1 plum stray"},
	{"leaf added", leaf("fig", "0"), "1 cherry wrong hash"},
	{"leaf added with a wrong hash", set(0, "kiwi", "\xffother hash here...and value"),
		"0 kiwi wrong hash, 1 cherry wrong hash"},
	{"boundary added", leaf("kiwi", "brown"), "1 cherry wrong hash, 1 kiwi missing"},
	{"anchor altered", alter(0, "", flipLast), "0 - wrong hash, 1 - wrong hash"},
	{"anchor longer", alter(0, "", longer), "0 - too long"},
	{"anchor cut", alter(0, "", cutTo(3)), "0 - too short, 1 - wrong hash"},
	{"anchor deleted", remove(0, ""), "0 - missing, 1 - wrong hash"},
}

// upperDamages are done above level 0, in either mode.
var upperDamages = []damage{
	{"anchor of level 1 altered", alter(1, "", flipLast), "1 - wrong hash, 2 - wrong hash"},
	{"anchor of level 1 longer", alter(1, "", longer), "1 - too long"},
	{"anchor of level 1 cut", alter(1, "", cutTo(15)), "1 - too short, 2 - wrong hash"},
	{"anchor of level 1 deleted", remove(1, ""), "1 - missing, 2 - wrong hash"},
	{"node altered", alter(1, "cherry", flipLast), "1 cherry wrong hash, 2 - wrong hash"},
	{"node altered to a boundary", alter(1, "cherry", firstByte(0)),
		"1 cherry wrong hash, 2 - wrong hash, 2 cherry missing"},
	{"node longer", alter(1, "plum", longer), "1 plum too long"},
	{"node cut", alter(1, "plum", cutTo(8)), "1 plum too short, 2 - wrong hash"},
	{"node deleted", remove(1, "plum"), "1 plum missing, 2 - wrong hash"},
	{"orphan parent", set(1, "grape", ""), "1 grape stray, 2 - wrong hash"},
	{"orphan parent of no leaf", set(1, "zzz", ""), "1 zzz stray, 2 - wrong hash"},
	{"orphan parent cut", set(1, "grape", "abc"), "1 grape stray"},
	{"root altered", alter(2, "", flipLast), "2 - wrong hash"},
	{"root longer", alter(2, "", longer), "2 - too long"},
	{"root cut", alter(2, "", cutTo(15)), "2 - too short"},
	{"root deleted", remove(2, ""), "2 - missing"},
	{"node beside the root", set(2, "plum", "\xffa hash of 16 b."), "2 plum stray, 3 - missing"},
	{"boundary beside the root", set(2, "plum", "\x00a hash of 16 b."),
		"2 plum stray, 3 - missing, 3 plum missing"},
	{"level above the root", set(3, "", ""), "3 - stray"},
	{"node above the root", set(3, "plum", ""), "3 plum stray"},
	{"highest level", set(tree.MaxLevel, "plum", ""), "254 plum stray"},
	{"header altered", alter(0xff, "", flipLast), "header - wrong header"},
	{"header's K altered", alter(0xff, "", flipAt(5)), "header - wrong header"},
	{"header longer", alter(0xff, "", longer), "header - wrong header"},
	{"header cut", alter(0xff, "", cutTo(9)), "header - wrong header"},
	{"header without mode", alter(0xff, "", cutTo(10)), ""},
	{"header deleted", remove(0xff, ""), "header - missing"},
	{"record beyond the header", set(0xff, "x", ""), "header x stray"},
}

// One raw record of each kind, deleted, altered or added on each level, is found: exactly the
// problems that it makes, and no others. A rebuild makes the tree of the leaves that are left.
func TestM13C10EachRecord(t *testing.T) {
	f := tree.Format{K: 16, Q: 4, Mode: tree.Store}
	for _, d := range slices.Concat(leafDamages, upperDamages) {
		t.Run("store/"+d.name, func(t *testing.T) { damaged(t, f, d) })
	}
	f.Mode = tree.Index
	for _, d := range upperDamages {
		t.Run("index/"+d.name, func(t *testing.T) { damaged(t, f, d) })
	}
	for _, d := range []damage{
		{"hash altered", alter(0, "apple", flipLast), "1 - wrong hash"},
		{"hash altered to a boundary", alter(0, "apple", firstByte(0)),
			"1 - wrong hash, 1 apple missing"},
		{"something after the hash", alter(0, "apple", longer), "0 apple too long"},
		{"hash cut", alter(0, "apple", cutTo(15)), "0 apple too short, 1 - wrong hash"},
		{"leaf deleted", remove(0, "banana"), "1 - wrong hash"},
		{"leaf added", set(0, "kiwi", ""), "1 cherry wrong hash"},
		{"last leaf deleted", remove(0, "plum"), "1 plum stray"},
	} {
		t.Run("index/leaf "+d.name, func(t *testing.T) { damaged(t, f, d) })
	}
}

func damaged(t *testing.T, f tree.Format, d damage) {
	m, f := six.build(t, f)
	if got := problemsOf(t, m, f); len(got) > 0 {
		t.Fatalf("before: %q", got)
	}
	d.do(m)
	before := m.Clone()
	if got := strings.Join(problemsOf(t, m, f), ", "); got != d.want {
		t.Errorf("found: %s\nwant:  %s", got, d.want)
	}
	if !slices.EqualFunc(before.Records(), m.Records(), sameRecord) {
		t.Error("Verify has changed a record")
	}
	leaves := leavesIn(m, f)
	rebuild(t, m, f)
	check(t, m, f, leaves)
	if got := problemsOf(t, m, f); len(got) > 0 {
		t.Errorf("after a rebuild: %q", got)
	}
}

// rebuild rebuilds the tree in s, as one transaction.
func rebuild(t *testing.T, s tree.Storage, f tree.Format) (r tree.Rebuilt) {
	t.Helper()
	write(t, &treetest.Trashing{Storage: s}, f, func(tr *tree.Tree) (err error) {
		r, err = tr.Rebuild(nil, nil)
		return err
	})
	return r
}

// A lost record of a tree with one, or no, entry.
func TestM13SmallTrees(t *testing.T) {
	f := tree.Format{K: 16, Q: 4, Mode: tree.Store}
	one := content{"apple": "red"} // levels 0 and 1
	tower := content{"a": "foo"}   // a boundary on levels 0 and 1: levels 0 to 3
	cases := []struct {
		c content
		damage
	}{
		{nil, damage{"empty tree: anchor deleted", remove(0, ""), "0 - missing"}},
		{nil, damage{"empty tree: anchor altered", alter(0, "", flipLast), "0 - wrong hash"}},
		{nil, damage{"empty tree: leaf added", leaf("apple", "red"), "1 - missing"}},
		{nil, damage{"empty tree: level 1", set(1, "", ""), "1 - stray"}},
		{one, damage{"one entry: leaf deleted", remove(0, "apple"), "1 - stray"}},
		{one, damage{"one entry: leaf cut", alter(0, "apple", cutTo(2)),
			"0 apple too short, 1 - wrong hash"}},
		{one, damage{"one entry: root deleted", remove(1, ""), "1 - missing"}},
		{tower, damage{"tower: leaf deleted", remove(0, "a"),
			"1 - stray, 1 a stray, 2 - stray, 2 a stray, 3 - stray"}},
		{tower, damage{"tower: level 1 deleted", func(m *treetest.Memory) {
			remove(1, "")(m)
			remove(1, "a")(m)
		}, "1 - missing, 1 a missing, 2 - stray, 2 a stray, 3 - stray"}},
		{nil, damage{"no record at all", func(m *treetest.Memory) {
			remove(0, "")(m)
			remove(0xff, "")(m)
		}, "header - missing, 0 - missing"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m, f := c.c.build(t, f)
			c.do(m)
			if got := strings.Join(problemsOf(t, m, f), ", "); got != c.want {
				t.Errorf("found: %s\nwant:  %s", got, c.want)
			}
			leaves := leavesIn(m, f)
			rebuild(t, m, f)
			check(t, m, f, leaves)
		})
	}
}

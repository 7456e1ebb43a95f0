package tree_test

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/okradb/okra-go/tree"
)

// collect returns a function that gives the keys of the nodes of a level within bounds.
func collect(
	nodes func(int, tree.Bounds) iter.Seq2[tree.Node, error],
) func(int, tree.Bounds) ([]string, error) {
	return func(level int, b tree.Bounds) (keys []string, err error) {
		for n, err := range nodes(level, b) {
			if err != nil {
				return nil, err
			}
			if n.Level != level {
				return nil, fmt.Errorf("node of level %d among those of level %d", n.Level, level)
			}
			keys = append(keys, string(n.Key))
		}
		return keys, nil
	}
}

// entryKeys returns the keys of a sequence.
func entryKeys(entries iter.Seq2[tree.Entry, error]) (keys []string, err error) {
	for e, err := range entries {
		if err != nil {
			return nil, err
		}
		keys = append(keys, string(e.Key))
	}
	return keys, nil
}

// limits are the values tried for each field of Bounds: none, empty, keys that are stored and
// that are not, the greatest key, and keys longer than any.
func limits() [][]byte {
	long := bytes.Repeat([]byte{0xff}, tree.MaxKey)
	return [][]byte{
		nil, {}, {0}, []byte("a"), []byte("ab\x00"), []byte("b"), long, append(long, 0xff, 0xff),
	}
}

// Every combination of limits admits what Contains says, in all four iterations.
func TestBoundsExhaustively(t *testing.T) {
	c := content{
		"\x00": "", "\x00\x00": "", "a": "", "a\x00": "", "ab": "", "ab\x00\x00": "", "b": "",
		"\xff": "", "\xff\xff": "", strings.Repeat("\xff", tree.MaxKey): "",
		strings.Repeat("\xff", tree.MaxKey-1): "",
	}
	m, f := c.build(t, tree.Format{Q: 2})
	tr := tree.New(m, f, nil)
	root := rootOf(t, m, f)
	levels := make([][]string, root.Level+2) // keys of each level and of one above the root
	for _, n := range nodesOf(t, m, f) {
		levels[n.Level] = append(levels[n.Level], string(n.Key))
	}
	if len(levels) < 4 {
		t.Fatalf("the tree has %d levels: too few to tell", len(levels)-1)
	}
	for _, ge := range limits() {
		for _, gt := range limits() {
			for _, le := range limits() {
				for _, lt := range limits() {
					b := tree.Bounds{GE: ge, GT: gt, LE: le, LT: lt}
					if err := checkBounds(tr, b, levels); err != nil {
						t.Fatalf("%s: %v", boundsText(b), err)
					}
				}
			}
		}
	}
}

func boundsText(b tree.Bounds) string {
	text := func(p []byte) string {
		if p == nil {
			return "nil"
		}
		return fmt.Sprintf("%.8q (%d bytes)", p, len(p))
	}
	return fmt.Sprintf("GE %s GT %s LE %s LT %s", text(b.GE), text(b.GT), text(b.LE), text(b.LT))
}

func checkBounds(tr *tree.Tree, b tree.Bounds, levels [][]string) error {
	for level, keys := range levels {
		var want []string
		for _, k := range keys {
			if b.Contains([]byte(k)) {
				want = append(want, k)
			}
		}
		if got, err := collect(tr.Nodes)(level, b); err != nil || !slices.Equal(got, want) {
			return fmt.Errorf("Nodes of level %d are %q, want %q (%v)", level, got, want, err)
		}
		back, err := collect(tr.NodesBackward)(level, b)
		slices.Reverse(back)
		if err != nil || !slices.Equal(back, want) {
			return fmt.Errorf("NodesBackward of level %d are %q, want %q (%v)", level, back, want, err)
		}
		if level > 0 {
			continue
		}
		want = slices.DeleteFunc(want, func(k string) bool { return k == "" })
		if got, err := entryKeys(tr.Range(b)); err != nil || !slices.Equal(got, want) {
			return fmt.Errorf("Range is %q, want %q (%v)", got, want, err)
		}
		back, err = entryKeys(tr.Backward(b))
		slices.Reverse(back)
		if err != nil || !slices.Equal(back, want) {
			return fmt.Errorf("Backward is %q, want %q (%v)", back, want, err)
		}
	}
	return nil
}

// PrefixBounds admits the keys with the prefix and no others, also at the end of all keys; it
// keeps nothing of its argument.
func TestPrefixBounds(t *testing.T) {
	keys := []string{"", "\x00", "a", "a\x00", "a\xff", "a\xff\xff", "a\xff\xff\x00", "b", "\xfe\xff",
		"\xff", "\xff\x00", "\xff\xff", "\xff\xff\xff", strings.Repeat("\xff", tree.MaxKey)}
	prefixes := append(slices.Clone(keys), "c", "\xfe", strings.Repeat("\xff", tree.MaxKey+1))
	for _, p := range prefixes {
		arg := []byte(p)
		b := tree.PrefixBounds(arg)
		for i := range arg {
			arg[i] = 'x'
		}
		for _, k := range keys {
			if got := b.Contains([]byte(k)); got != strings.HasPrefix(k, p) {
				t.Errorf("prefix %.8q: Contains(%.8q) is %t", p, k, got)
			}
		}
	}
	if b := tree.PrefixBounds(nil); !b.Contains(nil) || !b.Contains([]byte{0xff}) {
		t.Error("the nil prefix does not admit all keys")
	}
}

// Iterations of more records than one scan brings, with bounds in the middle, lose none.
func TestBoundsOfManyKeys(t *testing.T) {
	const n = 3000
	c := content{}
	for i := range n {
		c[string(u32(2*i))] = "v"
	}
	m, f := c.build(t, tree.Format{Q: 4})
	tr := tree.New(m, f, nil)
	for _, size := range []int{0, 1, 7, 8, 9, 39, 40, 41, 167, 168, 169, 680, 1000, n} {
		from := (n - size) / 2
		var want []string
		for i := from; i < from+size; i++ {
			want = append(want, string(u32(2*i)))
		}
		for _, b := range []tree.Bounds{
			{GE: u32(2 * from), LT: u32(2 * (from + size))},
			{GE: u32(max(0, 2*from-1)), LE: u32(2*(from+size) - 1)},
		} {
			got, err := entryKeys(tr.Range(b))
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("Range of %d gives %d (%v)", size, len(got), err)
			}
			got, err = entryKeys(tr.Backward(b))
			slices.Reverse(got)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("Backward of %d gives %d (%v)", size, len(got), err)
			}
		}
	}
}

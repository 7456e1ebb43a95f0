package tree_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/zeebo/blake3"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

// sumValue is the value of key in one of the rules of the format's table of roots.
func sumValue(key []byte) []byte {
	sum := blake3.Sum256(key)
	return sum[:16]
}

func ones([]byte) []byte { return []byte("\xff\xff\xff\xff") }

// The roots of the format's own table, made by the reference, and that of nothing.
func TestM14GoldenRoots(t *testing.T) {
	table := []struct {
		n     int
		q     uint32
		value func(key []byte) []byte
		root  string
	}{
		{0, 32, ones, "0 af1349b9f5f9a1a6a0404dea36dcc949"},
		{10, 4, ones, "4 29f0468d278dc7fc9813a8e4c3613b89"},
		{100, 4, ones, "4 b389c726f0afd280f986a11e7f4431c8"},
		{1000, 4, ones, "7 42f378b631fcf79634a119887352ef34"},
		{10000, 4, ones, "9 f3f553986a83194abca40f120bb7b293"},
		{100000, 4, ones, "8 f7fe5a93e1bf0a6a8e93b89cf1fb1e96"},
		{1, 32, sumValue, "1 9be0c3deb7e47d58eec4dbabc0a6f90e"},
		{10, 32, sumValue, "1 13bfc19267e982d4dad0a8ccd453ec58"},
		{100, 32, sumValue, "2 5b7ede3be6c1ad918c53470aa3418c93"},
		{1000, 32, sumValue, "3 4ec9a4327346b0329167851eaa53e040"},
		{10000, 32, sumValue, "3 0fdb2c77e2b5f688eea4d1cce93cb035"},
		{50000, 32, sumValue, "4 63e21981912512c6c3ca4e46adef846b"},
	}
	for _, c := range table {
		t.Run(fmt.Sprintf("%d entries, Q=%d", c.n, c.q), func(t *testing.T) {
			if testing.Short() && c.n > 10000 {
				t.Skip("more than 10,000 entries are left out with -short")
			}
			m, f := create(t, tree.Format{K: 16, Q: c.q})
			for _, part := range []int{c.n, c.n / 3} { // bulk, then overwritten in part
				write(t, m, f, func(tr *tree.Tree) error {
					for i := range part {
						if err := tr.Put(u32(i), c.value(u32(i))); err != nil {
							return err
						}
					}
					return nil
				})
				if got := rootOf(t, m, f).String(); got != c.root {
					t.Fatalf("root is %s, want %s", got, c.root)
				}
			}
		})
	}
}

// A hash exactly at the threshold, one below and one above it, for several Q, among them those
// that do not divide 2^32.
func TestM10Threshold(t *testing.T) {
	table := []struct {
		q     uint32
		limit uint32 // floor(2^32 / q), by hand
	}{
		{2, 2147483648}, {3, 1431655765}, {4, 1073741824}, {7, 613566756}, {32, 134217728},
		{1 << 31, 2}, {1<<31 + 1, 1}, {1<<32 - 1, 1},
	}
	for _, c := range table {
		for _, k := range []int{4, 16, 32} {
			hashes := map[string]uint32{
				"below": c.limit - 1, "at": c.limit, "over": c.limit + 1, "top": 1<<32 - 1,
			}
			m, f := create(t, tree.Format{K: k, Q: c.q, Mode: tree.Index})
			leaves := map[string]treetest.Leaf{}
			write(t, m, f, func(tr *tree.Tree) error {
				for key, first := range hashes {
					b := make([]byte, k)
					binary.BigEndian.PutUint32(b, first)
					h, err := tree.HashFrom(b)
					if err != nil {
						return err
					}
					leaves[key] = treetest.Leaf{Hash: h}
					if err := tr.PutHash([]byte(key), h); err != nil {
						return err
					}
				}
				return nil
			})
			check(t, m, f, leaves)
			var above []string
			for n, err := range tree.New(m, f, nil).Nodes(1, tree.Bounds{}) {
				if err != nil {
					t.Fatal(err)
				}
				above = append(above, string(n.Key))
			}
			if len(above) != 2 || above[0] != "" || above[1] != "below" {
				t.Errorf("%s: level 1 has the nodes %q, want the anchor and \"below\"", f, above)
			}
		}
	}
}

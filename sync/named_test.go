package sync_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/okradb/okra-go/okra"
	okrasync "github.com/okradb/okra-go/sync"
)

// A push of few entries to a peer that has many costs what the few take: neither the keys that
// only the peer has nor hashes of all its nodes are brought.
func TestPushOfFewToMany(t *testing.T) {
	n := 60_000
	all := numbered("k", n)
	sizes := []int{1, 10, 100, 1000}
	if testing.Short() {
		sizes = []int{10, 1000}
	}
	for _, have := range sizes {
		for _, same := range []bool{false, true} {
			few, many := open(t, 32), open(t, 32)
			write(t, many, all)
			ours := contents{}
			for i := range have {
				ours[fmt.Sprintf("k%06dx", i*n/have)] = "new"
			}
			ours["k000007"], ours["k000009"] = "ours", "ours"
			if same {
				for i := range have {
					k := fmt.Sprintf("k%06d", i*n/have+3)
					ours[k] = all[k]
				}
			}
			write(t, few, ours)
			want := maps.Clone(all)
			maps.Copy(want, ours)
			dry := ask(t, okrasync.Push, few, many, &okrasync.Options{DryRun: true, Resolve: okrasync.Mine}, nil)
			sum := ask(t, okrasync.Push, few, many, &okrasync.Options{Resolve: okrasync.Mine}, nil)
			made := okrasync.Changes{Added: int64(have), Changed: 2}
			if sum.There != made || dry.There != made || sum.Conflicts.Mine != 2 || !sum.Complete {
				t.Errorf("of %d entries, %v: %+v, dry run %+v", have, same, sum, dry)
			}
			if most := int64(2000 + 100*have); sum.BytesReceived > most || sum.BytesSent > most || sum.RoundTrips > 4 || sum.Passes > 1 {
				t.Errorf("of %d entries, %v: %+v", have, same, sum)
			}
			if !maps.Equal(read(t, many), want) {
				t.Errorf("of %d entries, %v: not their union", have, same)
			}
			// Merge needs the peer's values.
			write(t, many, all)
			merge := okrasync.Merge(func(_, mine, theirs []byte) ([]byte, error) { return append(mine, theirs...), nil })
			sum = ask(t, okrasync.Push, few, many, &okrasync.Options{Resolve: merge, Bounds: okra.Bounds{LT: []byte("k000009")}}, nil)
			if got := read(t, many)["k000007"]; got != "ours"+all["k000007"] || sum.Conflicts.Merged != 1 {
				t.Errorf("of %d entries, %v: merged to %q, %+v", have, same, got, sum)
			}
		}
	}
}

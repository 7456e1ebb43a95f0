package sync

import (
	"math/rand/v2"
	"testing"
)

// Tighten makes the bounds of a pass as tiny as random says until the test is over.
func Tighten(t testing.TB, random *rand.Rand) {
	was := bounds
	t.Cleanup(func() { bounds = was })
	some := func(least, more int) int { return least + random.IntN(more) }
	bounds.gaps = some(24, 300)
	bounds.keys = some(64, 2000)
	bounds.list = some(4, 60)
	bounds.scan = some(2, 100)
	bounds.span = some(4, 40)
	bounds.names = some(20, 500)
	bounds.decided = some(100, 1000)
	bounds.least = 0
	bounds.many = random.IntN(2)
	bounds.batchBytes = some(64, 1000)
	bounds.batchItems = some(1, 40)
}

// FewKeys has a pass end after so many bytes of keys that only one side has.
func FewKeys(t testing.TB, bytes int) {
	was := bounds
	t.Cleanup(func() { bounds = was })
	bounds.keys = bytes
}

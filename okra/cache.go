package okra

import (
	"sync"

	"github.com/okradb/okra-go/tree"
)

// defaultCacheSize is that of Options.CacheSize.
const defaultCacheSize = 32 << 20

// A cache lends the nodes that a DB remembers to one writing transaction at a time. LMDB allows
// but one, except that one of [DB.Join] may be handed from goroutine to goroutine.
type cache struct {
	nodes *tree.Cache
	lent  sync.Mutex
}

func (c *cache) open(size int) {
	if size == 0 {
		size = defaultCacheSize
	}
	if size > 0 {
		c.nodes = tree.NewCache(size)
	}
}

// take returns the nodes to a transaction that will give them back, or nil if another has them.
func (c *cache) take() *tree.Cache {
	if c.nodes == nil || !c.lent.TryLock() {
		return nil
	}
	return c.nodes
}

func (c *cache) giveBack(nodes *tree.Cache) {
	if nodes != nil {
		c.lent.Unlock()
	}
}

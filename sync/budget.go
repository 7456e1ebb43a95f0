package sync

import (
	"fmt"
	"time"

	"golang.org/x/time/rate"
)

// A Budget bounds the work that is done for one peer in all its sessions: how many nodes and
// leaves are read for it. It may be used by many goroutines.
type Budget struct{ nodes *rate.Limiter }

const defaultBudget = 64 << 20 // nodes a minute: a few seconds of one core

// NewBudget returns a Budget of so many nodes a minute, which may also be read at once. Zero
// means 64 million.
func NewBudget(nodesPerMinute int) *Budget {
	if nodesPerMinute <= 0 {
		nodesPerMinute = defaultBudget
	}
	return &Budget{rate.NewLimiter(rate.Limit(float64(nodesPerMinute)/60), nodesPerMinute)}
}

// take uses up n nodes, or returns ErrBusy. A nil Budget has no end.
func (b *Budget) take(n int) error {
	if b == nil || b.nodes.AllowN(time.Now(), n) {
		return nil
	}
	return fmt.Errorf("%w: it has read %d nodes for this peer within a minute: try again later", ErrBusy, b.nodes.Burst())
}

//go:build !unix

package replication

import "time"

// processorTime is not known here.
func processorTime() time.Duration { return 0 }

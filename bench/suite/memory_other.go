//go:build !linux

package suite

// peakMemory returns 0: this system does not tell.
func peakMemory() int64 { return 0 }

package dump

import (
	"os"
	"syscall"
)

// peakMemory returns the most memory that a process that has ended had resident, in bytes. That
// of the process which started it, of some 20 MiB, is the least that Linux says.
func peakMemory(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return int64(usage.Maxrss) << 10
}

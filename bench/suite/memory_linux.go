package suite

import (
	"bytes"
	"fmt"
	"os"
)

// peakMemory returns the most memory that this process had resident since its program began, in
// bytes, or 0 if the system does not tell. The resource usage of the process would not do: it
// counts the memory of the process that started it, too.
func peakMemory() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(status) {
		var kib int64
		if n, _ := fmt.Sscanf(string(line), "VmHWM: %d kB", &kib); n == 1 {
			return kib << 10
		}
	}
	return 0
}

package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// readAhead returns how many bytes the system reads at once where one byte of a file in dir is asked
// for and not in memory, or 0 if it does not tell, as where files are in memory only.
func readAhead(dir string) int64 {
	var stat unix.Stat_t
	if err := unix.Stat(dir, &stat); err != nil {
		return 0
	}
	device := fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(stat.Dev), unix.Minor(stat.Dev))
	for _, disk := range []string{device, device + "/.."} { // a partition has the setting of its disk
		text, err := os.ReadFile(disk + "/bdi/read_ahead_kb")
		if err != nil {
			continue
		}
		if kib, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 32); err == nil {
			return int64(kib) << 10
		}
	}
	return 0
}

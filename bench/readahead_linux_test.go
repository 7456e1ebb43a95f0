package bench

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Results say how much the disk of their stores reads ahead, where the system does.
func TestReadAhead(t *testing.T) {
	dir := t.TempDir()
	var stat unix.Stat_t
	if err := unix.Stat(dir, &stat); err != nil {
		t.Fatal(err)
	}
	setting := fmt.Sprintf("/sys/class/bdi/%d:%d/read_ahead_kb", unix.Major(stat.Dev), unix.Minor(stat.Dev))
	text, err := os.ReadFile(setting)
	if err != nil || strings.TrimSpace(string(text)) == "0" {
		t.Skipf("%s: %q, %v", setting, text, err)
	}
	m := DescribeMachine(dir)
	if got := fmt.Sprint(m.ReadAhead >> 10); got != strings.TrimSpace(string(text)) {
		t.Errorf("%s KiB, want %s", got, text)
	}
	m.ReadAhead = 8 << 20
	for _, field := range m.Fields() {
		if field[0] == "Read ahead" && strings.HasPrefix(field[1], "8.0 MiB") {
			return
		}
	}
	t.Errorf("not said: %v", m.Fields())
}

package dump

import (
	"fmt"
	"os/exec"
	"strings"

	"github.com/okradb/okra-go/bench/suite"
)

// tool is one of LMDB's programs.
type tool struct {
	name string
	find func(name string) (path string, err error)
}

// absent returns why t cannot be run, or "".
func (t tool) absent() string {
	if _, err := t.find(t.name); err != nil {
		return "not installed (Debian: apt-get install lmdb-utils)"
	}
	return ""
}

// run runs t and sets the memory that it took.
func (t tool) run(m *suite.Measurement, args ...string) error {
	path, err := t.find(t.name)
	if err != nil {
		return err
	}
	cmd := exec.Command(path, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", t.name, err, strings.TrimSpace(string(out)))
	}
	m.PeakMemory = peakMemory(cmd.ProcessState)
	return nil
}

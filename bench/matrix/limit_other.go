//go:build !linux

package matrix

import (
	"errors"
	"os/exec"
)

// ErrNoLimit is the error where the memory of a process cannot be limited.
var ErrNoLimit = errors.New("memory cannot be limited: only Linux has cgroups")

func limitable(string) error { return ErrNoLimit }

func limitMemory(int64) func(*exec.Cmd) (done func(), err error) {
	return func(*exec.Cmd) (func(), error) { return nil, ErrNoLimit }
}

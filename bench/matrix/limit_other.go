//go:build !linux

package matrix

import "fmt"

func limitable(string) error {
	return fmt.Errorf("%w: it is set by cgroups, which Linux has", ErrNoLimit)
}

func limitMemory(int64) func(pid int) (done func(), err error) {
	return func(int) (func(), error) { return nil, limitable("") }
}

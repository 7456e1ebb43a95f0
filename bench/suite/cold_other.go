//go:build !linux

package suite

import "fmt"

// Cold returns why files in dir cannot be read cold, from the disk.
func Cold(dir string) error {
	return fmt.Errorf("%s: %w: this system does not let a file be dropped from memory", dir, ErrNotCold)
}

// DropCache returns the error of [Cold].
func DropCache(path string) error { return Cold(path) }

//go:build !(linux || darwin) || okra_portable

package lmdbenv

// bulk does not exist on this platform or in this build.
type bulk struct{ *portable }

func newBulk(*portable, func() (uintptr, bool)) *bulk { return nil }

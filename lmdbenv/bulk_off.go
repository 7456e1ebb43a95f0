//go:build !(linux || darwin) || okra_portable

package lmdbenv

// bulk does not exist on this platform or in this build.
type bulk struct{ *portable }

type answers struct{}

func (*bulk) orderByWords() error { return nil }

func newBulk(*portable, *answers, func() (uintptr, bool)) *bulk { return nil }

//go:build !linux

package lmdbenv

func reserveMap(int64) error { return nil }

func (e *Env) reserveLock(Options) error { return nil }

func diskFull(string) bool { return false }

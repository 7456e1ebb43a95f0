package lmdbenv

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// growPatience is how long growing the map waits for the transactions of this process to end.
const growPatience = 10 * time.Second

// resizeMost bounds how often one call adopts a size that other processes set, or grows.
const resizeMost = 64

// mapMost is the largest map that is tried: half of the address space that a process has.
const mapMost = 1 << (30 + 16*(strconv.IntSize/64))

// grow makes the map twice as large as the size that is in force in the file now, so that it
// never shrinks, whatever other processes have done. Its error is ErrMapFull with the size, the
// bound and the next step.
func (e *Env) grow() error {
	if e.attached {
		return fmt.Errorf("%w: the environment is its owner's, who must call SetMapSize", ErrMapFull)
	}
	var size int64
	err := e.gate.alone(e.patience, func() error {
		if err := e.env.SetMapSize(0); err != nil { // what the file says
			return err
		}
		info, err := e.env.Info()
		if err != nil {
			return err
		}
		size = info.MapSize
		if size >= e.maxSize {
			return fmt.Errorf("%w: it has %s and may not be larger", ErrMapFull, bytesOf(size))
		}
		return e.env.SetMapSize(min(2*size, e.maxSize))
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: transactions of this process did not end within %s, so that it "+
			"could grow: keep them short", ErrMapFull, e.patience)
	case errors.Is(err, ErrMapFull):
		return fmt.Errorf("%w: raise MaxSize (--map-size), or delete entries", err)
	default:
		return fmt.Errorf("%w at %s: grow it: %w", ErrMapFull, bytesOf(size), err)
	}
}

// adopt takes over the map size that another process gave the file.
func (e *Env) adopt() error {
	if e.attached {
		return fmt.Errorf("%w: the environment is its owner's, who must call SetMapSize(0)",
			ErrMapResized)
	}
	err := e.gate.alone(e.patience, func() error { return e.env.SetMapSize(0) })
	if err != nil {
		return fmt.Errorf("%w: take over its size: %w", ErrMapResized, err)
	}
	return nil
}

// bytesOf formats a size as "64 MiB".
func bytesOf(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

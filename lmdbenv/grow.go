package lmdbenv

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/PowerDNS/lmdb-go/lmdb"
)

// growPatience is how long growing the map waits for the transactions of this process to end.
const growPatience = 10 * time.Second

// resizeMost bounds how often one call adopts a size that other processes set, or grows.
const resizeMost = 64

// mapMost is the largest map that is tried: half of the address space that a process has.
const mapMost = 1 << (30 + 16*(strconv.IntSize/64))

// grow makes the map twice as large as the size that is in force here or in the file now, so
// that it never shrinks, whatever other processes have done. Its error is ErrMapFull with the
// size, the bound and the next step.
func (e *Env) grow() error {
	if e.attached {
		return fmt.Errorf("%w: the environment is its owner's, who must call SetMapSize", ErrMapFull)
	}
	err := e.gate.alone(e.patience, func() error {
		info, err := e.env.Info()
		if err != nil {
			return err
		}
		m, err := metaOf(e.DataFile())
		if err != nil {
			return err
		}
		size := max(info.MapSize, m.mapSize)
		if size >= e.maxSize {
			return fmt.Errorf("%w: it may not be larger than %s: raise MaxSize (--map-size); "+
				"deleting needs free pages too", ErrMapFull, bytesOf(e.maxSize))
		}
		return e.remap(min(2*size, e.maxSize))
	})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %s", ErrMapFull, e.waited("grow"))
	case err != nil && !errors.Is(err, ErrMapFull):
		return fmt.Errorf("%w: grow it: %w", ErrMapFull, err)
	}
	return err
}

// adopt takes over the map size that another process gave the file, or as much of it as there
// is address space for and the data need.
func (e *Env) adopt() error {
	if e.attached {
		return fmt.Errorf("%w: the environment is its owner's, who must call SetMapSize(0)",
			ErrMapResized)
	}
	err := e.gate.alone(e.patience, func() error {
		m, err := metaOf(e.DataFile())
		if err != nil {
			return err
		}
		need := (m.last + 1) * m.page
		for size := max(m.mapSize, need); ; size /= 2 {
			err := e.remap(max(size, need))
			if size <= need || !isNoMemory(err) {
				return err
			}
		}
	})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %s", ErrMapResized, e.waited("be mapped anew"))
	case err != nil:
		return fmt.Errorf("%w: take over its size: %w", ErrMapResized, err)
	}
	return nil
}

// waited says why the map could not change.
func (e *Env) waited(to string) string {
	return fmt.Sprintf("transactions of this process did not end within %s, so that it could %s: "+
		"keep them short", e.patience, to)
}

// remap maps size bytes in place of what is mapped. LMDB gives up the old map first, and could
// do nothing any more if the new one failed: so it must fit beside the old one, and if it fails
// all the same the old size is mapped again, or the environment taken out of use.
func (e *Env) remap(size int64) error {
	if err := reserveMap(size); err != nil {
		return classify(fmt.Sprintf("map %s", bytesOf(size)), err)
	}
	info, err := e.env.Info()
	if err != nil {
		return err
	}
	if err = e.env.SetMapSize(size); err != nil {
		if back := e.env.SetMapSize(info.MapSize); back != nil {
			e.gate.close()
		}
	}
	return classify(fmt.Sprintf("map %s", bytesOf(size)), err)
}

// resizing runs fn, which begins a transaction of LMDB's own, as a transaction of e. When
// another process has grown the file it takes over its size and runs fn again.
func (e *Env) resizing(fn func() error) error {
	for tries := 0; ; tries++ {
		if err := e.gate.enter(); err != nil {
			return err
		}
		err := fn()
		e.gate.leave()
		if !lmdb.IsMapResized(err) || tries >= resizeMost {
			return err
		}
		if err := e.adopt(); err != nil {
			return err
		}
	}
}

// bytesOf formats a size as "64 MiB".
func bytesOf(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

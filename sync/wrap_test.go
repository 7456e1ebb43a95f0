package sync_test

import (
	"net"
	"sync/atomic"
	"time"
)

// wrapped is a conn with something between.
type wrapped struct {
	net.Conn
	before func()        // each read and write
	read   func([]byte)  // what was read
	write  func([]byte)  // what is to be written
	left   *atomic.Int64 // bytes until the conn is cut; nil means that it never is
	delay  time.Duration // of each write
}

func (c *wrapped) pass(n int) int {
	if c.before != nil {
		c.before()
	}
	if c.left == nil {
		return n
	}
	if left := c.left.Add(-int64(n)); left < 0 {
		n = max(0, n+int(left))
	}
	return n
}

func (c *wrapped) Read(b []byte) (int, error) {
	if c.left != nil && c.left.Load() <= 0 {
		c.Conn.Close()
	}
	if c.before != nil {
		c.before()
	}
	if c.left != nil {
		b = b[:max(1, min(int64(len(b)), c.left.Load()))]
	}
	n, err := c.Conn.Read(b)
	if c.left != nil {
		c.left.Add(-int64(n))
	}
	if c.read != nil {
		c.read(b[:n])
	}
	return n, err
}

func (c *wrapped) Write(b []byte) (int, error) {
	if c.write != nil {
		c.write(b)
	}
	time.Sleep(c.delay)
	n := c.pass(len(b))
	if n == len(b) {
		return c.Conn.Write(b)
	}
	if n > 0 {
		if m, err := c.Conn.Write(b[:n]); err != nil {
			return m, err
		}
	}
	c.Conn.Close()
	return n, net.ErrClosed
}

package sync

// arena is memory for many copies of bytes.
type arena struct{ buf []byte }

// keep copies p. Where there is no room it takes new memory of least bytes or more; what was kept
// before stays where it is.
func (a *arena) keep(p []byte, least int) []byte {
	if len(a.buf)+len(p) > cap(a.buf) {
		a.buf = make([]byte, 0, max(least, len(p)))
	}
	n := len(a.buf)
	a.buf = append(a.buf, p...)
	return a.buf[n:len(a.buf):len(a.buf)]
}

// reset ends the use of all copies, and gives back memory of more than most bytes, which a large
// value needed.
func (a *arena) reset(most int) {
	a.buf = a.buf[:0]
	if cap(a.buf) > most {
		a.buf = nil
	}
}

package tree

// Small flushes are hashed by two goroutines in the tests, as only large ones are otherwise.
func init() { aloneMost = 32 << 10 }

// SmallBuffers returns Buffers whose jobs hold n bytes of child hashes, so that nodes of a few
// children are as wide as nodes of thousands are otherwise.
func SmallBuffers(n int) *Buffers {
	b := &Buffers{}
	for i := range b.jobs {
		b.jobs[i].got.Hashes = make([]byte, 0, n)
	}
	return b
}

// Settle applies the writes that wait to level 0, as a scan does before it begins.
func (t *Tree) Settle() error { return t.settle() }

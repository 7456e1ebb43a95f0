package okra

import "github.com/okradb/okra-go/tree"

// buffers keeps the memory of writing trees for the next ones, at most some 5 MiB each after a
// large transaction. A sync.Pool would lose it with every collection of garbage, and new memory for
// each transaction makes collections frequent: small loads then took twice as long.
var buffers = make(chan *tree.Buffers, 2)

// takeBuffers returns memory for a writing tree, to be given back by keepBuffers.
func takeBuffers() *tree.Buffers {
	select {
	case b := <-buffers:
		return b
	default:
		return &tree.Buffers{}
	}
}

func keepBuffers(b *tree.Buffers) {
	b.Release()
	select {
	case buffers <- b:
	default: // there are enough
	}
}

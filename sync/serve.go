package sync

import (
	"context"

	"github.com/okradb/okra-go/okra"
)

// Serve answers one peer over conn until that closes it, and returns what the peer had changed
// in db. It is no error if the peer closes it where it may speak, between sessions or while trees
// are compared. Everything a peer may cost has a limit; what breaks the protocol ends the session
// with an error that the peer is told, too.
func Serve(ctx context.Context, conn Conn, db *okra.DB, opts *ServeOptions) (Summary, error) {
	return serve(ctx, conn, db, opts)
}

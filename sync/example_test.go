package sync_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"

	"github.com/okradb/okra-go/okra"
	okrasync "github.com/okradb/okra-go/sync"
)

// Two replicas in one process. Between processes a net.Conn, or what package peer dials, takes the
// place of the pipe.
func Example() {
	dir, err := os.MkdirTemp("", "okra")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	open := func(name string, keys ...string) *okra.DB {
		db, err := okra.Open(filepath.Join(dir, name), nil)
		if err != nil {
			log.Fatal(err)
		}
		err = db.Update(func(tx *okra.Tx) error {
			for _, key := range keys {
				if err := tx.Put([]byte(key), []byte("from "+name)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			log.Fatal(err)
		}
		return db
	}
	ours, theirs := open("ours", "apple"), open("theirs", "plum", "quince")
	defer ours.Close()
	defer theirs.Close()

	ctx := context.Background()
	conn, far := net.Pipe()
	go okrasync.Serve(ctx, far, theirs, &okrasync.ServeOptions{Write: true})

	summary, err := okrasync.Sync(ctx, conn, ours, &okrasync.Options{Resolve: okrasync.Larger})
	if err != nil {
		log.Fatal(err)
	}
	conn.Close()
	fmt.Println("added here", summary.Here.Added, "and there", summary.There.Added)
	fmt.Println("equal:", summary.Equal, summary.After)
	// Output:
	// added here 2 and there 1
	// equal: true 1 98fcb3d7370e38170c4fe5d66673dc42
}

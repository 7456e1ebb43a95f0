//go:build okra_trash

package okra_test

import (
	"strings"
	"testing"

	"github.com/okradb/okra-go/okra"
)

// A writing Tx that is handed to another goroutine is refused there; one that only reads is not.
func TestL12TxInAnotherGoroutine(t *testing.T) {
	db := newStore(t, okra.Options{})
	updateOK(t, db, put("a", "1"))
	elsewhere := func(tx *okra.Tx) error {
		done := make(chan error)
		go func() {
			_, err := tx.Get([]byte("a"))
			done <- err
		}()
		return <-done
	}
	updateOK(t, db, func(tx *okra.Tx) error {
		if err := elsewhere(tx); err == nil || !strings.Contains(err.Error(), "outside its goroutine") {
			t.Errorf("Get in another goroutine gives %v", err)
		}
		return nil
	})
	viewOK(t, db, elsewhere)
}

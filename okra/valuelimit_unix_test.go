//go:build linux || darwin

package okra_test

import (
	"syscall"
	"testing"

	"github.com/okradb/okra-go/okra"
)

// A value longer than a record can be is refused before anybody touches it, and the
// transaction goes on.
func TestL31ValueTooLong(t *testing.T) {
	if ^uint(0)>>32 == 0 {
		t.Skip("there are no such slices on 32 bits")
	}
	size := int(uint64(1)<<32 - 1)
	value, err := syscall.Mmap(-1, 0, size, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skipf("no address space: %v", err)
	}
	defer func() {
		if err := syscall.Munmap(value); err != nil {
			t.Error(err)
		}
	}()
	db := newStore(t, okra.Options{})
	updateOK(t, db, func(tx *okra.Tx) error {
		wantIs(t, "Put", tx.Put([]byte("k"), value), okra.ErrValueTooLong)
		_, err := tx.Load(one([]byte("k"), value))
		wantIs(t, "Load", err, okra.ErrValueTooLong)
		return put("a", "1")(tx)
	})
	viewOK(t, db, wantContent("a", "1"))
}

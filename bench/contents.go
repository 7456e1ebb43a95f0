package bench

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/zeebo/blake3"

	"github.com/okradb/okra-go/okra"
)

// Contents is what a store holds. Two stores with equal Contents hold the same entries.
type Contents struct {
	Entries int64  `json:"entries"`
	Bytes   int64  `json:"bytes"` // of all keys and values
	Sum     string `json:"sum"`   // BLAKE3 of all keys and values in key order, in hex
}

// ContentsOf returns the contents of a store whose entries each gives to its argument in key
// order.
func ContentsOf(each func(add func(key, value []byte)) error) (Contents, error) {
	var c Contents
	hasher := blake3.New()
	var lengths [8]byte
	err := each(func(key, value []byte) {
		binary.BigEndian.PutUint32(lengths[:4], uint32(len(key)))
		binary.BigEndian.PutUint32(lengths[4:], uint32(len(value)))
		// Writing to a hasher cannot fail.
		_, _ = hasher.Write(lengths[:])
		_, _ = hasher.Write(key)
		_, _ = hasher.Write(value)
		c.Entries++
		c.Bytes += int64(len(key) + len(value))
	})
	if err != nil {
		return Contents{}, fmt.Errorf("read all entries: %w", err)
	}
	c.Sum = hex.EncodeToString(hasher.Sum(nil))
	return c, nil
}

// CheckOkra opens the okra store in the folder dir for reading, verifies its whole index, and
// returns its contents. An index that is wrong is an error.
func CheckOkra(dir string) (Contents, error) {
	db, err := okra.Open(dir, &okra.Options{ReadOnly: true})
	if err != nil {
		return Contents{}, err
	}
	var c Contents
	err = db.View(func(tx *okra.Tx) error {
		for problem, err := range tx.Verify() {
			if err != nil {
				return err
			}
			return fmt.Errorf("%s: the index is wrong: %v", dir, problem)
		}
		return nil
	})
	if err == nil {
		c, err = ContentsOf(okraStore{db}.each)
	}
	return c, errors.Join(err, db.Close())
}

// CheckPlain opens the LMDB environment in the folder dir for reading and returns the contents of
// its unnamed table.
func CheckPlain(dir string) (Contents, error) {
	p, err := OpenPlain(dir, StoreOptions{ReadOnly: true})
	if err != nil {
		return Contents{}, err
	}
	c, err := ContentsOf(p.each)
	return c, errors.Join(err, p.Close())
}

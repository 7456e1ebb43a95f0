package okra_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"slices"

	"github.com/PowerDNS/lmdb-go/lmdb"
	"github.com/okradb/okra-go/okra"
)

// exampleDir makes a folder for the store of an example. The caller removes it.
func exampleDir() string {
	dir, err := os.MkdirTemp("", "okra-example")
	exitOn(err)
	return dir
}

// exitOn ends the program on an error, as a short main would.
func exitOn(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func Example() {
	dir := exampleDir()
	defer os.RemoveAll(dir)

	db, err := okra.Open(dir, nil)
	exitOn(err)
	defer db.Close()

	err = db.Update(func(tx *okra.Tx) error {
		if err := tx.Put([]byte("apple"), []byte("red")); err != nil {
			return err
		}
		return tx.Put([]byte("banana"), []byte("yellow"))
	})
	exitOn(err)

	err = db.View(func(tx *okra.Tx) error {
		value, err := tx.Get([]byte("apple"))
		if err != nil {
			return err
		}
		root, err := tx.Root()
		if err != nil {
			return err
		}
		fmt.Printf("apple is %s, root %s\n", value, root)
		return nil
	})
	exitOn(err)
	// Output: apple is red, root 1 3b0d814f3338c509826714f8292d9ae0
}

// A missing key is an error that Get returns; a key with an empty value is not missing.
func ExampleTx_Get() {
	dir := exampleDir()
	defer os.RemoveAll(dir)
	db, err := okra.Open(dir, nil)
	exitOn(err)
	defer db.Close()

	err = db.Update(func(tx *okra.Tx) error {
		return tx.Put([]byte("empty"), nil)
	})
	exitOn(err)
	err = db.View(func(tx *okra.Tx) error {
		value, err := tx.Get([]byte("empty"))
		fmt.Printf("%q %v\n", value, err)
		_, err = tx.Get([]byte("absent"))
		fmt.Println(errors.Is(err, okra.ErrNotFound))
		return nil
	})
	exitOn(err)
	// Output:
	// "" <nil>
	// true
}

// An error returned from the function leaves the store as it was.
func ExampleDB_Update() {
	dir := exampleDir()
	defer os.RemoveAll(dir)
	db, err := okra.Open(dir, nil)
	exitOn(err)
	defer db.Close()

	errRefused := errors.New("refused")
	err = db.Update(func(tx *okra.Tx) error {
		if err := tx.Put([]byte("k"), []byte("v")); err != nil {
			return err
		}
		return errRefused
	})
	fmt.Println(errors.Is(err, errRefused))
	err = db.View(func(tx *okra.Tx) error {
		n, err := tx.Len()
		fmt.Println(n, "entries")
		return err
	})
	exitOn(err)
	// Output:
	// true
	// 0 entries
}

// putAll puts key and value pairs in the order given.
func putAll(db *okra.DB, pairs ...string) error {
	return db.Update(func(tx *okra.Tx) error {
		for pair := range slices.Chunk(pairs, 2) {
			if err := tx.Put([]byte(pair[0]), []byte(pair[1])); err != nil {
				return err
			}
		}
		return nil
	})
}

func ExampleTx_Prefix() {
	dir := exampleDir()
	defer os.RemoveAll(dir)
	db, err := okra.Open(dir, nil)
	exitOn(err)
	defer db.Close()
	err = putAll(db, "user/ann", "1", "user/bob", "2", "zone/eu", "3", "group/all", "4")
	exitOn(err)

	err = db.View(func(tx *okra.Tx) error {
		for entry, err := range tx.Prefix([]byte("user/")) {
			if err != nil {
				return err
			}
			fmt.Printf("%s = %s\n", entry.Key, entry.Value)
		}
		return nil
	})
	exitOn(err)
	// Output:
	// user/ann = 1
	// user/bob = 2
}

func ExampleTx_Range() {
	dir := exampleDir()
	defer os.RemoveAll(dir)
	db, err := okra.Open(dir, nil)
	exitOn(err)
	defer db.Close()
	exitOn(putAll(db, "a", "1", "b", "2", "c", "3", "d", "4"))

	bounds := okra.Bounds{GT: []byte("a"), LE: []byte("c")}
	err = db.View(func(tx *okra.Tx) error {
		for entry, err := range tx.Range(bounds) {
			if err != nil {
				return err
			}
			fmt.Printf("%s ", entry.Key)
		}
		for entry, err := range tx.Backward(bounds) {
			if err != nil {
				return err
			}
			fmt.Printf("%s ", entry.Key)
		}
		fmt.Println()
		return nil
	})
	exitOn(err)
	// Output: b c c b
}

// Equal contents have equal roots, whatever was written before and in what order.
func ExampleTx_Root() {
	rootOf := func(db *okra.DB) (root okra.Root) {
		exitOn(db.View(func(tx *okra.Tx) (err error) {
			root, err = tx.Root()
			return err
		}))
		return root
	}
	left, right := exampleDir(), exampleDir()
	defer os.RemoveAll(left)
	defer os.RemoveAll(right)
	a, err := okra.Open(left, nil)
	exitOn(err)
	defer a.Close()
	b, err := okra.Open(right, nil)
	exitOn(err)
	defer b.Close()

	exitOn(putAll(a, "x", "1", "y", "2", "z", "3"))
	exitOn(putAll(b, "z", "3", "y", "?", "x", "1"))
	fmt.Println(rootOf(a) == rootOf(b))
	exitOn(putAll(b, "y", "2"))
	fmt.Println(rootOf(a) == rootOf(b))
	// Output:
	// false
	// true
}

// The nodes of a level, from the root down, are how two trees are compared.
func ExampleTx_Children() {
	dir := exampleDir()
	defer os.RemoveAll(dir)
	db, err := okra.Open(dir, &okra.Options{Q: 4})
	exitOn(err)
	defer db.Close()
	exitOn(putAll(db, "apple", "red", "banana", "yellow", "cherry", "red",
		"grape", "green", "lemon", "yellow", "plum", "blue"))

	err = db.View(func(tx *okra.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		for node, err := range tx.Children(root.Level, nil) {
			if err != nil {
				return err
			}
			fmt.Printf("level %d %q %s\n", node.Level, node.Key, node.Hash)
		}
		return nil
	})
	exitOn(err)
	// Output:
	// level 1 "" 3b0d814f3338c509826714f8292d9ae0
	// level 1 "cherry" ccbeed45f261f7931d95c462d378d503
	// level 1 "plum" e2c935c798fa02fc970acbe7bd706639
}

// A tree in index mode keeps the hashes of data that is stored elsewhere.
func ExampleTx_PutHash() {
	dir := exampleDir()
	defer os.RemoveAll(dir)
	db, err := okra.Open(dir, &okra.Options{Mode: okra.Index})
	exitOn(err)
	defer db.Close()

	hash, err := okra.ParseHash("00112233445566778899aabbccddeeff")
	exitOn(err)
	err = db.Update(func(tx *okra.Tx) error {
		return tx.PutHash([]byte("photo.jpg"), hash)
	})
	exitOn(err)
	err = db.View(func(tx *okra.Tx) error {
		for entry, err := range tx.All() {
			if err != nil {
				return err
			}
			fmt.Printf("%s %s\n", entry.Key, entry.Hash())
		}
		_, err := tx.Get([]byte("photo.jpg"))
		fmt.Println(errors.Is(err, okra.ErrNoValues))
		return nil
	})
	exitOn(err)
	// Output:
	// photo.jpg 00112233445566778899aabbccddeeff
	// true
}

// Several trees live in named tables of one environment and change in one transaction.
func ExampleTx_Table() {
	dir := exampleDir()
	defer os.RemoveAll(dir)
	db, err := okra.Open(dir, &okra.Options{Table: "users"})
	exitOn(err)
	defer db.Close()
	emails, err := db.Table("emails", okra.Format{})
	exitOn(err)

	err = db.Update(func(tx *okra.Tx) error {
		if err := tx.Put([]byte("ann"), []byte("ann@example.org")); err != nil {
			return err
		}
		return tx.Table(emails).Put([]byte("ann@example.org"), []byte("ann"))
	})
	exitOn(err)
	err = db.View(func(tx *okra.Tx) error {
		name, err := tx.Table(emails).Get([]byte("ann@example.org"))
		if err != nil {
			return err
		}
		mail, err := tx.Get(name)
		fmt.Printf("%s %s\n", name, mail)
		return err
	})
	exitOn(err)
	// Output: ann ann@example.org
}

// A program with its own LMDB environment keeps its tables and a tree in one transaction.
func ExampleDB_Join() {
	dir := exampleDir()
	defer os.RemoveAll(dir)
	env, err := lmdb.NewEnv()
	exitOn(err)
	defer env.Close()
	exitOn(env.SetMaxDBs(4))
	exitOn(env.SetMapSize(64 << 20))
	exitOn(env.Open(dir, 0, 0o644))

	db, err := okra.Attach(env, &okra.Options{Table: "okra"})
	exitOn(err)
	defer db.Close()

	var own lmdb.DBI
	err = env.Update(func(txn *lmdb.Txn) (err error) {
		own, err = txn.OpenDBI("own", lmdb.Create)
		return err
	})
	exitOn(err)
	err = env.Update(func(txn *lmdb.Txn) error {
		if err := txn.Put(own, []byte("counter"), []byte("1"), 0); err != nil {
			return err
		}
		return db.Join(txn, func(tx *okra.Tx) error {
			return tx.Put([]byte("counter"), []byte("1"))
		})
	})
	exitOn(err)

	err = env.View(func(txn *lmdb.Txn) error {
		return db.Join(txn, func(tx *okra.Tx) error {
			value, err := tx.Get([]byte("counter"))
			fmt.Printf("counter %s\n", value)
			return err
		})
	})
	exitOn(err)
	// Output: counter 1
}

// Load fills an empty tree, fastest from entries in key order.
func ExampleTx_Load() {
	dir := exampleDir()
	defer os.RemoveAll(dir)
	db, err := okra.Open(dir, nil)
	exitOn(err)
	defer db.Close()

	entries := func(yield func(okra.Entry, error) bool) {
		for i := range 1000 {
			key := fmt.Appendf(nil, "key %03d", i)
			if !yield(okra.Entry{Key: key, Value: []byte("v")}, nil) {
				return
			}
		}
	}
	err = db.Update(func(tx *okra.Tx) error {
		n, err := tx.Load(entries)
		fmt.Println(n, "entries loaded")
		return err
	})
	exitOn(err)
	// Output: 1000 entries loaded
}

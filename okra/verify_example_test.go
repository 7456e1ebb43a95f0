package okra_test

import (
	"fmt"
	"log"
	"os"

	"github.com/okradb/okra-go/okra"
)

// Check a store: a sound one has no problems.
func ExampleTx_Verify() {
	dir, err := os.MkdirTemp("", "okra")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := okra.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	err = db.Update(func(tx *okra.Tx) error { return tx.Put([]byte("apple"), []byte("red")) })
	if err != nil {
		log.Fatal(err)
	}
	err = db.View(func(tx *okra.Tx) error {
		problems := 0
		for p, err := range tx.Verify() {
			if err != nil {
				return err
			}
			problems++
			fmt.Println(p)
		}
		fmt.Println(problems, "problems")
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: 0 problems
}

// Mend a tree, unless there is reason to doubt its entries.
func ExampleTx_Rebuild() {
	dir, err := os.MkdirTemp("", "okra")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := okra.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	err = db.Update(func(tx *okra.Tx) error {
		r, err := tx.Rebuild(nil, nil)
		if err != nil {
			return err
		}
		if !r.Trusted() {
			return fmt.Errorf("%d leaves did not fit, %d were dropped", r.Wrong, r.Dropped)
		}
		fmt.Println(r.Entries, "entries, root", r.After)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: 0 entries, root 0 af1349b9f5f9a1a6a0404dea36dcc949
}

// See how wide the nodes of a tree are, and whether somebody made one wider than chance does.
func ExampleTx_Shape() {
	dir, err := os.MkdirTemp("", "okra")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := okra.Open(dir, &okra.Options{Q: 4})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	err = db.Update(func(tx *okra.Tx) error {
		for i := range 100 {
			if err := tx.Put(fmt.Append(nil, i), nil); err != nil {
				return err
			}
		}
		shape, err := tx.Shape()
		if err != nil {
			return err
		}
		l := shape.Levels[1]
		fmt.Printf("level 1: %d nodes, %.1f children, at most %d\n", l.Nodes, l.Mean, l.Max)
		fmt.Println("warnings:", shape.Warnings())
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// level 1: 27 nodes, 3.7 children, at most 12
	// warnings: []
}

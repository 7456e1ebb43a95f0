package dump_test

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/okradb/okra-go/okra/dump"
	"github.com/okradb/okra-go/tree"
)

// The entries come from okra's Tx.All, which yields them in order, or from anywhere else.
func ExampleWriter() {
	format := tree.Format{K: 16, Q: 32, Mode: tree.Store}
	w, err := dump.NewWriter(os.Stdout, dump.JSONLines, dump.Header{Format: format})
	if err != nil {
		log.Fatal(err)
	}
	for _, key := range []string{"apple", "plum"} {
		if err := w.Write(dump.Entry{Key: []byte(key), Value: []byte("red")}); err != nil {
			log.Fatal(err)
		}
	}
	end, err := w.Close()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(end)
	// Output:
	// {"okra":"dump","version":1,"k":16,"q":32,"mode":"store"}
	// {"key":"apple","key_encoding":"utf-8","value":"red","value_encoding":"utf-8"}
	// {"key":"plum","key_encoding":"utf-8","value":"red","value_encoding":"utf-8"}
	// {"entries":2,"root":{"level":1,"hash":"6dfec18877e72e2ff553d6c7831d2ab3"}}
	// 2 entries, root 1 6dfec18877e72e2ff553d6c7831d2ab3
}

// A dump that was cut is whole up to where it was cut: only after the loop is it known.
func ExampleReader() {
	var file bytes.Buffer
	format := tree.Format{K: 16, Q: 32, Mode: tree.Store}
	w, err := dump.NewWriter(&file, dump.Binary, dump.Header{Format: format})
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Write(dump.Entry{Key: []byte("apple"), Value: []byte("red")}); err != nil {
		log.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		log.Fatal(err)
	}

	file.Truncate(file.Len() - 1)
	r, err := dump.NewReader(&file, dump.Auto)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Kind(), r.Header().Format)
	for e, err := range r.Entries() {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Printf("%s = %s\n", e.Key, e.Value)
	}
	// Output:
	// binary K=16 Q=32 mode=store
	// apple = red
	// entry 2: dump is cut short: it ends before its end
}

func ExampleReadOps() {
	in := `{"op":"put","key":"apple","value":"green"}
{"op":"delete","key":"plum"}
{"op":"put","key":"pear"}
`
	for op, err := range dump.ReadOps(strings.NewReader(in)) {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Printf("delete is %t: %s=%s\n", op.Delete, op.Key, op.Value)
	}
	// Output:
	// delete is false: apple=green
	// delete is true: plum=
	// line 3: malformed data: neither a value nor a hash
}

package sync

import (
	"context"
	"encoding/hex"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/okradb/okra-go/okra"
)

// recorder notes what is written, in turns of one side.
type recorder struct {
	net.Conn
	name  string
	turns *[]turn // the sides take turns, so they may share it
}

type turn struct {
	name string
	sent []byte
}

func (r recorder) Write(p []byte) (int, error) {
	all := *r.turns
	if len(all) == 0 || all[len(all)-1].name != r.name {
		all = append(all, turn{name: r.name})
	}
	all[len(all)-1].sent = append(all[len(all)-1].sent, p...)
	*r.turns = all
	return r.Conn.Write(p)
}

// TestFormatExample runs the session of the example and compares its bytes with those in
// FORMAT.md.
func TestFormatExample(t *testing.T) {
	doc, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, ok := strings.Cut(string(doc), "```frames\n")
	if !ok {
		t.Fatal("FORMAT.md has no example")
	}
	want, _, _ := strings.Cut(example, "```")

	newSalt = func() salt { return 1 }
	t.Cleanup(func() { newSalt = randomSalt })
	stores := map[string]*okra.DB{}
	for name, keys := range map[string]string{"ours": "ac", "theirs": "abc"} {
		db, err := okra.Open(t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		err = db.Update(func(tx *okra.Tx) error {
			for _, k := range keys {
				if err := tx.Put([]byte(string(k)), []byte("1")); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		stores[name] = db
	}
	var turns []turn
	a, b := net.Pipe()
	done := make(chan error)
	go func() {
		_, err := Serve(context.Background(), recorder{b, "<", &turns}, stores["theirs"], nil)
		done <- err
	}()
	sum, err := Pull(context.Background(), recorder{a, ">", &turns}, stores["ours"], nil)
	a.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err != nil || !sum.Equal {
		t.Fatalf("%+v, %v", sum, err)
	}
	var got string
	for _, turn := range turns {
		for line := range slices.Chunk(turn.sent, 32) {
			got += turn.name + " " + hex.EncodeToString(line) + "\n"
		}
	}
	if got != want {
		t.Errorf("the session is\n%s\nand FORMAT.md has\n%s", got, want)
	}
}

package sync

import (
	"context"
	"encoding/hex"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/okradb/okra-go/okra"
)

// recorder notes what is written, as lines of hex after a name.
type recorder struct {
	net.Conn
	name  string
	lines *[]string
}

func (r recorder) Write(p []byte) (int, error) {
	for i := 0; i < len(p); i += 32 {
		*r.lines = append(*r.lines, r.name+" "+hex.EncodeToString(p[i:min(len(p), i+32)]))
	}
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
	var lines []string // the sides take turns, so one slice will do
	a, b := net.Pipe()
	done := make(chan error)
	go func() {
		_, err := Serve(context.Background(), recorder{b, "<", &lines}, stores["theirs"], nil)
		done <- err
	}()
	sum, err := Pull(context.Background(), recorder{a, ">", &lines}, stores["ours"], nil)
	a.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err != nil || !sum.Equal {
		t.Fatalf("%+v, %v", sum, err)
	}
	if got := strings.Join(lines, "\n") + "\n"; got != want {
		t.Errorf("the session is\n%s\nand FORMAT.md has\n%s", got, want)
	}
}

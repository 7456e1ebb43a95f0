package lmdbenv

import (
	"context"
	"testing"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

// implementations are the ways to the records of a table: where bulk calls are possible, two.
var implementations = map[string]func(*table) tree.Storage{
	"storage":  func(t *table) tree.Storage { return t.storage() },
	"portable": func(t *table) tree.Storage { return &t.portable },
}

func openTest(t *testing.T) (*Env, Handle) {
	t.Helper()
	e, err := Open(t.TempDir(), Options{NoSync: true, MapSize: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	h, err := e.OpenTable("", func(*Txn, tree.Storage) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return e, h
}

func TestStorage(t *testing.T) {
	rounds := 2000
	if testing.Short() {
		rounds = 200
	}
	for name, pick := range implementations {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(4) {
				e, h := openTest(t)
				err := e.Update(context.Background(), func(txn *Txn) error {
					tab, err := newTable(txn, h.dbi)
					if err != nil {
						return err
					}
					return treetest.CheckStorage(pick(tab), seed, rounds)
				})
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
		})
	}
}

// A Memory agrees with another Memory, or CheckStorage itself is at fault.
func TestStorageOfMemory(t *testing.T) {
	if err := treetest.CheckStorage(&treetest.Memory{}, 1, 500); err != nil {
		t.Fatal(err)
	}
}

// CheckStorage notices an implementation that answers wrongly.
func TestStorageCheckNotices(t *testing.T) {
	if err := treetest.CheckStorage(wrong{&treetest.Memory{}}, 1, 500); err == nil {
		t.Fatal("a Gather that forgets where a run ends passes")
	}
}

type wrong struct{ tree.Storage }

func (w wrong) Gather(questions *tree.Batch, rule tree.Rule, out *tree.Gathered) error {
	err := w.Storage.Gather(questions, rule, out)
	out.End = nil
	return err
}

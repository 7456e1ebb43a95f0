package tree_test

import (
	"bytes"
	"errors"
	"runtime"
	"testing"

	"github.com/okradb/okra-go/tree"
	"github.com/okradb/okra-go/tree/treetest"
)

// Each call of the storage may fail: the error comes out, once, and nothing after it.
func TestVerifyFaults(t *testing.T) {
	m, f := six.build(t, tree.Format{K: 16, Q: 4})
	for at := 1; ; at++ {
		s := &treetest.Failing{Storage: m, At: at}
		yields := 0
		var last error
		for _, err := range tree.New(s, f, nil).Verify() {
			yields++
			last = err
		}
		if !s.Failed() {
			return
		}
		if !errors.Is(last, treetest.ErrInjected) || yields != 1 {
			t.Errorf("call %d failed: %d yielded, the last %v", at, yields, last)
		}
	}
}

// A Watch sees every record and can end the work.
func TestVerifyWatch(t *testing.T) {
	m, f := create(t, tree.Format{Q: 4})
	write(t, m, f, func(tr *tree.Tree) error {
		for i := range 5000 {
			if err := tr.Put(u32(i), nil); err != nil {
				return err
			}
		}
		return nil
	})
	var read int64
	count := func(n int64) error { read += n; return nil }
	for p, err := range tree.New(m, f, nil).VerifyWatched(count) {
		t.Fatal(p, err)
	}
	if above := int64(len(m.Records())) - 5002; read != 5001+2*above {
		t.Errorf("it has seen %d records read, of 5001 and twice %d", read, above)
	}
	stop := func(int64) error { return errSequence }
	tr := tree.New(m, f, &tree.Buffers{})
	for _, err := range tr.VerifyWatched(stop) {
		if !errors.Is(err, errSequence) {
			t.Errorf("Verify ends with %v", err)
		}
	}
	if _, err := tr.ShapeWatched(stop); !errors.Is(err, errSequence) {
		t.Errorf("Shape ends with %v", err)
	}
	if _, err := tr.Rebuild(nil, stop); !errors.Is(err, errSequence) {
		t.Errorf("Rebuild ends with %v", err)
	}
	if err := tr.Put([]byte("k"), nil); err != nil {
		t.Errorf("a Rebuild that has not begun to write leaves the tree with %v", err)
	}
}

// Neither a node with very many children nor a very long value takes memory.
func TestM1M13VerifyInBoundedMemory(t *testing.T) {
	m, f := create(t, tree.Format{K: 16, Q: 32, Mode: tree.Index})
	write(t, m, f, func(tr *tree.Tree) error {
		for i := range 50000 {
			if err := tr.PutHash(u32(i), plainHash(t, f.K, i)); err != nil {
				return err
			}
		}
		return nil
	})
	long, g := create(t, tree.Format{K: 16, Q: 32})
	value := bytes.Repeat([]byte("value"), 2<<20)
	write(t, long, g, func(tr *tree.Tree) error { return tr.Put([]byte("k"), value) })
	for _, c := range []struct {
		m *treetest.Memory
		f tree.Format
	}{{m, f}, {long, g}} {
		tr := tree.New(c.m, c.f, nil)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if all, err := verify(tr); err != nil || len(all) > 0 {
			t.Fatalf("found %v (%v)", all, err)
		}
		runtime.ReadMemStats(&after)
		// The storage of the test makes the key of each look-up.
		perRecord := uint64(32 * len(c.m.Records()))
		if used := after.TotalAlloc - before.TotalAlloc; used > perRecord+100<<10 {
			t.Errorf("%d records: %d bytes allocated", len(c.m.Records()), used)
		}
	}
}

// A tree of 255 levels has no room for the one that its top level asks for.
func TestM13VerifyTooTall(t *testing.T) {
	m, f := create(t, tree.Format{K: 4, Q: 2, Mode: tree.Index})
	for level := range tree.MaxLevel + 1 {
		m.Set([]byte{byte(level)}, []byte("\xff..."))
		m.Set([]byte{byte(level), 'a'}, []byte("\x00..."))
	}
	all, err := verify(tree.New(m, f, nil))
	if !errors.Is(err, tree.ErrTooTall) || len(all) < 2*tree.MaxLevel {
		t.Errorf("%d problems, then %v", len(all), err)
	}
	for i, p := range all[1:] {
		if p.Kind != tree.WrongHash {
			t.Errorf("problem %d: %s", i+1, p)
		}
	}
}

// A write that reaches another tree of the transaction ends the loop: it moves the records.
func TestVerifyBesideWrites(t *testing.T) {
	m, f := six.build(t, tree.Format{K: 16, Q: 4})
	alter(1, "cherry", flipLast)(m)
	alter(2, "", flipLast)(m)
	o, g := create(t, tree.Format{})
	tr, other := tree.New(m, f, &tree.Buffers{}), tree.New(o, g, &tree.Buffers{})
	other.Beside(tr)
	var last error
	n := 0
	for _, err := range tr.Verify() {
		if last = err; err != nil {
			continue
		}
		n++
		if err := errors.Join(other.Put([]byte("k"), nil), other.Flush()); err != nil {
			t.Fatal(err)
		}
	}
	if n != 1 || !errors.Is(last, tree.ErrWritten) || !errors.Is(tr.Lost(), tree.ErrWritten) {
		t.Errorf("%d problems, then %v; lost is %v", n, last, tr.Lost())
	}
}

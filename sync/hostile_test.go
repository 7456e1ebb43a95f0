package sync

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okradb/okra-go/okra"
)

// victim opens a store with n entries.
func victim(t testing.TB, n int) *okra.DB {
	t.Helper()
	db, err := okra.Open(t.TempDir(), &okra.Options{Q: 4, NoSync: true, MapSize: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	err = db.Update(func(tx *okra.Tx) error {
		for i := range n {
			if err := tx.Put(fmt.Appendf(nil, "k%06d", i), fmt.Append(nil, i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func frame(t frameType, body []byte) []byte {
	b := binary.AppendUvarint(nil, uint64(len(body)+1))
	return append(append(b, byte(t)), body...)
}

func join(parts ...[]byte) []byte { return slices.Concat(parts...) }

// listOf is the body of a list with the flags given, and what follows its head.
func listOf(flags byte, compared, sum uint64, level int, width byte, rest ...byte) []byte {
	b := []byte{flags}
	b = binary.AppendUvarint(b, compared)
	b = binary.LittleEndian.AppendUint64(b, sum)
	if flags&listFinal == 0 {
		b = append(binary.AppendUvarint(b, uint64(level)), width)
	}
	return append(b, rest...)
}

// openingOf is what a peer with another tree might open with.
func openingOf(want byte) opening {
	return opening{maxFrame: defaultFrame, maxValue: 1 << 20, format: okra.Format{Q: 4, K: 16, Mode: okra.Store},
		want: want, salt: 1, root: okra.Root{Level: 3, Hash: okra.LeafHash(16, []byte("x"), nil)}, last: []byte("x")}
}

func headingOf(s status) heading {
	return heading{maxFrame: defaultFrame, maxValue: 1 << 20, format: okra.Format{Q: 4, K: 16, Mode: okra.Store},
		status: s, root: okra.Root{Level: 3, Hash: okra.LeafHash(16, []byte("x"), nil)}, last: []byte("x")}
}

// item writes an item that is whole.
func itemOf(k kind, key, value string, size int, sum uint32) []byte {
	b := append([]byte{byte(k), 0}, appendString(nil, []byte(key))...)
	if k.hasHash() {
		b = append(b, bytes.Repeat([]byte{1}, 16)...)
	}
	if k == itemTooLarge {
		b = binary.AppendUvarint(b, uint64(size))
	}
	if k.hasValue() {
		b = binary.LittleEndian.AppendUint32(b, sum)
		b = append(binary.AppendUvarint(b, uint64(size)), value...)
	}
	return b
}

// script is what a hostile peer sends: first once, and then again as long as anybody listens.
type script struct {
	name  string
	once  []byte
	again []byte
	reply []byte        // sent for every write of the victim's
	pause time.Duration // between pieces of again
	want  error
	step  string

	passes int // of the session, if there are many
}

var preface = []byte("okra\x01")

// play runs a script against fn, and checks what that makes of it. The time is not the machine's,
// which may be slow: it goes on when all wait for it.
func play(t *testing.T, db *okra.DB, s script, fn func(context.Context, Conn, Limits) error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { playNow(t, db, s, fn) })
}

func playNow(t *testing.T, db *okra.DB, s script, fn func(context.Context, Conn, Limits) error) {
	t.Helper()
	a, b := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		go func() {
			buf := make([]byte, 64<<10)
			for {
				if _, err := b.Read(buf); err != nil {
					return
				}
				if s.reply != nil {
					go b.Write(s.reply)
				}
			}
		}()
		if _, err := b.Write(s.once); err != nil {
			return
		}
		for s.again != nil {
			if _, err := b.Write(s.again); err != nil {
				return
			}
			time.Sleep(s.pause)
		}
	}()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	err := fn(context.Background(), a, Limits{Timeout: 300 * time.Millisecond, MaxValue: 1 << 20, MaxReceive: 80 << 20})
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	a.Close()
	<-done
	b.Close()
	if !errors.Is(err, s.want) || !strings.Contains(fmt.Sprint(err), s.step) {
		t.Errorf("%v; want %v in %q", err, s.want, s.step)
	}
	if strings.ContainsFunc(fmt.Sprint(err), func(r rune) bool { return r < ' ' && r != '\n' }) {
		t.Errorf("control characters: %q", err)
	}
	if took > 30*time.Second {
		t.Errorf("took %v", took)
	}
	// What a pass has allocated is free when the next begins.
	if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20+uint64(s.passes)<<18 {
		t.Errorf("%d bytes were allocated", n)
	}
	stats, err := db.Stats()
	if err != nil || len(stats.Snapshots) > 0 {
		t.Errorf("snapshots %+v, %v", stats.Snapshots, err)
	}
}

// framing is what can be wrong about frames, after a beginning that is right.
func framing(begin []byte, step string) []script {
	return []script{
		{name: "frame of 0 bytes", once: join(begin, []byte{0}), want: ErrProtocol, step: step},
		{name: "frame of max+1 bytes", once: join(begin, binary.AppendUvarint(nil, defaultFrame+1)), want: ErrProtocol, step: step},
		{name: "frame of 2^32-1 bytes", once: join(begin, binary.AppendUvarint(nil, 1<<32-1)), want: ErrProtocol, step: step},
		{name: "length without end", once: begin, again: []byte{0x80}, want: ErrProtocol, step: step},
		{name: "frame of max bytes that does not come", once: join(begin, binary.AppendUvarint(nil, defaultFrame), []byte{byte(frameList)}), want: ErrTimeout, step: step},
		{name: "frame of an unknown type", once: join(begin, frame(77, nil)), want: ErrProtocol, step: step},
		{name: "frames to skip for ever", once: begin, again: frame(frameSkip, nil), want: ErrProtocol, step: step},
		{name: "large frames to skip for ever", once: begin, again: frame(frameSkip, make([]byte, 1000)), want: ErrProtocol, step: step},
		{name: "a byte now and then", once: begin, again: []byte{0xff}, pause: 50 * time.Millisecond, want: nil, step: step},
		{name: "error of nothing", once: join(begin, frame(frameError, nil)), want: ErrPeer, step: step},
		{name: "error with escapes", once: join(begin, frame(frameError, []byte("\x04\x1b[31m\x07red\xff"))), want: ErrLimit, step: step},
		{name: "error of an unknown code", once: join(begin, frame(frameError, []byte("\xc8text"))), want: ErrPeer, step: step},
		{name: "endless error", once: join(begin, frame(frameError, append([]byte{1}, make([]byte, 100_000)...))), want: ErrPeer, step: step},
	}
}

func TestS11M9HostileAskingSide(t *testing.T) {
	db := victim(t, 300)
	before := entriesOf(t, db)
	open := frame(frameOpen, openingOf(wantItems|wantValues|wantWrite).encode())
	begin := join(preface, open)
	// A right opening: one node of level 2, which differs.
	right := join(begin, frame(frameList, listOf(listEnd, 0, 0, 2, 2, 2, 7, 7)))
	changes := func(items ...[]byte) []byte { return join(preface, frame(frameChanges, join(items...))) }
	bounded := openingOf(wantItems | wantShared)
	bounded.window = window{upper: []byte("k5")}
	// Behind a pass of one list, with nothing in it.
	names := func(items ...[]byte) []byte {
		return join(preface, frame(frameOpen, bounded.encode()), frame(frameList, listOf(listEnd, 0, 0, 0, 2, 0)), frame(frameItems, join(items...)))
	}
	bad := openingOf(wantItems)
	bad.maxFrame = 100
	scripts := slices.Concat(framing(preface, "wait for a request"), framing(begin, "compare trees"), []script{
		{name: "no opening", once: join(preface, frame(frameOpen, nil)), want: ErrProtocol, step: "opening"},
		{name: "long opening", once: join(preface, frame(frameOpen, append(openingOf(0).encode(), 0))), want: ErrProtocol, step: "left over"},
		{name: "tiny frames", once: join(preface, frame(frameOpen, bad.encode())), want: ErrProtocol, step: "opening"},
		{name: "first list final", once: join(begin, frame(frameList, listOf(listEnd|listFinal, 0, 0, 0, 0))), want: ErrProtocol, step: "compare trees"},
		{name: "width 0", once: join(begin, frame(frameList, listOf(listEnd, 0, 0, 2, 0, 0))), want: ErrProtocol, step: "compare trees"},
		{name: "width 9", once: join(begin, frame(frameList, listOf(listEnd, 0, 0, 2, 9, 0))), want: ErrProtocol, step: "compare trees"},
		{name: "level 255", once: join(begin, frame(frameList, listOf(listEnd, 0, 0, 255, 2, 0))), want: ErrProtocol, step: "compare trees"},
		{name: "list that ends in a hash", once: join(begin, frame(frameList, listOf(listEnd, 0, 0, 2, 2, 8, 1))), want: ErrProtocol, step: "compare trees"},
		{name: "huge count", once: join(begin, frame(frameList, listOf(listEnd, 0, 0, 2, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1))), want: ErrProtocol, step: "compare trees"},
		{name: "piece without a hash", once: join(begin, frame(frameList, listOf(0, 0, 0, 2, 2, 1))), want: ErrProtocol, step: "compare trees"},
		{name: "gap in the opening", once: join(begin, frame(frameList, listOf(listEnd, 0, 0, 2, 2, 0, 0, 2))), want: ErrProtocol, step: "compare trees"},
		{name: "cut before the window", once: join(begin, frame(frameList, []byte{listEnd | listCut, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 0})), want: ErrProtocol, step: "compare trees"},
		{name: "empty frames of a list", once: join(begin, frame(frameList, listOf(0, 0, 0, 2, 2, 3, 1, 1))), again: frame(frameList, []byte{0}), want: ErrProtocol, step: "compare trees"},
		{name: "hashes for ever", once: join(begin, frame(frameList, listOf(0, 0, 0, 0, 1, 3, 1))), again: frame(frameList, append([]byte{0, 0x81, 0xfe, 0x06}, bytes.Repeat([]byte{7}, 57216)...)), want: ErrLimit, step: "comparing needs more"},
		{name: "restart", once: join(preface, frame(frameRestart, []byte{0})), want: ErrProtocol, step: "wait for a request"},
		{name: "restart of a list", once: join(begin, frame(frameRestart, []byte{0})), want: ErrProtocol, step: "compare trees"},
		{name: "second list not below", once: right, reply: frame(frameList, listOf(listEnd, 0, 0, 2, 2)), want: ErrProtocol, step: "compare trees: "},
		{name: "second list with a wrong sum", once: right, reply: frame(frameList, listOf(listEnd|listFinal, 1, 77, 0, 0)), want: ErrProtocol},
		{name: "ordinal beyond the list", once: right, reply: frame(frameList, listOf(listEnd|listFinal, 500, 0, 0, 0, 0xff, 7, 2)), want: ErrProtocol, step: "compare trees"},
		{name: "more compared than listed", once: right, reply: frame(frameList, listOf(listEnd|listFinal, 1<<40, 0, 0, 0)), want: ErrProtocol, step: "compare trees"},
		{name: "gap of no node", once: right, reply: frame(frameList, listOf(listEnd|listFinal, 5, 0, 0, 0, 0, 0)), want: ErrProtocol, step: "compare trees"},
		{name: "gap of all nodes and more", once: right, reply: frame(frameList, listOf(listEnd|listFinal, 5, 0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0x0f)), want: ErrProtocol, step: "compare trees"},
		{name: "final list to look into", once: right, reply: frame(frameList, listOf(listEnd|listFinal, 5, 0, 0, 0, 0, 3)), want: ErrProtocol, step: "compare trees"},
		{name: "item of a pass as a change", once: changes(itemOf(itemValue, "a", "", 0, 0)), want: ErrProtocol, step: "receive changes"},
		{name: "change of no key", once: changes(itemOf(changeDelete, "", "", 0, 0)), want: ErrProtocol, step: "receive changes"},
		{name: "change of a long key", once: changes(itemOf(changeDelete, strings.Repeat("k", 511), "", 0, 0)), want: ErrProtocol, step: "receive changes"},
		{name: "changes out of order", once: changes(itemOf(changeDelete, "b", "", 0, 0), itemOf(changeDelete, "a", "", 0, 0)), want: ErrProtocol, step: "receive changes"},
		{name: "one change twice", once: changes(itemOf(changeDelete, "b", "", 0, 0), itemOf(changeDelete, "b", "", 0, 0)), want: ErrProtocol, step: "receive changes"},
		{name: "value with a false check", once: changes(itemOf(changeAdd, "a", "value", 5, 77)), want: ErrProtocol, step: "receive changes"},
		{name: "value over the limit", once: changes(itemOf(changeAdd, "a", "value", 1<<20+1, 77)), want: ErrProtocol, step: "receive changes"},
		{name: "pieces of a value for ever", once: changes(itemOf(changeAdd, "a", "value", 1000, 77)), again: frame(frameChunk, make([]byte, 100)), want: ErrProtocol, step: "receive changes"},
		{name: "empty pieces of a value", once: changes(itemOf(changeAdd, "a", "value", 1000, 77)), again: frame(frameChunk, nil), want: ErrProtocol, step: "receive changes"},
		{name: "piece of no value", once: join(preface, frame(frameChunk, []byte{1})), want: ErrProtocol, step: "wait for a request"},
		{name: "empty changes", once: join(preface, frame(frameChanges, []byte{})), want: ErrProtocol, step: "receive changes"},
		{name: "names before a pass", once: join(preface, frame(frameItems, itemOf(itemAsked, "a", "", 0, 0))), want: ErrProtocol, step: "wait for a request"},
		{name: "names of no key", once: names(itemOf(itemAsked, "", "", 0, 0)), want: ErrProtocol, step: "receive names"},
		{name: "names out of order", once: names(itemOf(itemAsked, "k2", "", 0, 0), itemOf(itemAsked, "k1", "", 0, 0)), want: ErrProtocol, step: "receive names"},
		{name: "name outside of the window", once: names(itemOf(itemAsked, "z", "", 0, 0)), want: ErrProtocol, step: "receive names"},
		{name: "entry as a name", once: names(itemOf(itemName, "k2", "", 0, 0)), want: ErrProtocol, step: "receive names"},
		{name: "empty names", once: names(), want: ErrProtocol, step: "receive names"},
		{name: "names that do not end", once: names(itemOf(itemAsked, "k2", "", 0, 0)), want: ErrTimeout, step: "receive names"},
		{name: "names that end otherwise", once: join(names(itemOf(itemAsked, "k2", "", 0, 0)), frame(frameAck, nil)), want: ErrProtocol, step: "receive names"},
		{name: "list that asks", once: join(begin, frame(frameList, listOf(listEnd|listAsk, 0, 0, 2, 2, 2, 7, 7))), want: ErrProtocol, step: "compare trees"},
		{name: "ack", once: join(preface, frame(frameAck, []byte{1})), want: ErrProtocol, step: "wait for a request"},
		{name: "end of changes that is none", once: join(preface, frame(frameDone, []byte{1})), want: ErrProtocol, step: "receive changes"},
	})
	for _, s := range scripts {
		t.Run(s.name, func(t *testing.T) {
			if s.name == "a byte now and then" {
				s.want = ErrProtocol // its length is none
			}
			if s.name == "second list with a wrong sum" {
				s.step = "wait for a request" // it is told to open the pass again
			}
			play(t, db, s, func(ctx context.Context, conn Conn, l Limits) error {
				_, err := Serve(ctx, conn, db, &ServeOptions{Write: true, Limits: l})
				return err
			})
		})
	}
	if !maps.Equal(entriesOf(t, db), before) {
		t.Error("the store has changed")
	}
}

// A peer that may only read cannot write either by not saying that it will.
func TestS11M9ReaderThatWrites(t *testing.T) {
	db := victim(t, 10)
	before := entriesOf(t, db)
	_, sum := oneLeaf(16, 0, []byte("a"), []byte("value"))
	add := frame(frameChanges, itemOf(changeAdd, "a", "value", 5, check(sum)))
	done := frame(frameDone, ending{root: okra.Root{Hash: okra.LeafHash(16, []byte("x"), nil)}}.encode())
	for _, write := range []bool{false, true} {
		s := script{once: join(preface, add, done), want: ErrDenied, step: "may only read"}
		if write {
			s.want, s.step = ErrTimeout, "wait for a request" // it did what was asked for
		}
		play(t, db, s, func(ctx context.Context, conn Conn, l Limits) error {
			_, err := Serve(ctx, conn, db, &ServeOptions{Write: write, Limits: l})
			return err
		})
		if maps.Equal(entriesOf(t, db), before) == write {
			t.Errorf("Write is %v, and the store has changed or not", write)
		}
	}
}

func TestS11M9HostileAnsweringSide(t *testing.T) {
	db := victim(t, 300)
	before := entriesOf(t, db)
	head := func(s status) []byte { return join(preface, frame(frameHead, headingOf(s).encode())) }
	list := head(statusList)
	items := func(items ...[]byte) []byte { return join(head(statusAppended), frame(frameItems, join(items...))) }
	final := frame(frameList, listOf(listEnd|listFinal, 0, 0, 0, 0))
	done := frame(frameDone, ending{cut: []byte{0}, root: headingOf(0).root}.encode())
	again := join(frame(frameHead, headingOf(statusList).encode()), final)
	short := slices.Clone(preface) // passes that end soon, each a little later
	for i := range 200 {
		short = join(short, again, frame(frameDone, ending{cut: fmt.Appendf(nil, "k%06d", i), root: headingOf(0).root}.encode()))
	}
	scripts := slices.Concat(framing(preface, "open the session"), framing(list, "compare trees"), []script{
		{name: "no heading", once: join(preface, frame(frameHead, nil)), want: ErrProtocol, step: "open the session"},
		{name: "equal and yet not", once: head(statusEqual), want: ErrProtocol, step: "open the session"},
		{name: "status 3", once: head(3), want: ErrProtocol, step: "open the session"},
		{name: "restart for ever", once: preface, again: frame(frameRestart, []byte{0}), want: ErrMoving, step: "compare trees"},
		{name: "alike for ever", once: preface, again: frame(frameRestart, []byte{1}), want: ErrMoving, step: "compare trees"},
		{name: "level not below", once: join(list, frame(frameList, listOf(listEnd, 0, 0, 200, 2))), want: ErrProtocol, step: "compare trees"},
		{name: "wrong sum", once: join(list, frame(frameList, listOf(listEnd, 1, 77, 0, 2))), want: ErrTimeout, step: "open the session"},
		{name: "ordinal beyond the list", once: join(list, frame(frameList, listOf(listEnd, 500, 0, 0, 2, 0xff, 7, 2))), want: ErrProtocol, step: "compare trees"},
		{name: "more compared than listed", once: join(list, frame(frameList, listOf(listEnd|listFinal, 1<<40, 0, 0, 0))), want: ErrProtocol, step: "compare trees"},
		{name: "fewer compared than named", once: join(list, frame(frameList, listOf(listEnd|listFinal, 0, 0, 0, 0, 0, 2))), want: ErrProtocol, step: "compare trees"},
		{name: "gap of no node", once: join(list, frame(frameList, listOf(listEnd|listFinal, 1, 0, 0, 0, 0, 0))), want: ErrProtocol, step: "compare trees"},
		{name: "final list to look into", once: join(list, frame(frameList, listOf(listEnd|listFinal, 1, 0, 0, 0, 0, 3))), want: ErrProtocol, step: "compare trees"},
		{name: "list that asks for names", once: join(list, frame(frameList, listOf(listEnd|listFinal|listAsk, 0, 0, 0, 0))), want: ErrProtocol, step: "it asks for names"},
		{name: "list that asks and goes on", once: join(list, frame(frameList, listOf(listEnd|listAsk, 0, 0, 0, 2))), want: ErrProtocol, step: "compare trees"},
		{name: "opening", once: join(list, frame(frameOpen, nil)), want: ErrProtocol, step: "compare trees"},
		{name: "items for ever", once: head(statusAppended), again: frame(frameItems, itemOf(itemValue, "z", "", 0, 0)), want: ErrProtocol, step: "receive entries"},
		{name: "item with a hash for a value", once: items(itemOf(itemName, "z", "", 0, 0)), want: ErrProtocol, step: "receive entries"},
		{name: "items out of order", once: items(itemOf(itemTooLarge, "z", "", 9, 0), itemOf(itemTooLarge, "y", "", 9, 0)), want: ErrProtocol, step: "receive entries"},
		{name: "item outside of the window", once: items(itemOf(itemTooLarge, "j", "", 9, 0)), want: ErrProtocol, step: "receive entries"},
		{name: "item with a false check", once: items(itemOf(itemValue, "z", "v", 1, 1)), want: ErrProtocol, step: "receive entries"},
		{name: "empty items", once: head(statusAppended), again: frame(frameItems, nil), want: ErrProtocol, step: "receive entries"},
		{name: "refused without end", once: items(itemOf(itemTooLarge, "z", "", 9, 0), itemOf(itemTooLarge, "zz", "", 9, 0)), want: ErrTimeout, step: "receive entries"},
		{name: "shared part of no key", once: items([]byte{byte(itemValue), 5, 1, 'z'}), want: ErrProtocol, step: "receive entries"},
		{name: "empty pieces", once: items(itemOf(itemValue, "z", "v", 1000, 1)), again: frame(frameChunk, nil), want: ErrProtocol, step: "receive entries"},
		{name: "pieces for ever", once: items(itemOf(itemValue, "z", "v", 1000, 1)), again: frame(frameChunk, make([]byte, 64)), want: ErrProtocol, step: "receive entries"},
		{name: "cut before the window", once: join(head(statusAppended), frame(frameDone, ending{cut: []byte("j"), root: headingOf(0).root}.encode())), want: ErrProtocol, step: "receive entries"},
		{name: "short passes", once: short, want: ErrProtocol, step: "passes with nothing in them", passes: mostIdle},
		{name: "passes for ever", once: join(list, final, done), again: join(again, frame(frameDone, ending{cut: []byte("k5"), root: headingOf(0).root}.encode())), want: nil, step: ""},
	})
	for _, s := range scripts {
		t.Run(s.name, func(t *testing.T) {
			if s.name == "a byte now and then" || s.name == "passes for ever" {
				s.want = ErrProtocol
			}
			play(t, db, s, func(ctx context.Context, conn Conn, l Limits) error {
				_, err := Pull(ctx, conn, db, &Options{Limits: l, Mirror: true, Bounds: okra.Bounds{GE: []byte("k")}})
				return err
			})
		})
	}
	if !maps.Equal(entriesOf(t, db), before) {
		t.Error("the store has changed")
	}
}

func entriesOf(t testing.TB, db *okra.DB) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := db.View(func(tx *okra.Tx) error {
		for e, err := range tx.All() {
			if err != nil {
				return err
			}
			all[string(e.Key)] = string(e.Value)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What a peer says became of the changes is no more than was sent, and safe to print.
func TestAckIsChecked(t *testing.T) {
	root := okra.Root{Hash: okra.LeafHash(16, []byte("x"), nil)}
	key := bytes.Repeat([]byte("k"), 3)
	good := ack{made: Changes{Added: 1, Changed: 1, Deleted: 1}, root: root}
	good.refused.add(ReasonAccept, false, key, "\x1b[31mred\xff")
	a, err := decodeAck(good.encode(defaultFrame), 16, 4)
	if err != nil || a.made != good.made || a.refused.count != 1 || strings.ContainsRune(a.refused.list()[0].Detail, '\x1b') {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := decodeAck(good.encode(defaultFrame), 16, 3); !errors.Is(err, ErrProtocol) {
		t.Errorf("more than was sent: %v", err)
	}
	tail := good.encode(defaultFrame)
	if _, err := decodeAck(append(tail, 200), 16, 4); !errors.Is(err, ErrProtocol) {
		t.Errorf("unknown reason: %v", err)
	}
}

package dump_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/okradb/okra-go/okra/dump"
)

// fuzzRead reads b as a dump. It is whole or refused by a named error, and what is whole is read
// the same when it is written again.
func fuzzRead(t *testing.T, b []byte, kind dump.Kind) {
	h, entries, trailer, err := read(b, kind)
	if err != nil {
		if !refused(err) {
			t.Errorf("error %v", err)
		}
		return
	}
	if int64(len(entries)) != trailer.Count {
		t.Errorf("%d entries, the end says %s", len(entries), trailer)
	}
	if h.Format.K == 0 {
		return // any order, so that it cannot be written
	}
	var again bytes.Buffer
	w, err := dump.NewWriter(&again, kind, h)
	if err != nil {
		if kind == dump.MDB {
			return // of an old tree or one without values
		}
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := w.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := w.Close(); err != nil || got != trailer {
		t.Errorf("written again it has %s, %v; before %s", got, err, trailer)
	}
	if kind == dump.Binary && !bytes.Equal(b, again.Bytes()) {
		t.Errorf("%x was read, and written as %x", b, again.Bytes())
	}
}

func FuzzBinary(f *testing.F) {
	f.Add(write(f, dump.Binary, dump.Header{Format: store}, nil))
	f.Add(write(f, dump.Binary, dump.Header{Format: store}, oddEntries()))
	f.Add(write(f, dump.Binary, dump.Header{Format: index}, inIndexMode(oddEntries(), 16)))
	// A value of 4 GiB less a little that is not there.
	f.Add([]byte("okradump\x01\x10\x00\x00\x00\x04\x01\x01\x00k\xdf\xff\xff\xff\x0f"))
	f.Fuzz(func(t *testing.T, b []byte) { fuzzRead(t, b, dump.Binary) })
}

func FuzzJSONLines(f *testing.F) {
	f.Add(write(f, dump.JSONLines, dump.Header{Format: store}, nil))
	f.Add(write(f, dump.JSONLines, dump.Header{Format: store}, oddEntries()))
	f.Add(write(f, dump.JSONLines, dump.Header{Format: index}, inIndexMode(oddEntries(), 16)))
	f.Fuzz(func(t *testing.T, b []byte) { fuzzRead(t, b, dump.JSONLines) })
}

func FuzzMDB(f *testing.F) {
	for _, kind := range []dump.Kind{dump.MDB, dump.MDBPrint} {
		f.Add(write(f, kind, dump.Header{Format: store, Table: "t", MapSize: 1}, nil))
		f.Add(write(f, kind, dump.Header{Format: store}, oddEntries()))
	}
	f.Add([]byte("VERSION=3\nformat=bytevalue\ntype=btree\nHEADER=END\n" +
		" 00\n af1349b9f5f9a1a6a0404dea36dcc949\n ff\n 6f6b726103100000000401\nDATA=END\n"))
	f.Add([]byte("VERSION=3\nHEADER=END\n" +
		" 00\n af1349b9f5f9a1a6a0404dea36dcc949\n" +
		" 006170706c65\n f622c094ed34b7ff98a056febf143b26726564\n" +
		" 01\n 3e2056484a0b145084dd5420a531213b\n ff\n 6f6b726103100000002001\nDATA=END\n"))
	f.Fuzz(func(t *testing.T, b []byte) { fuzzRead(t, b, dump.MDB) })
}

// Auto never takes longer or other ways to refuse than the kind that it finds.
func FuzzAuto(f *testing.F) {
	f.Add([]byte("okra"))
	f.Add([]byte("{}"))
	f.Add([]byte("VERSION=3"))
	f.Fuzz(func(t *testing.T, b []byte) {
		dump.NeedsSeek(b)
		if _, _, _, err := read(b, dump.Auto); err != nil && !refused(err) {
			t.Errorf("error %v", err)
		}
	})
}

func FuzzOps(f *testing.F) {
	f.Add([]byte(`{"op":"put","key":"name","value":"Ada"}` + "\n" + `{"op":"delete","key":"x"}`))
	f.Add([]byte(`{"op":"put","key":"fe","key_encoding":"hex","hash":"00112233"}`))
	f.Add([]byte(`{"op":"put","key":"\ud83d\ude00","value":"/w==","value_encoding":"base64"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		for op, err := range dump.ReadOps(bytes.NewReader(b)) {
			switch {
			case err != nil && !refused(err):
				t.Errorf("error %v", err)
			case err == nil && (len(op.Key) == 0 || len(op.Key) > 510):
				t.Errorf("key of %d bytes", len(op.Key))
			case err == nil && op.Delete && op.Value != nil:
				t.Error("delete of a value")
			case err == nil:
				sameByJSON(t, bytes.Split(b, []byte("\n"))[op.Line-1], op)
			}
		}
	})
}

// sameByJSON checks that package json reads a line as op was read, where that is text.
func sameByJSON(t *testing.T, line []byte, op dump.Op) {
	var j struct {
		Key, Value    string
		KeyEncoding   string `json:"key_encoding"`
		ValueEncoding string `json:"value_encoding"`
	}
	if err := json.Unmarshal(line, &j); err != nil {
		t.Errorf("%q is no JSON: %v", line, err)
	}
	if (j.KeyEncoding == "" || j.KeyEncoding == "utf-8") && j.Key != string(op.Key) {
		t.Errorf("key %q, json says %q", op.Key, j.Key)
	}
	if (j.ValueEncoding == "" || j.ValueEncoding == "utf-8") && j.Value != string(op.Value) {
		t.Errorf("value %q, json says %q", op.Value, j.Value)
	}
}

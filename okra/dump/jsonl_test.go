package dump_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/okradb/okra-go/okra/dump"
	"github.com/okradb/okra-go/tree"
)

const jsonHead = `{"okra":"dump","version":1,"k":16,"q":4,"mode":"store"}` + "\n"

// A bad line is refused with its number and a reason.
func TestJSONLinesRefused(t *testing.T) {
	good := `{"key":"a","value":"1"}`
	long := strings.Repeat("k", 511)
	for _, c := range []struct {
		line string
		want error
		says string
	}{
		{`{"key":"b"}`, dump.ErrSyntax, "neither a value nor a hash"},
		{`{"key":"b","hash":"00112233445566778899aabbccddeeff"}`, dump.ErrSyntax, "store mode"},
		{`{"key":"b","value":"1","hash":"00112233"}`, dump.ErrSyntax, "both a value and a hash"},
		{`{"key":"b","valeu":"1"}`, dump.ErrSyntax, "valeu"},
		{`{"key":"b","value":"1","key":"c"}`, dump.ErrSyntax, "twice"},
		{`{"Key":"b","value":"1"}`, dump.ErrSyntax, "Key"},
		{`{"key":"b","value":"1","op":"put"}`, dump.ErrSyntax, `"op" does not belong here`},
		{`{"key":"b","value":"1","k":1}`, dump.ErrSyntax, `"k" does not belong here`},
		{`{"key":"b","value":"1"`, dump.ErrSyntax, "end of the object"},
		{`{"key":"b","value":"1`, dump.ErrSyntax, "no end"},
		{`{"key":"b","value":"\`, dump.ErrSyntax, "no end"},
		{`{"key":"b","value":"\x"}`, dump.ErrSyntax, "unknown escape"},
		{`{"key":"b","value":"\u12g4"}`, dump.ErrSyntax, "no character"},
		{"{\"key\":\"b\",\"value\":\"\t\"}", dump.ErrSyntax, "0x09 must be written as an escape"},
		{`{"key" "b"}`, dump.ErrSyntax, "a colon is wanted"},
		{`{key:"b"}`, dump.ErrSyntax, "a string is wanted"},
		{`{"entries":01,"root":{"level":1,"hash":"00112233"}}`, dump.ErrSyntax, "too long"},
		{`{"entries":-1,"root":{"level":1,"hash":"00112233"}}`, dump.ErrSyntax, "whole number"},
		{`{"entries":1,"root":{"key":"a","hash":"00112233"}}`, dump.ErrSyntax, "unknown name"},
		{`{"key":"b","value":1}`, dump.ErrSyntax, "a string is wanted"},
		{`{"key":"b","value":"1"} {}`, dump.ErrSyntax, "after the object"},
		{`{"key":"b","value":"1","entries":1}`, dump.ErrSyntax, "an entry and the end in one"},
		{`{"key":"b","value_encoding":"hex"}`, dump.ErrSyntax, "not there"},
		{`{"key":"!","key_encoding":"base64","value":""}`, dump.ErrSyntax, "not base64"},
		{`{"key":"Zh==","key_encoding":"base64","value":""}`, dump.ErrSyntax, "not base64"},
		{`{"key":"0","key_encoding":"hex","value":""}`, dump.ErrSyntax, "not hexadecimal"},
		{`{"key":"b","key_encoding":"latin1","value":""}`, dump.ErrSyntax, "latin1"},
		{"{\"key\":\"b\xff\",\"value\":\"\"}", dump.ErrSyntax, "not UTF-8"},
		{`{"key":"b","value":"\ud800"}`, dump.ErrSyntax, `\ud800 is no character`},
		{`{"key":"b","value":"\udc00\ud800"}`, dump.ErrSyntax, `\udc00 is no character`},
		{`{"key":"b","value":"\ud83d\ud83d\ude00"}`, dump.ErrSyntax, `\ud83d is no character`},
		{`{"key":"","value":""}`, tree.ErrKeyEmpty, ""},
		{`{"key":"` + long + `","value":""}`, tree.ErrKeyTooLong, "511"},
		{`{"key":"a","value":"2"}`, dump.ErrOrder, ""},
		{`{"key":"A","value":"2"}`, dump.ErrOrder, ""},
		{`{"entries":1}`, dump.ErrSyntax, "neither an entry"},
		{`{"entries":1,"root":{"level":1,"hash":"xx"}}`, dump.ErrSyntax, "root"},
		{`{"value":"1"}`, dump.ErrSyntax, "neither an entry"},
		{`[]`, dump.ErrSyntax, "a JSON object is wanted"},
		{``, dump.ErrSyntax, "a JSON object is wanted"},
	} {
		_, _, _, err := read([]byte(jsonHead+good+"\n"+c.line+"\n{}\n"), dump.Auto)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v, %s", c.line, err, c.want, c.says)
		}
		if err == nil || !strings.HasPrefix(err.Error(), "line 3: ") {
			t.Errorf("%s: %v does not begin with the line", c.line, err)
		}
	}
	for _, head := range []string{
		`{"okra":"dump","version":2,"k":16,"q":4,"mode":"store"}`,
		`{"okra":"dump","version":1,"k":3,"q":4,"mode":"store"}`,
		`{"okra":"dump","version":1,"k":16,"q":0,"mode":"store"}`,
		`{"okra":"dump","version":1,"k":16,"q":4,"mode":"any"}`,
		`{"key":"a","value":"1"}`,
		`{"okra":"pod"}`,
	} {
		if _, _, _, err := read([]byte(head+"\n{}\n"), dump.Auto); !refused(err) {
			t.Errorf("header %s: %v", head, err)
		}
	}
}

// Text may be written in any way that JSON has for it.
func TestJSONLinesEscapes(t *testing.T) {
	for text, want := range map[string]string{
		`"\ud83d\ude00"`: "😀", `"\\ud800"`: `\ud800`, `"\\\u0041"`: `\A`, `"\ufffd"`: "\ufffd",
		`"\ud83d\ude00\ud83d\ude00"`: "😀😀", `"�"`: "\ufffd", `"\/\b\f"`: "/\b\f",
	} {
		line := `{ "op":"put" , "key" : "k", "value": ` + text + " }\r"
		for op, err := range dump.ReadOps(strings.NewReader(line)) {
			if err != nil || string(op.Value) != want {
				t.Errorf("%s: %q, %v, want %q", text, op.Value, err, want)
			}
		}
	}
}

func TestC11_Ops(t *testing.T) {
	in := `{"op":"put","key":"name","value":"Ada"}

{"op":"delete","key":"/w==","key_encoding":"base64"}
{"op":"put","key":"00","key_encoding":"hex","value":"","value_encoding":"utf-8"}
{"op":"put","key":"x","hash":"00112233"}`
	var got []string
	for op, err := range dump.ReadOps(strings.NewReader(in)) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%v %q %q %v %s", op.Delete, op.Key, op.Value, op.Value == nil,
			op.Hash))
	}
	want := []string{
		`false "name" "Ada" false `, `true "\xff" "" true `, `false "\x00" "" false `,
		`false "x" "" true 00112233`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, line := range []string{
		`{"key":"a","value":"1"}`, `{"op":"set","key":"a","value":"1"}`, `{"op":"put","value":"1"}`,
		`{"op":"put","key":"a"}`, `{"op":"delete","key":"a","value":"1"}`, `{"op":"delete","key":""}`,
		`{"op":"put","key":"a","value":"1","ttl":5}`, `put a 1`, `{"op":"put","key":"a","value":"1"`,
	} {
		n := 0
		for _, err := range dump.ReadOps(strings.NewReader("\n" + line + "\n")) {
			n++
			if !refused(err) || !strings.HasPrefix(err.Error(), "line 2: ") {
				t.Errorf("%s: %v", line, err)
			}
		}
		if n != 1 {
			t.Errorf("%s: %d results", line, n)
		}
	}
}

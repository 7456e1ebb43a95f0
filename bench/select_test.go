package bench

import (
	"slices"
	"strings"
	"testing"
)

func TestSelectRows(t *testing.T) {
	rows := Rows()
	sets := []string{"set random 1 entry", "set random 100 entries", "set random 1k entries",
		"set random 50k entries"}
	for _, tc := range []struct {
		terms []string
		want  []string
	}{
		{[]string{"load"}, []string{"load"}},
		{[]string{"set"}, sets},
		{[]string{"SET RANDOM"}, sets},
		{[]string{"set 1"}, sets[:1]},
		{[]string{" set random 1 entry "}, sets[:1]},
		{[]string{"set random 1k entries"}, sets[2:3]},
		{[]string{"1k"}, sets[2:3]},
		{[]string{"get 100", "iter"}, []string{"get random 100 entries", "iterate over all entries"}},
		{[]string{"iter", "get 100", "iterate"},
			[]string{"get random 100 entries", "iterate over all entries"}},
		{[]string{"wide"}, []string{"wide node"}},
		{[]string{"gets"}, []string{"gets by goroutines"}},
		{[]string{"commit", "get 1"}, []string{"get random 1 entry", "group commit"}},
	} {
		selected, err := SelectRows(rows, tc.terms)
		if err != nil {
			t.Errorf("%q: %v", tc.terms, err)
			continue
		}
		if got := strings.Split(rowNames(selected), ", "); !slices.Equal(got, tc.want) {
			t.Errorf("%q: got %q, want %q", tc.terms, got, tc.want)
		}
	}
}

func TestSelectRowsByDefault(t *testing.T) {
	selected, err := SelectRows(Rows(), nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = "load, get random 1 entry, get random 100 entries, iterate over all entries, " +
		"set random 1 entry, set random 100 entries, set random 1k entries, set random 50k entries"
	if got := rowNames(selected); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSelectRowsListsTheNames(t *testing.T) {
	for _, term := range []string{"delete", "", "  ", "set 7"} {
		_, err := SelectRows(Rows(), []string{"load", term})
		if err == nil || !strings.Contains(err.Error(), "set random 50k entries") {
			t.Errorf("%q: error %v does not list the names", term, err)
		}
	}
}

package bench

import "testing"

func TestParseEntries(t *testing.T) {
	for s, want := range map[string]int{
		"1": 1, "1k": 1000, "50k": 50_000, "1m": 1_000_000, "1M": 1_000_000, "1000": 1000,
		"1_000": 1000, "1.5k": 1500, "4294967296": 1 << 32,
	} {
		if got, err := ParseEntries(s); err != nil || got != want {
			t.Errorf("ParseEntries(%q) = %d, %v, want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "0", "0k", "-1", "4294967297", "1e9k", "k", "1kb", "1KiB", "x", "1t"} {
		if got, err := ParseEntries(s); err == nil {
			t.Errorf("ParseEntries(%q) = %d, want an error", s, got)
		}
	}
}

func TestFormatEntries(t *testing.T) {
	for n, want := range map[int]string{
		1: "1", 999: "999", 1000: "1k", 1500: "1,500", 50_000: "50k", 1_000_000: "1M",
		1_000_001: "1,000,001",
	} {
		if got := FormatEntries(n); got != want {
			t.Errorf("FormatEntries(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestParseValueSize(t *testing.T) {
	for s, want := range map[string]int{"1": 1, "8": 8, "1k": 1000, "4KiB": 4096, "1GiB": 1 << 30} {
		if got, err := ParseValueSize(s); err != nil || got != want {
			t.Errorf("ParseValueSize(%q) = %d, %v, want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "0", "-1", "x", "2GiB"} {
		if got, err := ParseValueSize(s); err == nil {
			t.Errorf("ParseValueSize(%q) = %d, want an error", s, got)
		}
	}
}

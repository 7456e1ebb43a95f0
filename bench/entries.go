package bench

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"
)

// ParseEntries reads a number of entries: digits, with _ between them at will and k or m
// (thousands and millions, upper or lower case) at the end. It returns an error unless it is
// between 1 and 2^32.
func ParseEntries(s string) (int, error) {
	// The library knows units of bytes too, which make no sense here.
	if strings.ContainsAny(s, "bBiI") {
		return 0, fmt.Errorf("%q is no number such as 1000, 1_000, 1k or 1m", s)
	}
	n, err := humanize.ParseBytes(strings.ReplaceAll(s, "_", ""))
	if err != nil {
		return 0, fmt.Errorf("%q is no number such as 1000, 1_000, 1k or 1m", s)
	}
	if n < 1 || n > maxEntries {
		return 0, fmt.Errorf("%q is not between 1 and 2^32", s)
	}
	return int(n), nil
}

// FormatEntries returns n as the tables show it: 1k, 50k, 1M, and other numbers in full.
func FormatEntries(n int) string {
	switch {
	case n >= 1_000_000 && n%1_000_000 == 0:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n >= 1000 && n%1000 == 0:
		return fmt.Sprintf("%dk", n/1000)
	}
	return humanize.Comma(int64(n))
}

// ParseValueSize reads a size in bytes, such as 8, 1k (1000) or 4KiB (4096). It returns an error
// unless it is between 1 byte and 1 GiB.
func ParseValueSize(s string) (int, error) {
	n, err := humanize.ParseBytes(s)
	if err != nil {
		return 0, fmt.Errorf("%q is no size in bytes", s)
	}
	if n < 1 || n > 1<<30 {
		return 0, fmt.Errorf("%q is not between 1 byte and 1 GiB", s)
	}
	return int(n), nil
}

// ParseRate reads a rate in bits a second, such as 20M or 1.5G, of at most 1 Tbit/s. 0 has no
// bound.
func ParseRate(s string) (float64, error) {
	value, unit, err := humanize.ParseSI(s)
	if err != nil || unit != "" && unit != "bit/s" {
		return 0, fmt.Errorf("%q is no number of bits a second, such as 20M", s)
	}
	if value < 0 || value > 1e12 {
		return 0, errors.New("rate: not between 0 and 1 Tbit/s")
	}
	return value, nil
}

package bench

import (
	"errors"
	"fmt"
)

// tolerance is the change of a ratio that is taken for noise, as a factor.
const tolerance = 1.2

// The verdicts of a [Comparison], on okra against lmdb.
const (
	VerdictSame   = "same"   // the change may be noise
	VerdictFaster = "faster" // okra gained on lmdb
	VerdictSlower = "slower" // okra lost against lmdb
	VerdictNew    = "new"    // the old run has no such row
)

// Comparison sets a row of this run beside the same row of an earlier one. What is compared is
// the ratio okra/lmdb, which depends on the machine far less than times do.
//
// A row is faster or slower only if two things hold: the ranges of the ratios, low to high, do
// not overlap, and the ratios differ by more than a fifth. Else it is the same.
type Comparison struct {
	Entries int     `json:"entries"`
	Row     string  `json:"row"`
	Old     Spread  `json:"old"` // zero if the verdict is "new"
	New     Spread  `json:"new"`
	Change  float64 `json:"change"` // new ratio over old; 0 if the verdict is "new"
	Verdict string  `json:"verdict"`
}

// Spread is a figure with its range. In a [Comparison] it is the ratio of a [Result].
type Spread struct {
	Mid  float64 `json:"ratio"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// compare sets each result of current beside that of old with the same row and number of entries.
// Results of old only are left out.
func compare(old, current Report) []Comparison {
	comparisons := make([]Comparison, 0, len(current.Results))
	for _, result := range current.Results {
		c := Comparison{
			Entries: result.Entries,
			Row:     result.Row,
			New:     spread(result),
			Verdict: VerdictNew,
		}
		for _, before := range old.Results {
			if before.Entries == result.Entries && before.Row == result.Row {
				c.Old = spread(before)
				c.Change = ratio(c.New.Mid, c.Old.Mid)
				c.Verdict = Judge(c.Old, c.New)
			}
		}
		comparisons = append(comparisons, c)
	}
	return comparisons
}

func spread(r Result) Spread {
	return Spread{Mid: r.Ratio, Low: r.RatioLow, High: r.RatioHigh}
}

// Judge says whether after is [VerdictFaster], [VerdictSlower] or the [VerdictSame] as before, for
// figures of which less is better: it differs only if the ranges do not overlap and the figures
// in the middle differ by more than a fifth.
func Judge(before, after Spread) string {
	switch {
	case after.Low > before.High && after.Mid > before.Mid*tolerance:
		return VerdictSlower
	case after.High < before.Low && after.Mid*tolerance < before.Mid:
		return VerdictFaster
	}
	return VerdictSame
}

// sameWork returns an error if ratios of the two runs cannot be compared: values of another
// size, or commits that were flushed in one run only, are other work.
func sameWork(old, current Environment) error {
	if old.ValueSize != current.ValueSize {
		return fmt.Errorf("the runs cannot be compared: values of %d bytes in one, of %d in the other",
			old.ValueSize, current.ValueSize)
	}
	if old.Sync != current.Sync {
		return errors.New("the runs cannot be compared: one syncs its commits, the other does not")
	}
	return nil
}

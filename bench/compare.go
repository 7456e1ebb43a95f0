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
	Entries int         `json:"entries"`
	Row     string      `json:"row"`
	Old     RatioSpread `json:"old"` // zero if the verdict is "new"
	New     RatioSpread `json:"new"`
	Change  float64     `json:"change"` // new ratio over old; 0 if the verdict is "new"
	Verdict string      `json:"verdict"`
}

// RatioSpread is the ratio of a [Result], with its range.
type RatioSpread struct {
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
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
				c.Change = ratio(c.New.Ratio, c.Old.Ratio)
				c.Verdict = judge(c.Old, c.New)
			}
		}
		comparisons = append(comparisons, c)
	}
	return comparisons
}

func spread(r Result) RatioSpread {
	return RatioSpread{Ratio: r.Ratio, Low: r.RatioLow, High: r.RatioHigh}
}

func judge(before, after RatioSpread) string {
	switch {
	case after.Low > before.High && after.Ratio > before.Ratio*tolerance:
		return VerdictSlower
	case after.High < before.Low && after.Ratio*tolerance < before.Ratio:
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

package report

import (
	"math"
	"strconv"

	"github.com/dustin/go-humanize"
	"gonum.org/v1/plot"
)

// extent is the range of an axis.
type extent struct{ low, high float64 }

// none is the extent of nothing.
var none = extent{math.Inf(1), math.Inf(-1)}

// with returns e widened to hold x. What a logarithm cannot show, it leaves out.
func (e extent) with(x float64) extent {
	if !(x > least && x < most) {
		return e
	}
	return extent{min(e.low, x), max(e.high, x)}
}

// The numbers that charts can show, on both kinds of axes.
const least, most = 1e-100, 1e100

// logAxis makes a a logarithmic axis over e.
func logAxis(a *plot.Axis, e extent) {
	if e.low > e.high {
		e = extent{1, 1}
	}
	e.low, e.high = e.low/1.15, e.high*1.15
	a.Min, a.Max, a.Scale, a.Tick.Marker = e.low, e.high, plot.LogScale{}, plot.ConstantTicks(logTicks(e))
}

// logTicks returns ticks at round numbers, no more than fit beside each other.
func logTicks(e extent) []plot.Tick {
	const fit = 7
	for _, factors := range [][]float64{{1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 3, 5}, {1, 2, 5}, {1, 3}, {1}} {
		if ticks := ticksAt(e, factors, 1); len(ticks) <= fit && (len(ticks) > 1 || len(factors) == 1) {
			return ticks
		}
	}
	for step := 2; ; step++ {
		if ticks := ticksAt(e, []float64{1}, step); len(ticks) <= fit {
			return ticks
		}
	}
}

// ticksAt returns ticks at factors of each power of ten whose exponent step divides.
func ticksAt(e extent, factors []float64, step int) []plot.Tick {
	var ticks []plot.Tick
	for power := int(math.Floor(math.Log10(e.low))); power <= int(math.Ceil(math.Log10(e.high))); power++ {
		if power%step != 0 {
			continue
		}
		for _, f := range factors {
			if x := f * math.Pow10(power); x >= e.low && x <= e.high {
				ticks = append(ticks, plot.Tick{Value: x, Label: tickLabel(x)})
			}
		}
	}
	return ticks
}

// tickLabel returns x with the prefix of its thousands: 1.5, 20 k.
func tickLabel(x float64) string {
	if x >= 1000 && x < 1e15 {
		value, prefix := humanize.ComputeSI(x)
		return strconv.FormatFloat(value, 'g', 3, 64) + " " + prefix
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// zeroAxis makes a an axis from 0 up to high.
func zeroAxis(a *plot.Axis, high float64) {
	a.Min, a.Max = 0, high*1.05
	var ticks []plot.Tick
	for _, t := range (plot.DefaultTicks{}).Ticks(0, a.Max) {
		if !t.IsMinor() && t.Value <= a.Max {
			ticks = append(ticks, plot.Tick{Value: t.Value, Label: tickLabel(t.Value)})
		}
	}
	a.Tick.Marker = plot.ConstantTicks(ticks)
}

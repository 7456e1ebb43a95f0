package durability

import (
	"fmt"
	"math"

	"github.com/okradb/okra-go/bench"
	"github.com/okradb/okra-go/bench/suite"
)

// derive returns what durability costs, the prediction of a large batch beside what was measured,
// and what group commit gives back. A table without lines is left out.
func derive(results []suite.Result) []bench.Table {
	all := []bench.Table{costTable(results), predictionTable(results), givenBackTable(results)}
	var tables []bench.Table
	for _, t := range all {
		if len(t.Lines) > 1 {
			tables = append(tables, t)
		}
	}
	return tables
}

// prices are what one side takes at one number of rows and size of values, in µs a write.
type prices struct {
	side, value              string
	rows                     int64
	memory, durable, batched suite.SideResult
}

// sync is what durability costs a write with a transaction of its own, in µs.
func (p prices) sync() float64 { return p.durable.Median - p.memory.Median }

// pricesOf returns the prices of each side at each number of rows that has all of them, in the
// order of the results.
func pricesOf(results []suite.Result) []prices {
	var all []prices
	for _, first := range results {
		if first.Group != groupWrites || first.Name != memory {
			continue
		}
		for _, side := range first.Sides {
			p := prices{side: side.Name, value: first.Param("value"), rows: first.Ops}
			for _, r := range results {
				s, ok := r.Side(side.Name)
				if !ok || r.Group != groupWrites || r.Ops != p.rows || r.Param("value") != p.value {
					continue
				}
				switch r.Name {
				case memory:
					p.memory = s
				case durable:
					p.durable = s
				case batched:
					p.batched = s
				}
			}
			if p.memory.Median > 0 && p.durable.Median > 0 && p.batched.Median > 0 {
				all = append(all, p)
			}
		}
	}
	return all
}

// ends returns the prices of the side at the smallest and at the largest number of rows, and
// false if there are none.
func ends(all []prices, side, value string) (smallest, largest prices, ok bool) {
	for _, p := range all {
		if p.side != side || p.value != value {
			continue
		}
		if !ok || p.rows < smallest.rows {
			smallest = p
		}
		if !ok || p.rows > largest.rows {
			largest = p
		}
		ok = true
	}
	return smallest, largest, ok
}

// predict returns how long a batch of so many writes takes, in ms, if its time grows as evenly
// from there on as it does between the batches of a and b. It returns false if that is noise: if
// the ranges of both times overlap, or the larger batch took less.
func predict(a, b prices, writes int64) (float64, bool) {
	if b.batched.Min*float64(b.rows) <= a.batched.Max*float64(a.rows) {
		return 0, false
	}
	timeA, timeB := a.batched.Median*float64(a.rows), b.batched.Median*float64(b.rows)
	perWrite := (timeB - timeA) / float64(b.rows-a.rows)
	return (timeA + perWrite*float64(writes-a.rows)) / 1e3, true
}

// same is what stands where ranges overlap.
const same = bench.VerdictSame

func costTable(results []suite.Result) bench.Table {
	t := bench.Table{
		Title: "What durability costs (µs a write; cost: durable - memory, and its share of durable, " +
			"\"same\" where the ranges overlap)",
		Labels: 3,
		Lines: [][]string{{
			"rows", "value", "side", "memory", "durable", "batched", "cost in ms", "share",
		}},
	}
	for _, p := range pricesOf(results) {
		cost, share := same, same
		if p.durable.Min > p.memory.Max || p.durable.Max < p.memory.Min {
			cost, share = fmt.Sprintf("%.3f", p.sync()/1e3), percent(p.sync()/p.durable.Median)
		}
		t.Lines = append(t.Lines, []string{
			bench.FormatEntries(int(p.rows)), p.value, p.side, bench.FormatFigure(p.memory.Median),
			bench.FormatFigure(p.durable.Median), bench.FormatFigure(p.batched.Median), cost, share,
		})
	}
	return t
}

func predictionTable(results []suite.Result) bench.Table {
	t := bench.Table{
		Title: "A larger batch in ms: as predicted from the smallest and the largest above, and as measured " +
			"(\"none\": the ranges of those two overlap; \"same\": what was measured has the prediction in its range)",
		Labels: 3,
		Lines:  [][]string{{"rows", "value", "side", "predicted", "measured", "min", "max", "off by"}},
	}
	all := pricesOf(results)
	for _, r := range results {
		if r.Group != groupBatch {
			continue
		}
		for _, s := range r.Sides {
			a, b, ok := ends(all, s.Name, r.Param("value"))
			if !ok || s.Absent != "" || a.rows == b.rows {
				continue
			}
			ms := func(perWrite float64) float64 { return perWrite * float64(r.Ops) / 1e3 }
			line := []string{
				r.Param("rows"), r.Param("value"), s.Name, "none", bench.FormatFigure(ms(s.Median)),
				bench.FormatFigure(ms(s.Min)), bench.FormatFigure(ms(s.Max)), "noise",
			}
			if predicted, ok := predict(a, b, r.Ops); ok {
				line[3], line[7] = bench.FormatFigure(predicted), same
				if predicted < ms(s.Min) || predicted > ms(s.Max) {
					line[7] = fmt.Sprintf("%+.0f %%", 100*(ms(s.Median)/predicted-1))
				}
			}
			t.Lines = append(t.Lines, line)
		}
	}
	return t
}

// givenBackTable compares the writers of a side with one alone of the same side, in the same group
// of cells.
func givenBackTable(results []suite.Result) bench.Table {
	t := bench.Table{
		Title: "What writers together get back of the time of a durable write by one alone (µs a write; " +
			"\"same\" where the ranges overlap)",
		Labels: 3,
		Lines:  [][]string{{"writers", "value", "side", "alone", "together", "given back"}},
	}
	for _, r := range results {
		if r.Group != groupCommit {
			continue
		}
		for _, s := range r.Sides {
			alone, ok := oneWriter(results, r.Param("value"), s.Name)
			if !ok || s.Absent != "" {
				continue
			}
			back := same
			switch {
			case r.Param("writers") == "1":
				back = percent(0)
			case s.Min > alone.Max || s.Max < alone.Min:
				back = percent(1 - alone.Median/s.Median) // both are writes a second
			}
			t.Lines = append(t.Lines, []string{
				r.Param("writers"), r.Param("value"), s.Name,
				bench.FormatFigure(1e6 / alone.Median), bench.FormatFigure(1e6 / s.Median), back,
			})
		}
	}
	return t
}

// oneWriter returns what a side did in the cell of one writer, in writes a second.
func oneWriter(results []suite.Result, value, side string) (suite.SideResult, bool) {
	for _, r := range results {
		if r.Group == groupCommit && r.Param("writers") == "1" && r.Param("value") == value {
			return r.Side(side)
		}
	}
	return suite.SideResult{}, false
}

// percent returns x in percent.
func percent(x float64) string {
	return fmt.Sprintf("%.0f %%", math.Round(100*x)+0) // + 0: no "-0"
}

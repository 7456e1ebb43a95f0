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
	results = suite.Latest(results)
	all := []bench.Table{costTable(results), predictionTable(results), givenBackTable(results)}
	var tables []bench.Table
	for _, t := range all {
		if len(t.Lines) > 1 {
			tables = append(tables, t)
		}
	}
	return tables
}

// prices are the medians of one side at one number of rows and size of values, in µs a write.
type prices struct {
	side, value              string
	rows                     int64
	memory, durable, batched float64
}

// sync is what durability costs a write with a transaction of its own, in µs.
func (p prices) sync() float64 { return p.durable - p.memory }

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
					p.memory = s.Median
				case durable:
					p.durable = s.Median
				case batched:
					p.batched = s.Median
				}
			}
			if p.memory > 0 && p.durable > 0 && p.batched > 0 {
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
// from there on as it does between the batches of a and b.
func predict(a, b prices, writes int64) float64 {
	timeA, timeB := a.batched*float64(a.rows), b.batched*float64(b.rows)
	perWrite := (timeB - timeA) / float64(b.rows-a.rows)
	return (timeA + perWrite*float64(writes-a.rows)) / 1e3
}

func costTable(results []suite.Result) bench.Table {
	t := bench.Table{
		Title:  "What durability costs (µs a write; cost: durable - memory, and its share of durable)",
		Labels: 3,
		Lines: [][]string{{
			"rows", "value", "side", "memory", "durable", "batched", "cost in ms", "share",
		}},
	}
	for _, p := range pricesOf(results) {
		t.Lines = append(t.Lines, []string{
			bench.FormatEntries(int(p.rows)), p.value, p.side,
			bench.FormatFigure(p.memory), bench.FormatFigure(p.durable), bench.FormatFigure(p.batched),
			fmt.Sprintf("%.3f", p.sync()/1e3), percent(p.sync() / p.durable),
		})
	}
	return t
}

func predictionTable(results []suite.Result) bench.Table {
	t := bench.Table{
		Title:  "A larger batch in ms: as predicted from the smallest and the largest above, and as measured",
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
			writes := float64(r.Ops)
			predicted := predict(a, b, r.Ops)
			ms := func(perWrite float64) string { return bench.FormatFigure(perWrite * writes / 1e3) }
			line := []string{r.Param("rows"), r.Param("value"), s.Name, "none", ms(s.Median), ms(s.Min), ms(s.Max), "noise"}
			if predicted > 0 { // else the larger batch took less than the smaller one
				line[3] = bench.FormatFigure(predicted)
				line[7] = fmt.Sprintf("%+.0f %%", 100*(s.Median*writes/1e3/predicted-1))
			}
			t.Lines = append(t.Lines, line)
		}
	}
	return t
}

func givenBackTable(results []suite.Result) bench.Table {
	t := bench.Table{
		Title: "What writers together get back of that cost (µs a write; 0 %: as dear as one alone, " +
			"100 %: as in memory)",
		Labels: 3,
		Lines:  [][]string{{"writers", "value", "side", "memory", "durable", "together", "given back"}},
	}
	all := pricesOf(results)
	for _, r := range results {
		if r.Group != groupCommit {
			continue
		}
		for _, s := range r.Sides {
			alone := s.Name
			if alone == sideUpdate {
				alone = "okra"
			}
			_, p, ok := ends(all, alone, r.Param("value"))
			if !ok || s.Absent != "" || p.sync() <= 0 {
				continue
			}
			together := 1e6 / s.Median
			t.Lines = append(t.Lines, []string{
				r.Param("writers"), r.Param("value"), s.Name,
				bench.FormatFigure(p.memory), bench.FormatFigure(p.durable), bench.FormatFigure(together),
				percent((p.durable - together) / p.sync()),
			})
		}
	}
	return t
}

// percent returns x in percent.
func percent(x float64) string {
	return fmt.Sprintf("%.0f %%", math.Round(100*x)+0) // + 0: no "-0"
}

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/okradb/okra-go/bench"
	"github.com/okradb/okra-go/bench/suite"
)

// sample is a point of a curve, with the range of y.
type sample struct{ x, y, low, high float64 }

// curve is a line of a chart.
type curve struct {
	name, side string
	samples    []sample
}

// curves is what a chart of curves shows.
type curves struct {
	title, x, y string
	lines       []curve
	log         bool // both axes, else both from 0
}

const (
	curvesHeight = 230
	maxCurves    = 6 // of a chart that is easy to read
)

// add puts s into the curve of that name and side.
func (c *curves) add(name, side string, s sample) {
	for _, x := range []float64{s.x, s.y, s.low, s.high} {
		if !(x > least && x < most) {
			return
		}
	}
	i := slices.IndexFunc(c.lines, func(l curve) bool { return l.name == name && l.side == side })
	if i < 0 {
		i = len(c.lines)
		c.lines = append(c.lines, curve{name: name, side: side})
	}
	c.lines[i].samples = append(c.lines[i].samples, s)
}

// rowCharts returns a chart of time against size for each row that has several sizes.
func rowCharts(results []bench.Result) []chart {
	var all []curves
	for _, r := range results {
		i := slices.IndexFunc(all, func(c curves) bool { return c.title == r.Row })
		if i < 0 {
			i = len(all)
			all = append(all, curves{title: r.Row, x: "entries", y: "ms", log: true})
		}
		add := func(side string, s bench.Summary) {
			all[i].add("", side, sample{float64(r.Entries), s.Median, s.Median, s.Median})
		}
		add("okra", r.Okra)
		if r.Update != nil {
			add("okra Update", r.Update.Summary)
		}
		add("lmdb", r.LMDB)
	}
	return drawn(all)
}

// sizeCharts returns charts of the figures against the parameter that is a number and varies most,
// for each group of results that has one.
func sizeCharts(results []suite.Result) []chart {
	var charts []chart
	var groups []string
	for _, r := range results {
		if !slices.Contains(groups, r.Group) {
			groups = append(groups, r.Group)
		}
	}
	for _, group := range groups {
		of := slices.DeleteFunc(slices.Clone(results), func(r suite.Result) bool { return r.Group != group })
		x := sizeParam(of)
		if x == "" {
			continue
		}
		all := sizeCurves(of, x, false)
		if slices.ContainsFunc(all, func(c curves) bool { return len(c.lines) > maxCurves }) {
			all = sizeCurves(of, x, true)
		}
		charts = append(charts, drawn(all)...)
	}
	return charts
}

// sizeCurves returns curves of the results of a group over parameter x, a chart for each choice of
// the others, and for each name if they are apart.
func sizeCurves(group []suite.Result, x string, apart bool) []curves {
	var all []curves
	for _, r := range group {
		at, ok := number(r.Param(x))
		if !ok {
			continue
		}
		title, name := r.Group, r.Name
		if apart {
			title, name = title+": "+r.Name, ""
		}
		rest := slices.DeleteFunc(slices.Clone(r.Params), func(p suite.Param) bool { return p.Name == x })
		if len(rest) > 0 {
			title += ", " + paramsText(rest)
		}
		i := slices.IndexFunc(all, func(c curves) bool { return c.title == title && c.y == r.Unit })
		if i < 0 {
			i = len(all)
			all = append(all, curves{title: title, x: x, y: r.Unit, log: true})
		}
		for _, s := range r.Sides {
			if s.Absent == "" {
				all[i].add(name, s.Name, sample{at, s.Median, s.Min, s.Max})
			}
		}
	}
	return all
}

// sizeParam returns the parameter of group that has most values that are numbers, two at least, or
// "".
func sizeParam(group []suite.Result) string {
	best, most := "", 1
	seen := make(map[suite.Param]bool)
	values := make(map[string]int)
	for _, r := range group {
		for _, p := range r.Params {
			if _, ok := number(p.Value); !ok || seen[p] {
				continue
			}
			seen[p] = true
			values[p.Name]++
			if values[p.Name] > most {
				best, most = p.Name, values[p.Name]
			}
		}
	}
	return best
}

// number reads the value of a parameter that is a count or a size: 1,600, 10k, 2M, 64 KiB.
func number(s string) (float64, bool) {
	n, err := humanize.ParseBytes(s)
	return float64(n), err == nil && n > 0
}

// timelineCharts returns a chart for each cell whose sides have timelines: of each the repetition
// whose figure is nearest to the median.
func timelineCharts(results []suite.Result) []chart {
	var all []curves
	for _, r := range results {
		c := curves{title: pair{group: r.Group, name: r.Name, params: r.Params}.cell(), x: "s", y: "operations/s"}
		for _, s := range r.Sides {
			if s.Absent != "" {
				continue
			}
			m := slices.MinFunc(s.Measurements, func(a, b suite.Measurement) int {
				return cmp.Compare(distance(a.Value, s.Median), distance(b.Value, s.Median))
			})
			for _, point := range thinned(m) {
				c.add("", s.Name, point)
			}
		}
		all = append(all, c)
	}
	return drawn(all)
}

func distance(a, b float64) float64 { return max(a-b, b-a) }

// thinned returns the timeline of m as no more points than there are places for in a chart, each
// the mean of some steps.
func thinned(m suite.Measurement) []sample {
	const places = 180
	per := (len(m.Timeline) + places - 1) / places
	if per == 0 || !(m.TimelineStep > 0) {
		return nil
	}
	var samples []sample
	steps := 0
	for some := range slices.Chunk(m.Timeline, per) {
		mean := 0.0
		for _, ops := range some {
			mean += ops / float64(len(some))
		}
		steps += len(some)
		// A pause is no operations at all, which is a point of the line as well.
		mean = max(mean, 2*least)
		samples = append(samples, sample{float64(steps) * m.TimelineStep, mean, mean, mean})
	}
	return samples
}

// drawn returns a chart for each of all that has a curve of two points.
func drawn(all []curves) []chart {
	var charts []chart
	for _, c := range all {
		c.lines = slices.DeleteFunc(c.lines, func(l curve) bool { return len(l.samples) < 2 })
		if len(c.lines) == 0 {
			continue
		}
		for _, l := range c.lines {
			slices.SortStableFunc(l.samples, func(a, b sample) int { return cmp.Compare(a.x, b.x) })
		}
		charts = append(charts, c.chart())
	}
	return charts
}

func (c curves) chart() chart {
	items := c.legend()
	rows := len(legendRows(items, chartWidth))
	axes := ""
	if c.log {
		axes = ", on logarithmic axes"
	}
	var names []string
	for _, item := range items {
		names = append(names, item.words)
	}
	return chart{
		title:       c.title,
		width:       chartWidth,
		description: fmt.Sprintf("%s against %s%s: %s.", c.y, c.x, axes, strings.Join(names, "; ")),
		height:      curvesHeight + legendHeight*vg.Length(rows),
		draw: func(canvas draw.Canvas) {
			c.plot().Draw(draw.Crop(drawLegend(canvas, items), 4, -14, 2, -6))
		},
	}
}

// styles returns the colour of a side, and the shape and dashes of a name, by their place.
func (c curves) styles(l curve) (draw.GlyphStyle, draw.LineStyle) {
	var sides, names []string
	for _, line := range c.lines {
		if !slices.Contains(sides, line.side) {
			sides = append(sides, line.side)
		}
		if !slices.Contains(names, line.name) {
			names = append(names, line.name)
		}
	}
	side, name := slices.Index(sides, l.side), slices.Index(names, l.name)
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.PyramidGlyph{}, draw.SquareGlyph{}, draw.RingGlyph{},
		draw.CrossGlyph{}, draw.TriangleGlyph{}, draw.BoxGlyph{}, draw.PlusGlyph{}}
	dashes := [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 2, 2, 2}, {12, 3}, {4, 6}, {12, 2, 2, 2, 2, 2}, {1, 4}}
	clr := seriesRoles[side%len(seriesRoles)].color()
	if len(names) == 1 {
		name = side + side/len(seriesRoles) // so that no two of 32 sides have colour and shape in common
	}
	mark := draw.GlyphStyle{Color: clr, Radius: 3, Shape: shapes[name%len(shapes)]}
	if !c.log {
		mark.Radius = 0 // a timeline has too many points for marks
	}
	return mark, draw.LineStyle{Color: clr, Width: 1.5, Dashes: dashes[name%len(dashes)]}
}

func (c curves) legend() []legendItem {
	var items []legendItem
	for _, l := range c.lines {
		mark, line := c.styles(l)
		items = append(items, legendItem{strings.TrimSpace(l.name + " " + l.side), mark, line})
	}
	return items
}

func (c curves) plot() *plot.Plot {
	p := newPlot()
	p.X.Label.Text, p.Y.Label.Text = label(c.x), label(c.y)
	x, y := none, none
	for _, l := range c.lines {
		for _, s := range l.samples {
			x, y = x.with(s.x), y.with(s.low).with(s.high)
		}
	}
	if c.log {
		logAxis(&p.X, x)
		logAxis(&p.Y, y)
	} else {
		zeroAxis(&p.X, x.high)
		zeroAxis(&p.Y, y.high)
	}
	lines := plotter.NewGrid()
	lines.Vertical.Color, lines.Horizontal.Color = grid.color(), grid.color()
	p.Add(lines)
	for _, l := range c.lines {
		mark, line := c.styles(l)
		points := make(plotter.XYs, len(l.samples))
		for i, s := range l.samples {
			points[i] = plotter.XY{X: s.x, Y: s.y}
			if s.low < s.high {
				p.Add(&plotter.Line{XYs: plotter.XYs{{X: s.x, Y: s.low}, {X: s.x, Y: s.high}},
					LineStyle: draw.LineStyle{Color: line.Color, Width: 1}})
			}
		}
		p.Add(&plotter.Line{XYs: points, LineStyle: line})
		if mark.Radius > 0 {
			p.Add(&plotter.Scatter{XYs: points, GlyphStyle: mark})
		}
	}
	return p
}

package report

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/okradb/okra-go/bench"
)

// ratioLine is a line of a chart of ratios.
type ratioLine struct {
	label string
	pairs []pair // a mark each; a single one is shown with its range
}

const (
	lineHeight = 27
	axisHeight = 46
	maxLines   = 40 // of a chart
)

// ratioCharts returns charts with a line for each pair, of a group each and of so many lines that
// the axis is not far.
func ratioCharts(pairs []pair) []chart {
	var charts []chart
	var groups []string
	for _, p := range pairs {
		if !slices.Contains(groups, p.group) {
			groups = append(groups, p.group)
		}
	}
	for _, group := range groups {
		var lines []ratioLine
		for _, p := range pairs {
			if p.group != group {
				continue
			}
			one := p
			one.group = ""
			lines = append(lines, ratioLine{one.cell() + " – " + p.rival, []pair{p}})
		}
		title := "Ratios"
		if group != "" {
			title += ": " + group
		}
		for part := range slices.Chunk(lines, maxLines/2) {
			charts = append(charts, ratioChart(title, part))
		}
	}
	return charts
}

// mainChart returns the chart that shows all of r at a glance, or false if nothing was compared.
// Its lines are as fine as there is room: names in groups, groups, or whole sections.
func (r *Report) mainChart() (chart, bool) {
	var lines []ratioLine
	for _, name := range []func(p pair) string{
		func(p pair) string { return pair{group: p.group, name: p.name}.cell() },
		func(p pair) string { return p.group },
		func(pair) string { return "" },
	} {
		lines = r.linesBy(name)
		if len(lines) <= maxLines {
			break
		}
	}
	if len(lines) == 0 || len(lines) > maxLines {
		return chart{}, false
	}
	c := ratioChart(capital(r.side())+" beside others: ratios of cost", lines)
	c.description += " " + r.summary()
	return c, true
}

// linesBy returns a line for each section and name, in order.
func (r *Report) linesBy(name func(pair) string) []ratioLine {
	var lines []ratioLine
	at := make(map[string]int)
	for _, p := range r.pairs {
		if p.ownWay() {
			continue
		}
		text := name(p)
		if len(r.sections) > 1 {
			text = p.section.title
			if name := name(p); name != "" {
				text += " · " + name
			}
		}
		if text == "" {
			text = p.section.title
		}
		i, ok := at[text]
		if !ok {
			i = len(lines)
			at[text] = i
			lines = append(lines, ratioLine{label: text})
		}
		lines[i].pairs = append(lines[i].pairs, p)
	}
	return lines
}

// ratioChart draws lines one under the other, each under its label.
func ratioChart(title string, lines []ratioLine) chart {
	side, rival := lines[0].pairs[0].side, lines[0].pairs[0].rival
	for _, line := range lines {
		for _, p := range line.pairs {
			if p.side != side {
				side = "the first"
			}
			if p.rival != rival {
				rival = "the other"
			}
		}
	}
	c := chart{
		title: title,
		description: fmt.Sprintf("Cost of %s over that of %s, %s. Left of 1 %s is better.",
			side, rival, count(len(lines), "line", "lines"), side),
		height: axisHeight + 22 + lineHeight*vg.Length(len(lines)),
	}
	c.draw = func(canvas draw.Canvas) {
		drawRatios(canvas, lines, fmt.Sprintf("◂ %.14s better, cost below 1    %.14s better ▸", side, rival))
	}
	return c
}

func drawRatios(canvas draw.Canvas, lines []ratioLine, axis string) {
	p := newPlot()
	p.HideY()
	e := extent{0.8, 1.25}
	for _, line := range lines {
		for _, pair := range line.pairs {
			e = e.with(pair.ratio)
			if len(line.pairs) == 1 {
				e = e.with(pair.low).with(pair.high)
			}
		}
	}
	logAxis(&p.X, e)
	p.X.Padding = 0
	p.X.Label.Text = label(axis)
	p.Y.Min, p.Y.Max = 0, float64(len(lines))
	p.Add(ratioMarks(lines))
	legend := []legendItem{
		{"faster", mark(bench.VerdictFaster), draw.LineStyle{}},
		{"same", mark(bench.VerdictSame), draw.LineStyle{}},
		{"slower", mark(bench.VerdictSlower), draw.LineStyle{}},
	}
	rest := drawLegend(canvas, legend)
	p.Draw(draw.Crop(rest, 12, -12, 2, -4))
}

// ratioMarks plots lines.
type ratioMarks []ratioLine

// Plot is called by the plotting library.
func (lines ratioMarks) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, tick := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		c.StrokeLine2(draw.LineStyle{Color: grid.color(), Width: 1}, x(tick.Value), c.Min.Y, x(tick.Value), c.Max.Y)
	}
	c.StrokeLine2(draw.LineStyle{Color: muted.color(), Width: 1.5}, x(1), c.Min.Y, x(1), c.Max.Y)
	for i, line := range lines {
		top := y(float64(len(lines) - i))
		at := top - 19
		// The grid must not cross the words.
		c.FillPolygon(paper.color(), []vg.Point{
			{X: c.Min.X, Y: top - 12}, {X: c.Max.X, Y: top - 12}, {X: c.Max.X, Y: top}, {X: c.Min.X, Y: top},
		})
		figure := ratioRange(line.pairs)
		words := style(smallText, ink, draw.XLeft, draw.YTop)
		right := c.Max.X - widthOf(words, figure)
		c.FillText(words, vg.Point{X: c.Min.X, Y: top - 1}, fitted(words, line.label, right-8-c.Min.X))
		c.FillText(words, vg.Point{X: right, Y: top - 1}, figure)
		for _, pair := range line.pairs {
			m := mark(pair.verdict)
			within := func(ratio float64) vg.Length { return x(min(max(ratio, p.X.Min), p.X.Max)) }
			if len(line.pairs) == 1 {
				c.StrokeLine2(draw.LineStyle{Color: m.Color, Width: 1.5}, within(pair.low), at, within(pair.high), at)
			}
			c.DrawGlyphNoClip(m, vg.Point{X: within(pair.ratio), Y: at})
		}
	}
}

// ratioRange returns the ratio of a pair with its verdict, or the range of several.
func ratioRange(pairs []pair) string {
	if len(pairs) == 1 {
		return bench.FormatRatio(pairs[0].ratio) + " " + pairs[0].verdict
	}
	e := none
	for _, p := range pairs {
		e = e.with(p.ratio)
	}
	return bench.FormatRatio(e.low) + " – " + bench.FormatRatio(e.high)
}

// fitted returns s, cut so that it is no wider than room.
func fitted(words draw.TextStyle, s string, room vg.Length) string {
	s = label(s)
	runes := []rune(s)
	for len(runes) > 1 && widthOf(words, s) > room {
		runes = runes[:len(runes)-1]
		s = string(runes) + "…"
	}
	return s
}

// mark is how a verdict is shown: by colour and by shape.
func mark(verdict string) draw.GlyphStyle {
	switch verdict {
	case bench.VerdictFaster:
		return draw.GlyphStyle{Color: series1.color(), Radius: 4, Shape: draw.CircleGlyph{}}
	case bench.VerdictSlower:
		return draw.GlyphStyle{Color: series2.color(), Radius: 4, Shape: draw.PyramidGlyph{}}
	}
	return draw.GlyphStyle{Color: muted.color(), Radius: 3.5, Shape: draw.RingGlyph{}}
}

// legendItem explains a mark or a line.
type legendItem struct {
	words string
	mark  draw.GlyphStyle
	line  draw.LineStyle // not drawn if it has no width
}

const legendHeight = 17 // of a row

// legendRows returns how items stand in rows.
func legendRows(items []legendItem, width vg.Length) [][]legendItem {
	words := style(smallText, ink, draw.XLeft, draw.YCenter)
	var rows [][]legendItem
	room := vg.Length(0)
	for _, item := range items {
		item.words = fitted(words, item.words, width-60)
		need := widthOf(words, item.words) + 40
		if len(rows) == 0 || need > room {
			rows = append(rows, nil)
			room = width
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], item)
		room -= need
	}
	return rows
}

// drawLegend draws items at the top of c and returns the rest of it.
func drawLegend(c draw.Canvas, items []legendItem) draw.Canvas {
	words := style(smallText, ink, draw.XLeft, draw.YCenter)
	rows := legendRows(items, c.Max.X-c.Min.X)
	for i, row := range rows {
		x, y := c.Min.X+12, c.Max.Y-legendHeight*(vg.Length(i)+0.5)
		for _, item := range row {
			if item.line.Width > 0 {
				c.StrokeLine2(item.line, x, y, x+22, y)
			}
			c.DrawGlyph(item.mark, vg.Point{X: x + 11, Y: y})
			c.FillText(words, vg.Point{X: x + 27, Y: y}, item.words)
			x += widthOf(words, item.words) + 40
		}
	}
	return draw.Crop(c, 0, 0, 0, -legendHeight*vg.Length(len(rows)))
}

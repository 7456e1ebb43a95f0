package report

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/okradb/okra-go/bench"
)

// ratioLine is a line of a chart of ratios. Without pairs it is the heading of those that follow.
type ratioLine struct {
	label string
	pairs []pair // a mark each; a single one is shown with its range
}

// ratioLook is how a chart of ratios is laid out.
type ratioLook struct {
	width  vg.Length
	labels vg.Length // width of the column of labels; 0 if these stand above their lines
	text   float64   // size
}

var (
	narrow = ratioLook{width: chartWidth, text: smallText}       // for a page on a phone
	wide   = ratioLook{width: 800, labels: 260, text: chartText} // for a page of text
)

const (
	axisHeight  = 46
	maxLines    = 20 // of a chart of pairs: so many that its axis is not far
	markHeight  = 15
	labelLines  = 3 // that a label may take
	maxNameText = 200
)

// ratioCharts returns charts with a line for each pair, of a group each. What all lines of a group
// share stands in the title.
func ratioCharts(pairs []pair) []chart {
	var charts []chart
	for _, group := range distinct(pairs, func(p pair) string { return p.group }) {
		of := slices.DeleteFunc(slices.Clone(pairs), func(p pair) bool { return p.group != group })
		shared, labels := pairLabels(of)
		title := "Ratios"
		if group != "" {
			title += ": " + group
		}
		if shared != "" {
			title += " (" + shared + ")"
		}
		var lines []ratioLine
		for i, p := range of {
			lines = append(lines, ratioLine{labels[i], []pair{p}})
		}
		parts := slices.Collect(slices.Chunk(lines, maxLines))
		for i, part := range parts {
			name := title
			if len(parts) > 1 {
				name = fmt.Sprintf("%s, part %d of %d", title, i+1, len(parts))
			}
			charts = append(charts, narrow.chart(name, part))
		}
	}
	return charts
}

// pairLabels returns what names each of pairs, less what they all share.
func pairLabels(pairs []pair) (shared string, labels []string) {
	same, differ := sharedParams(pairs, func(p pair) []param { return p.params })
	rivals := distinct(pairs, func(p pair) string { return p.rival })
	for _, p := range pairs {
		text := p.name
		if words := paramsText(differ(p.params)); words != "" {
			text += ", " + words
		}
		if len(rivals) > 1 {
			text += " – beside " + p.rival
		}
		labels = append(labels, text)
	}
	return paramsText(same), labels
}

// chart draws lines one under the other.
func (look ratioLook) chart(title string, lines []ratioLine) chart {
	var pairs []pair
	count := 0
	for _, line := range lines {
		pairs = append(pairs, line.pairs...)
		if len(line.pairs) > 0 {
			count++
		}
	}
	side, rival := sideOf(pairs), "the other's"
	if !slices.ContainsFunc(pairs, func(p pair) bool { return !p.plain() }) {
		rival = "plain LMDB's"
	}
	axis := fmt.Sprintf("%s's cost / %s, below 1 %[1]s is cheaper", side, rival)
	height := vg.Length(axisHeight)
	for _, line := range lines {
		height += look.height(line)
	}
	legend := ratioLegend(side, lines)
	height += legendHeight * vg.Length(len(legendRows(legend, look.width)))
	return chart{
		title: title, description: fmt.Sprintf("%s. Lines: %d.", capital(axis), count),
		width: look.width, height: height,
		draw: func(canvas draw.Canvas) { look.draw(canvas, lines, legend, axis) },
	}
}

func (look ratioLook) draw(canvas draw.Canvas, lines []ratioLine, legend []legendItem, axis string) {
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
	p.Y.Min, p.Y.Max = 0, 1
	p.Add(ratioMarks{look, lines})
	rest := drawLegend(canvas, legend)
	left, right := vg.Length(12), vg.Length(12)
	if look.labels > 0 {
		left, right = look.labels, look.figures(lines)+12
	}
	// The library would make room for the name of a logarithmic axis in a wrong place.
	name := style(look.text, muted, draw.XCenter, draw.YBottom)
	middle := (rest.Min.X + left + rest.Max.X - right) / 2
	rest.FillText(name, vg.Point{X: middle, Y: rest.Min.Y + 4}, fitted(name, axis, look.width-24))
	p.Draw(draw.Crop(rest, left, -right, 6+vg.Length(look.text)*1.2, -4))
}

// ratioLegend explains the marks that lines have.
func ratioLegend(side string, lines []ratioLine) []legendItem {
	items := []legendItem{
		{side + " faster", mark(bench.VerdictFaster), draw.LineStyle{}},
		{"same", mark(bench.VerdictSame), draw.LineStyle{}},
		{side + " slower", mark(bench.VerdictSlower), draw.LineStyle{}},
	}
	if slices.ContainsFunc(lines, func(l ratioLine) bool { return len(l.pairs) > 1 }) {
		items = append(items, legendItem{"median of several", medianMark, draw.LineStyle{}})
	}
	return items
}

func (look ratioLook) words(x draw.XAlignment) draw.TextStyle {
	return style(look.text, ink, x, draw.YTop)
}

// figures is the width of the column of figures, where labels have one.
func (look ratioLook) figures(lines []ratioLine) vg.Length {
	width := vg.Length(0)
	for _, line := range lines {
		if len(line.pairs) > 0 {
			width = max(width, widthOf(look.words(draw.XLeft), ratioText(line.pairs)))
		}
	}
	return width
}

// label returns the label of line in as many lines of text as it takes.
func (look ratioLook) label(line ratioLine) []string {
	room := look.width - 20
	switch {
	case look.labels > 0 && len(line.pairs) > 0:
		room = look.labels - 16
	case len(line.pairs) > 0:
		room -= widthOf(look.words(draw.XLeft), ratioText(line.pairs)) + 8
	}
	return wrapped(look.words(draw.XLeft), line.label, room)
}

// height returns that of line.
func (look ratioLook) height(line ratioLine) vg.Length {
	words := vg.Length(len(look.label(line))) * vg.Length(look.text) * 1.2
	switch {
	case len(line.pairs) == 0:
		return words + 9
	case look.labels > 0:
		return words + 6
	}
	return words + markHeight
}

// ratioMarks plots lines.
type ratioMarks struct {
	ratioLook
	lines []ratioLine
}

// Plot is called by the plotting library.
func (m ratioMarks) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	for _, tick := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		c.StrokeLine2(draw.LineStyle{Color: grid.color(), Width: 1}, x(tick.Value), c.Min.Y, x(tick.Value), c.Max.Y)
	}
	c.StrokeLine2(draw.LineStyle{Color: muted.color(), Width: 1.5}, x(1), c.Min.Y, x(1), c.Max.Y)
	top := c.Max.Y
	for _, line := range m.lines {
		m.drawLine(c, line, top, func(ratio float64) vg.Length { return x(min(max(ratio, p.X.Min), p.X.Max)) })
		top -= m.height(line)
	}
}

// drawLine draws line below top, its marks where x says.
func (m ratioMarks) drawLine(c draw.Canvas, line ratioLine, top vg.Length, x func(float64) vg.Length) {
	label, height := m.label(line), m.height(line)
	step := vg.Length(m.text) * 1.2
	left, right := c.Min.X, c.Max.X
	at := top - height + markHeight/2
	if m.labels > 0 {
		left, right = c.Min.X-m.labels+4, c.Max.X+m.figures(m.lines)+8
		at = top - height/2
	}
	first := top - 2
	if len(line.pairs) == 0 {
		first -= 5
	}
	if m.labels == 0 || len(line.pairs) == 0 { // the grid must not cross the words
		bottom := first - step*vg.Length(len(label))
		c.FillPolygon(paper.color(), []vg.Point{{X: c.Min.X - 2, Y: bottom}, {X: c.Max.X + 2, Y: bottom},
			{X: c.Max.X + 2, Y: top}, {X: c.Min.X - 2, Y: top}})
	}
	words := m.words(draw.XLeft)
	if len(line.pairs) == 0 {
		words.Color = muted.color()
	}
	for i, text := range label {
		c.FillText(words, vg.Point{X: left, Y: first - step*vg.Length(i)}, text)
	}
	if len(line.pairs) == 0 {
		bottom := top - height + 1
		c.StrokeLine2(draw.LineStyle{Color: grid.color(), Width: 1}, left, bottom, right, bottom)
		return
	}
	figure := ratioText(line.pairs)
	if m.labels > 0 {
		c.FillText(m.words(draw.XLeft), vg.Point{X: c.Max.X + 12, Y: first}, figure)
	} else {
		c.FillText(m.words(draw.XLeft), vg.Point{X: right - widthOf(words, figure), Y: first}, figure)
	}
	low, high := line.pairs[0].low, line.pairs[0].high
	if len(line.pairs) > 1 {
		_, low, high = ratioSpread(line.pairs)
	}
	ends := draw.LineStyle{Color: muted.color(), Width: 1.5}
	if len(line.pairs) == 1 {
		ends.Color = mark(line.pairs[0].verdict).Color
	}
	c.StrokeLine2(ends, x(low), at, x(high), at)
	for _, pair := range line.pairs {
		c.DrawGlyphNoClip(mark(pair.verdict), vg.Point{X: x(pair.ratio), Y: at})
	}
	if len(line.pairs) > 1 {
		median, _, _ := ratioSpread(line.pairs)
		c.DrawGlyphNoClip(medianMark, vg.Point{X: x(median), Y: at})
	}
}

// ratioText returns the ratio of a pair with its verdict, or the median and the range of several.
func ratioText(pairs []pair) string {
	if len(pairs) == 1 {
		return formatRatio(pairs[0].ratio) + " " + pairs[0].verdict
	}
	median, low, high := ratioSpread(pairs)
	return fmt.Sprintf("%s (%s – %s)", formatRatio(median), formatRatio(low), formatRatio(high))
}

// ratioSpread returns the median of the ratios of pairs, and the least and the largest.
func ratioSpread(pairs []pair) (median, low, high float64) {
	var ratios []float64
	for _, p := range pairs {
		ratios = append(ratios, p.ratio)
	}
	s := bench.Statistics(ratios)
	return s.Median, s.Min, s.Max
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

// medianMark shows the median of several ratios.
var medianMark = draw.GlyphStyle{Color: ink.color(), Radius: 7, Shape: barGlyph{}}

// barGlyph is an upright bar.
type barGlyph struct{}

// DrawGlyph is called by the plotting library.
func (barGlyph) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	c.StrokeLine2(draw.LineStyle{Color: s.Color, Width: 2.5}, at.X, at.Y-s.Radius, at.X, at.Y+s.Radius)
}

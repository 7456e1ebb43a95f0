package report

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"regexp"
	"strings"
	"unicode"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// chart is a picture.
type chart struct {
	title, description string
	width, height      vg.Length
	draw               func(draw.Canvas)
}

// chartWidth suits a phone; elsewhere charts stand beside each other.
const chartWidth vg.Length = 380

// A role is a colour by what it is for. Charts are drawn in roles, which a palette turns into
// colours, so that one drawing does for light and dark.
type role uint8

const (
	paper role = iota + 1
	ink
	muted
	grid
	series1 // okra
	series2
	series3
	series4
)

var seriesRoles = []role{series1, series2, series3, series4}

// color returns what r is drawn in: no colour that anybody would choose.
func (r role) color() color.Color { return color.NRGBA{R: 1, G: 2, B: uint8(r), A: 255} }

// palette has a colour for each role.
type palette [series4 + 1]string

var (
	// themed takes the colours of the page around the picture.
	themed = palette{"", "var(--paper)", "var(--ink)", "var(--muted)", "var(--grid)",
		"var(--s1)", "var(--s2)", "var(--s3)", "var(--s4)"}

	light = palette{"", "#ffffff", "#1a1d21", "#59636e", "#d8dde2", "#0a5fc0", "#b8410a", "#13763a", "#7e22ce"}
	dark  = palette{"", "#14171a", "#e8eaed", "#a2acb6", "#3a424a", "#6cb0ff", "#ff9d5c", "#6ddb8d", "#cf9bff"}
)

var drawnRole = regexp.MustCompile(`(fill|stroke):#0102([0-9A-F]{2})`)

// in returns svg with its roles in the colours of p.
func (p palette) in(svg string) string {
	return drawnRole.ReplaceAllStringFunc(svg, func(drawn string) string {
		property, code, _ := strings.Cut(drawn, ":#0102")
		for r := paper; r <= series4; r++ {
			if code == fmt.Sprintf("%02X", uint8(r)) {
				return property + ":" + p[r]
			}
		}
		return drawn
	})
}

// svg returns the picture as an element for a page, whose colours it takes. The id must be its own
// in the page.
func (c chart) svg(id string) string {
	title := fmt.Sprintf(`<title id="%s-t">%s</title><desc id="%[1]s-d">%[3]s</desc>`, id,
		html.EscapeString(plain(c.title)), html.EscapeString(plain(c.description)))
	begin := fmt.Sprintf(`<svg role="img" aria-labelledby="%s-t" aria-describedby="%[1]s-d" viewBox="0 0 %g %g">`,
		id, c.width.Points(), c.height.Points())
	return begin + title + themed.in(c.body())
}

// file returns the picture as a file of its own, on a light ground of its own.
func (c chart) file() string {
	begin := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" role="img" width="%g" height="%g" viewBox="0 0 %[1]g %[2]g">`,
		c.width.Points(), c.height.Points())
	title := fmt.Sprintf("<title>%s</title><desc>%s</desc>\n<rect width=\"100%%\" height=\"100%%\" fill=\"%s\"/>\n",
		html.EscapeString(plain(c.title)), html.EscapeString(plain(c.description)), light[paper])
	return begin + title + light.in(c.body())
}

// body draws the picture, and returns what stands in its element, with the element's end.
func (c chart) body() string {
	canvas := vgsvg.NewWith(vgsvg.UseWH(c.width, c.height))
	c.draw(draw.New(canvas))
	var out bytes.Buffer
	_, _ = canvas.WriteTo(&out) // a buffer takes all
	svg := out.String()
	begin := strings.Index(svg, "<svg")
	svg = svg[begin+strings.Index(svg[begin:], ">")+1:]
	// The metrics of Liberation Sans, which texts are measured with, are those of Arial.
	return strings.ReplaceAll(svg, "font-family:Liberation Sans;", "font-family:Liberation Sans,Arial,Helvetica,sans-serif;")
}

var fonts = font.NewCache(liberation.Collection())

// style is that of text in a chart.
func style(size float64, r role, x draw.XAlignment, y draw.YAlignment) text.Style {
	return text.Style{
		Color: r.color(), XAlign: x, YAlign: y, Handler: text.Plain{Fonts: fonts},
		Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Length(size)},
	}
}

// widthOf returns room enough for s where a browser has no font of the metrics that it was measured
// with.
func widthOf(words text.Style, s string) vg.Length { return words.Width(s) * 1.16 }

const (
	smallText = 10.5
	chartText = 12
)

// newPlot returns an empty plot in the style of all charts.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	p.Title.TextStyle = style(chartText, ink, draw.XCenter, draw.YTop)
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Color, axis.Tick.Color = muted.color(), muted.color()
		axis.LineStyle.Color, axis.Tick.LineStyle.Color = muted.color(), muted.color()
		axis.Tick.Length = 3
		axis.Padding = 4
	}
	p.X.Label.TextStyle = style(smallText, muted, draw.XCenter, draw.YBottom)
	p.Y.Label.TextStyle = style(smallText, muted, draw.XCenter, draw.YBottom)
	p.X.Label.Padding, p.Y.Label.Padding = 3, 3
	p.X.Tick.Label = style(smallText, ink, draw.XCenter, draw.YTop)
	p.Y.Tick.Label = style(smallText, ink, draw.XRight, draw.YCenter)
	return p
}

// maxLabel is the number of characters of a label in a chart.
const maxLabel = 52

// label returns s as a line of text, cut if it is long.
func label(s string) string {
	runes := []rune(plain(s))
	if len(runes) > maxLabel {
		return string(runes[:maxLabel-1]) + "…"
	}
	return string(runes)
}

// plain returns s with a space for each character that is no text: no file format that a report is
// written in has a place for them.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, s)
}

package report

import (
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

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

// wrapped returns s in lines no wider than room, broken at spaces. What is longer than some lines
// is cut.
func wrapped(words draw.TextStyle, s string, room vg.Length) []string {
	runes := []rune(plain(s))
	s = string(runes[:min(len(runes), maxNameText)])
	var lines []string
	line := ""
	rest := strings.Fields(s)
	for i, word := range rest {
		longer := strings.TrimSpace(line + " " + word)
		if line == "" || widthOf(words, longer) <= room {
			line = longer
			continue
		}
		if len(lines) == labelLines-1 {
			line += " " + strings.Join(rest[i:], " ")
			break
		}
		lines = append(lines, fitted(words, line, room))
		line = word
	}
	return append(lines, fitted(words, line, room))
}

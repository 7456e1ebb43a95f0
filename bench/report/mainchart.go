package report

import (
	"cmp"
	"slices"
)

// maxMain is the number of lines of the main chart, without headings.
const maxMain = 25

// mainChart returns the chart that shows at a glance what r says of plain LMDB, or false if nothing
// was compared with that. It has a line for each group, and for names of a group where there is
// room, those of the largest groups first.
func (r *Report) mainChart(look ratioLook) (chart, bool) {
	lines := r.mainLines()
	if len(lines) == 0 {
		return chart{}, false
	}
	c := look.chart(capital(r.side())+" beside plain LMDB: ratios of cost", lines)
	c.description += " " + r.summary()
	return c, true
}

// mainGroup is what can be one line of the main chart, or a line for each name.
type mainGroup struct {
	section *section
	name    string
	pairs   []pair
	names   []string
	apart   bool // by names
}

func (r *Report) mainLines() []ratioLine {
	groups := r.mainGroups()
	if len(groups) > maxMain {
		return sectionLines(groups)
	}
	room := maxMain - len(groups)
	largest := slices.Clone(groups)
	slices.SortStableFunc(largest, func(a, b *mainGroup) int { return len(b.pairs) - len(a.pairs) })
	for _, g := range largest {
		if more := len(g.names) - 1; more <= room {
			g.apart = true
			room -= more
		}
	}
	sections := distinct(groups, func(g *mainGroup) *section { return g.section })
	var lines []ratioLine
	for _, s := range sections {
		if len(sections) > 1 {
			lines = append(lines, ratioLine{label: s.title})
		}
		of := slices.DeleteFunc(slices.Clone(groups), func(g *mainGroup) bool { return g.section != s })
		for _, g := range of {
			lines = append(lines, g.lines(len(of) > 1)...)
		}
	}
	return lines
}

// mainGroups leaves out quick results where there are full ones of the suite.
func (r *Report) mainGroups() []*mainGroup {
	var groups []*mainGroup
	for _, p := range r.judged() {
		full := func(s *section) bool { return s.suite == p.section.suite && !s.quick }
		if p.section.quick && slices.ContainsFunc(r.sections, full) {
			continue
		}
		i := slices.IndexFunc(groups, func(g *mainGroup) bool { return g.section == p.section && g.name == p.group })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &mainGroup{section: p.section, name: p.group})
		}
		g := groups[i]
		g.pairs = append(g.pairs, p)
		if !slices.Contains(g.names, p.name) {
			g.names = append(g.names, p.name)
		}
	}
	return groups
}

// lines returns the lines of g, with its name if there are other groups beside it.
func (g *mainGroup) lines(named bool) []ratioLine {
	if whole := !g.apart || named && g.name != "" && len(g.names) == 1; whole {
		return []ratioLine{{cmp.Or(g.name, "all"), g.pairs}}
	}
	var lines []ratioLine
	for _, name := range g.names {
		line := ratioLine{label: name}
		if named && g.name != "" {
			line.label = g.name + ": " + name
		}
		for _, p := range g.pairs {
			if p.name == name {
				line.pairs = append(line.pairs, p)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// sectionLines returns a line for each section of groups, or none if that is too many.
func sectionLines(groups []*mainGroup) []ratioLine {
	var lines []ratioLine
	for _, s := range distinct(groups, func(g *mainGroup) *section { return g.section }) {
		line := ratioLine{label: s.title}
		for _, g := range groups {
			if g.section == s {
				line.pairs = append(line.pairs, g.pairs...)
			}
		}
		lines = append(lines, line)
	}
	if len(lines) > maxMain {
		return nil
	}
	return lines
}

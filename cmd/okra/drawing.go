package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"github.com/okradb/okra-go/okra"
)

// A drawing draws a tree as text, one key a line and one column a level:
//
//	2 1 0
//	●─●─●  \anchor
//	│ ├─●  a
//	│ └─●  b
//	└─●─●  c       has risen to level 1
//	  └─●  d
//
// It holds the nodes it shows of one path from the root, not the tree.
type drawing struct {
	tx       *okra.Tx
	ctx      context.Context
	out      *bufio.Writer
	notation notation
	width    int // columns of a line
	rows     int // lines to use, about; 0 is no limit
	top      int // the root's level
	bottom   int // lowest level drawn

	column int // columns a level takes
	shown  int // children shown of a node whose children do not all fit; 0 shows all
}

// draw writes the counts of the levels, the drawing and how to read it.
func (d *drawing) draw(root okra.Root) error {
	counts, err := d.countNodes()
	if err != nil {
		return err
	}
	fmt.Fprintf(d.out, "root %d %s\n\n", root.Level, root.Hash)
	fmt.Fprintf(d.out, "level %13s  children each\n", "nodes")
	for level := d.top; level >= 0; level-- {
		fmt.Fprintf(d.out, "%5d %13s", level, humanize.Comma(counts[level]))
		if level > 0 {
			fmt.Fprintf(d.out, "  %13.1f", float64(counts[level-1])/float64(counts[level]))
		}
		fmt.Fprintln(d.out)
	}
	fmt.Fprintln(d.out)

	d.column = len(strconv.Itoa(d.top)) + 1
	if d.rows > 0 && counts[d.bottom] > int64(d.rows) {
		// Each edge of the tree takes one open node a level.
		d.shown = max(4, d.rows/(2*max(1, d.top-d.bottom)))
	}
	for level := d.top; level >= d.bottom; level-- {
		fmt.Fprintf(d.out, "%-*d", d.column, level)
	}
	fmt.Fprintln(d.out, " hash      children  key")
	node, err := d.tx.Node(d.top, nil)
	if err != nil {
		return err
	}
	if err := d.branch(branch{node: node, tower: node, first: true, last: true}); err != nil {
		return err
	}
	d.legend()
	return nil
}

func (d *drawing) legend() {
	fmt.Fprintf(d.out, "\n● node    │ its children, from its own key to the next key of its level\n")
	if d.shown > 0 {
		fmt.Fprintf(d.out, "○ node whose children are not drawn    ┆ nodes left out\n")
	}
	fmt.Fprintf(d.out, "A key is in level L+1 if the hash of its node in level L is a boundary,"+
		" as 1 in %d is.\n", d.tx.Format().Q)
}

// countNodes returns the number of nodes of each level.
func (d *drawing) countNodes() ([]int64, error) {
	counts := make([]int64, d.top+1)
	entries, err := d.tx.Len()
	if err != nil {
		return nil, err
	}
	counts[0] = entries + 1
	for level := 1; level <= d.top; level++ {
		for _, err := range d.tx.Nodes(level, okra.Bounds{}) {
			if err != nil {
				return nil, err
			}
			if err := d.ctx.Err(); err != nil {
				return nil, err
			}
			counts[level]++
		}
	}
	return counts, nil
}

// A branch is a node to be drawn, with what is below it.
type branch struct {
	node  okra.Node
	tower okra.Node // the leftmost node of its line
	row   string    // its line so far, up to its column
	lead  string    // what the lines below have in front of its column
	first bool      // on the left edge of the tree
	last  bool      // on the right edge of the tree
}

// branch draws b. With all of the tree drawn each node is open, else those on the edges are.
func (d *drawing) branch(b branch) error {
	if err := d.ctx.Err(); err != nil {
		return err
	}
	if b.node.Level == d.bottom {
		return d.line(b.row+"●", b.tower)
	}
	if d.shown > 0 && !b.first && !b.last {
		return d.line(b.row+"○", b.tower)
	}
	head, left, tail, err := d.children(b.node)
	if err != nil {
		return err
	}
	bar, gap := strings.Repeat("─", d.column-1), strings.Repeat(" ", d.column-1)
	end := len(head) + len(tail) - 1
	for i, child := range append(head, tail...) {
		if i == len(head) && left > 0 {
			err := d.text(b.lead+"┆", fmt.Sprintf("%s more of level %d",
				humanize.Comma(left), child.Level))
			if err != nil {
				return err
			}
		}
		next := branch{node: child, tower: child, row: b.lead + "├" + bar,
			lead: b.lead + "│" + gap, first: b.first && i == 0, last: b.last && i == end}
		if i == end {
			next.row, next.lead = b.lead+"└"+bar, b.lead+" "+gap
		}
		if i == 0 {
			next.row, next.tower = b.row+"●"+bar, b.tower
		}
		if err := d.branch(next); err != nil {
			return err
		}
	}
	return nil
}

// children returns the children of node to draw: the first ones, the number of those left out,
// and the last ones.
func (d *drawing) children(node okra.Node) (head []okra.Node, left int64, tail []okra.Node,
	err error) {
	const tailSize = 2
	for child, err := range d.tx.Children(node.Level, node.Key) {
		if err != nil {
			return nil, 0, nil, err
		}
		if err := d.ctx.Err(); err != nil {
			return nil, 0, nil, err
		}
		child.Key = bytes.Clone(child.Key)
		if d.shown == 0 || len(head) < d.shown-tailSize {
			head = append(head, child)
			continue
		}
		tail = append(tail, child)
		if len(tail) > tailSize {
			tail = tail[1:]
			left++
		}
	}
	return head, left, tail, nil
}

// line draws the line of a key; node is the leftmost node of it.
func (d *drawing) line(row string, node okra.Node) error {
	children := ""
	if node.Level > 0 {
		count := int64(0)
		for _, err := range d.tx.Children(node.Level, node.Key) {
			if err != nil {
				return err
			}
			count++
		}
		children = humanize.Comma(count)
	}
	return d.text(row, fmt.Sprintf("%.8s  %8s  %s", node.Hash, children,
		nodeText(d.notation, node)))
}

// text writes one line: the drawn part, then what is said about it, cut to the width.
func (d *drawing) text(row, text string) error {
	full := (d.top - d.bottom + 1) * d.column
	row += strings.Repeat(" ", max(0, full-utf8.RuneCountInString(row))) + " " + text
	_, err := fmt.Fprintln(d.out, cut(row, d.width))
	return err
}

// cut returns s, or its beginning and an ellipsis if s has more than width characters.
func cut(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	return string([]rune(s)[:width-1]) + "…"
}

package main

import (
	"bufio"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v2"

	"github.com/okradb/okra-go/okra"
)

func statCommand() *cli.Command {
	return &cli.Command{
		Name:      "stat",
		Usage:     "describe the tree and the file",
		UsageText: "okra stat DIR [--json]",
		ArgsUsage: "DIR",
		Description: `Print the number of entries, the root, the format, how many nodes each level of
the tree has and how many children they have, and the sizes of the file. Every
node is read, so a big store takes a while.

Level 0 has the leaves, one for each entry, and an anchor; each higher level has
an anchor too. The height is the level of the root. Of the file's bytes some are
used and some free: what deletes and updates gave back, which later writes take
first. The map is the size up to which the file may grow. Readers are the places
of read transactions, of all programs; one that stays open makes the file grow.

Examples:
  okra stat /data/kv
  okra stat /data/kv --json | jq .free_bytes`,
		Flags: []cli.Flag{
			jsonFlag("print a JSON object, sizes in bytes"),
			progressFlag(),
			tableFlag(),
		},
		Action: onDir(0, 0, runStat),
	}
}

// A statRecord is what stat found, in JSON.
type statRecord struct {
	Entries    int64        `json:"entries"`
	Root       rootRecord   `json:"root"`
	Height     int          `json:"height"`
	Format     formatRecord `json:"format"`
	Table      string       `json:"table"`
	Levels     []levelStat  `json:"levels"` // from the root's level down
	FileBytes  int64        `json:"file_bytes"`
	UsedBytes  int64        `json:"used_bytes"`
	FreeBytes  int64        `json:"free_bytes"`
	MapBytes   int64        `json:"map_bytes"`
	Readers    int          `json:"readers"`
	MaxReaders int          `json:"max_readers"`
	LastTxn    uint64       `json:"last_txn"`
}

func runStat(c *cli.Context, dir string, _ []string) error {
	s := statRecord{Table: c.String("table")}
	err := withReader(c, dir, func(db *okra.DB) error {
		file, err := db.Stats()
		if err != nil {
			return err
		}
		s.FileBytes, s.UsedBytes, s.FreeBytes = file.FileSize, file.UsedSize, file.FreeSize
		s.MapBytes, s.LastTxn = file.MapSize, file.LastTxn
		s.Readers, s.MaxReaders = file.Slots, file.MaxReaders
		return db.View(func(tx *okra.Tx) error { return s.readTree(c, tx) })
	})
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return writeJSON(c.App.Writer, s)
	}
	out := bufio.NewWriter(c.App.Writer)
	s.print(out)
	return out.Flush()
}

// readTree fills in what the tree itself tells.
func (s *statRecord) readTree(c *cli.Context, tx *okra.Tx) error {
	root, err := tx.Root()
	if err != nil {
		return err
	}
	if s.Entries, err = tx.Len(); err != nil {
		return err
	}
	s.Root, s.Height, s.Format = newRootRecord(root), root.Level, newFormatRecord(tx.Format())
	p := newProgress(c, "nodes read")
	defer p.end()
	for level := root.Level; level >= 0; level-- {
		stat, err := readLevel(c, tx, level, p)
		if err != nil {
			return err
		}
		s.Levels = append(s.Levels, stat)
	}
	return nil
}

func (s *statRecord) print(out *bufio.Writer) {
	table := "the unnamed one"
	if s.Table != "" {
		table = escaped.text([]byte(s.Table))
	}
	fmt.Fprintf(out, "entries   %s\n", humanize.Comma(s.Entries))
	fmt.Fprintf(out, "root      %d %s\n", s.Root.Level, s.Root.Hash)
	fmt.Fprintf(out, "height    %d\n", s.Height)
	fmt.Fprintf(out, "format    version %d, K %d, Q %d, %s mode\n",
		s.Format.Version, s.Format.K, s.Format.Q, s.Format.Mode)
	fmt.Fprintf(out, "table     %s\n\n", table)

	printLevels(out, s.Levels)

	fmt.Fprintln(out)
	for _, size := range []struct {
		name  string
		bytes int64
	}{{"file", s.FileBytes}, {"used", s.UsedBytes}, {"free", s.FreeBytes}, {"map", s.MapBytes}} {
		fmt.Fprintf(out, "%-9s %-9s %20s bytes\n", size.name,
			humanize.IBytes(uint64(max(size.bytes, 0))), humanize.Comma(size.bytes))
	}
	fmt.Fprintf(out, "readers   %d of at most %d\n", s.Readers, s.MaxReaders)
	fmt.Fprintf(out, "last txn  %d\n", s.LastTxn)
}

// A levelStat describes one level of a tree. Children is nil for the leaves.
type levelStat struct {
	Level    int        `json:"level"`
	Nodes    int64      `json:"nodes"`
	Children *childStat `json:"children,omitempty"`
}

// A childStat describes how many children the nodes of a level have.
type childStat struct {
	Mean float64 `json:"mean"`
	P99  int64   `json:"p99"` // 99 of 100 nodes have at most so many
	Max  int64   `json:"max"`
}

// readLevel reads all nodes of a level and counts their children. It keeps one number for each
// count that occurs, not one for each node.
func readLevel(c *cli.Context, tx *okra.Tx, level int, p *progress) (levelStat, error) {
	stat := levelStat{Level: level}
	nodesWith := make(map[int64]int64) // by number of children
	for node, err := range tx.Nodes(level, okra.Bounds{}) {
		if err != nil {
			return stat, err
		}
		stat.Nodes++
		p.add(1)
		if err := c.Context.Err(); err != nil {
			return stat, err
		}
		if level == 0 {
			continue
		}
		var children int64
		for _, err := range tx.Children(level, node.Key) {
			if err != nil {
				return stat, err
			}
			children++
			p.add(1)
		}
		nodesWith[children]++
	}
	if level > 0 {
		stat.Children = newChildStat(nodesWith)
	}
	return stat, nil
}

// newChildStat evaluates how many nodes have each number of children.
func newChildStat(nodesWith map[int64]int64) *childStat {
	var counts []int64
	var nodes, children int64
	for count, n := range nodesWith {
		counts = append(counts, count)
		nodes += n
		children += count * n
	}
	if nodes == 0 {
		return &childStat{}
	}
	slices.Sort(counts)
	s := &childStat{Mean: float64(children) / float64(nodes), Max: counts[len(counts)-1]}
	var upTo int64
	for _, count := range counts {
		upTo += nodesWith[count]
		if upTo*100 >= nodes*99 {
			s.P99 = count
			break
		}
	}
	return s
}

// printLevels prints a table of levels.
func printLevels(out *bufio.Writer, levels []levelStat) {
	fmt.Fprintf(out, "level  %12s  %13s %7s %7s\n", "nodes", "children mean", "p99", "max")
	for _, l := range levels {
		fmt.Fprintf(out, "%5d  %12s", l.Level, humanize.Comma(l.Nodes))
		if l.Children != nil {
			fmt.Fprintf(out, "  %13.1f %7s %7s", l.Children.Mean,
				humanize.Comma(l.Children.P99), humanize.Comma(l.Children.Max))
		}
		fmt.Fprintln(out)
	}
}

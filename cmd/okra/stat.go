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

A node has Q children in the mean, and none is much wider by chance. A warning is
printed if one is, so that less than one node in a million levels would be: then
somebody chose entries that grow it, and writes under it are slow.

Level 0 has the leaves, one for each entry, and an anchor; each higher level has
an anchor too. The height is the level of the root. Of the file's bytes some are
used and some free: what deletes and updates gave back, which later writes take
first. The map is the size up to which the file may grow. Readers are the places
of read transactions, of all programs; those under way are listed, with how many
commits ago the state is that they see: one that stays open makes the file grow.

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
	Reading    []readerStat `json:"reading"` // the oldest first
	LastTxn    uint64       `json:"last_txn"`
}

// A readerStat is a read transaction that is under way.
type readerStat struct {
	PID  int    `json:"pid"`
	Txn  uint64 `json:"txn"`  // the commit which it sees
	Age  int64  `json:"age"`  // commits since then
	Dead bool   `json:"dead"` // its process is gone
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
		s.Reading = []readerStat{}
		for _, r := range file.Readers {
			s.Reading = append(s.Reading, readerStat{PID: r.PID, Txn: r.Txn, Dead: r.Dead,
				Age: int64(file.LastTxn) - int64(r.Txn)})
		}
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
	s.Root, s.Height, s.Format = newRootRecord(root), root.Level, newFormatRecord(tx.Format())
	watch, end := watched(c, "records read")
	defer end()
	shape, err := tx.ShapeWatched(watch)
	if err != nil {
		return err
	}
	s.Entries = shape.Levels[0].Nodes - 1
	for _, l := range slices.Backward(shape.Levels) {
		s.Levels = append(s.Levels, newLevelStat(l))
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
	for _, r := range s.Reading {
		dead := ""
		if r.Dead {
			dead = ", dead"
		}
		fmt.Fprintf(out, "reading   process %d, the state %d commits ago%s\n", r.PID, r.Age, dead)
	}
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
	Mean    float64 `json:"mean"`
	P99     int64   `json:"p99"` // 99 of 100 nodes have at most so many
	Max     int64   `json:"max"`
	Chance  int64   `json:"chance"`   // by chance no node would have more
	TooWide bool    `json:"too_wide"` // Max is above Chance

	// The first node with Max children; its anchor has no key.
	Widest         string `json:"widest,omitempty"`
	WidestEncoding string `json:"widest_encoding,omitempty"`
	widest         []byte
}

func newLevelStat(l okra.LevelShape) levelStat {
	s := levelStat{Level: l.Level, Nodes: l.Nodes}
	if l.Level == 0 {
		return s
	}
	s.Children = &childStat{Mean: l.Mean, P99: l.P99, Max: l.Max, Chance: l.Chance,
		TooWide: l.TooWide(), widest: l.Widest}
	if l.Widest != nil {
		s.Children.Widest, s.Children.WidestEncoding = escaped.jsonText(l.Widest)
	}
	return s
}

// printLevels prints a table of levels, and a warning for each with a node that is too wide.
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
	for _, l := range levels {
		if l.Children == nil || !l.Children.TooWide {
			continue
		}
		fmt.Fprintf(out, "\nwarning   level %d: the node %s was grown by chosen entries: it has %s"+
			" children,\n          by chance none would have more than %s; writes under it are slow\n",
			l.Level, nodeText(escaped, okra.Node{Key: l.Children.widest}),
			humanize.Comma(l.Children.Max), humanize.Comma(l.Children.Chance))
	}
}

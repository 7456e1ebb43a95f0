package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/okradb/okra-go/bench"
)

const benchDescription = `Both stores are made and filled in a new folder, which is removed at the end,
also after Ctrl-C. Only a run that was killed leaves it: okra-bench-...; delete it.
They take turns, iteration by iteration, on the same keys and values. An
iteration is one transaction, commit included. A ratio is the median time of
okra over that of LMDB: below 1 okra is faster.

Examples:

  okra bench                              all rows at 1k, 50k and 1M entries
  okra bench --entries 50k --rows set     the set rows at 50,000 entries
  okra bench --rows "get 100,iterate"     two rows
  okra bench --value-size 100 --no-sync   larger values, commits not flushed
  okra bench --dir /mnt/disk --json >old.json
  okra bench --dir /mnt/disk --compare old.json
  okra bench durability --quick           a suite: the word is a command below

With --compare each row is judged against an earlier run: "slower" or "faster"
if the middle halves of the ratios of the iterations do not overlap and the
ratios differ by more than a fifth, else "same".

Three rows run only when --rows names them; unless --entries is given, each has
a size of its own:

  wide node             puts into a node that chosen entries have made 100,000
                        children wide, beside one pass over it
  gets by goroutines    gets by 1, 2, 4 and 16 goroutines, alone and beside one
                        that writes, at 1M entries
  group commit          durable writes by 1, 8 and 64 goroutines, at 50,000
                        entries: Batch and Update of okra, Update of LMDB`

// benchCommand is okra bench: okra against plain LMDB, as package bench measures them.
func benchCommand() *cli.Command {
	var commands []*cli.Command
	for _, s := range benchSuites() {
		commands = append(commands, suiteCommand(s))
	}
	commands = append(commands, benchSyncCommand(), benchReportCommand())
	return &cli.Command{
		Name:        "bench",
		Usage:       "measure okra against plain LMDB",
		UsageText:   "okra bench [OPTIONS]\nokra bench SUITE [OPTIONS]\nokra bench report FILES... [OPTIONS]",
		Subcommands: commands,
		Description: benchDescription,
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "entries", DefaultText: "1k, 50k, 1m",
				Usage: "`NUMBERS` of entries in the store, such as 1000, 1_000, 1k or 1m"},
			&cli.StringSliceFlag{Name: "rows",
				Usage: "`NAMES` of the rows, or words of them"},
			&cli.StringFlag{Name: "value-size", Value: "8", Usage: "`BYTES` of each value"},
			&cli.IntFlag{Name: "iterations", DefaultText: "fewer for slower rows",
				Usage: "timed iterations of each row: `N`"},
			&cli.StringFlag{Name: "dir", DefaultText: "the folder for temporary files",
				Usage: "make the stores in a new folder inside `DIR`"},
			&cli.BoolFlag{Name: "no-sync", Usage: "do not flush commits to disk, on either side"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "choose the random keys by `N`"},
			&cli.StringFlag{Name: "compare", Usage: "compare the ratios with those in `OLD.json`"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON"},
			&cli.BoolFlag{Name: "csv", Usage: "print CSV"},
			&cli.BoolFlag{Name: "markdown", Usage: "print Markdown"},
		},
		Action:       runBench,
		OnUsageError: onUsageError,
	}
}

func runBench(c *cli.Context) error {
	if c.NArg() > 0 {
		return noSuite(c, c.Args().First())
	}
	write, err := benchFormat(c)
	if err != nil {
		return usagef(c, "%w", err)
	}
	cfg, err := benchConfig(c)
	if err != nil {
		return usagef(c, "%w", err)
	}
	if path := c.String("compare"); path != "" {
		cfg.Baseline, err = readReport(path)
		if err != nil {
			return err
		}
	}
	catchHangup(c)
	bar := newBenchBar()
	cfg.Progress = bar.show

	// A signal cancels the context, and Run removes the stores before it returns.
	result, err := bench.Run(c.Context, cfg)
	bar.clear()
	if err != nil {
		return fmt.Errorf("benchmark: %w", err)
	}
	if err := write(c.App.Writer, *result); err != nil {
		return fmt.Errorf("print benchmark report: %w", err)
	}
	return nil
}

// noSuite is the error of a word that is no command of bench.
func noSuite(c *cli.Context, word string) error {
	var names []string
	for _, command := range c.Command.Subcommands {
		names = append(names, command.Name)
	}
	return usagef(c, "no suite %q, only %s", word, strings.Join(names, ", "))
}

// benchFormat returns the writer of the format that the flags ask for.
func benchFormat(c *cli.Context) (func(io.Writer, bench.Report) error, error) {
	formats := []struct {
		flag  string
		write func(io.Writer, bench.Report) error
	}{
		{"json", bench.WriteJSON},
		{"csv", bench.WriteCSV},
		{"markdown", bench.WriteMarkdown},
	}
	write := bench.WriteText
	chosen := ""
	for _, format := range formats {
		if !c.Bool(format.flag) {
			continue
		}
		if chosen != "" {
			return nil, fmt.Errorf("--%s and --%s exclude each other", chosen, format.flag)
		}
		chosen, write = format.flag, format.write
	}
	if chosen == "csv" && c.String("compare") != "" {
		return nil, errors.New("--csv and --compare exclude each other")
	}
	return write, nil
}

// benchConfig reads the flags that say what to measure.
func benchConfig(c *cli.Context) (bench.Config, error) {
	cfg := bench.Config{
		Iterations: c.Int("iterations"),
		Dir:        c.String("dir"),
		NoSync:     c.Bool("no-sync"),
		Seed:       c.Uint64("seed"),
	}
	if c.IsSet("iterations") && cfg.Iterations < 1 {
		return cfg, errors.New("--iterations: not at least 1")
	}
	var err error
	if cfg.Entries, err = benchSizes(c); err != nil {
		return cfg, fmt.Errorf("--entries: %w", err)
	}
	if cfg.Rows, err = bench.SelectRows(bench.Rows(), c.StringSlice("rows")); err != nil {
		return cfg, fmt.Errorf("--rows: %w", err)
	}
	for _, row := range cfg.Rows {
		if row.Durable && cfg.NoSync {
			return cfg, fmt.Errorf("--no-sync: row %q measures the flush to disk", row.Name)
		}
	}
	if cfg.ValueSize, err = bench.ParseValueSize(c.String("value-size")); err != nil {
		return cfg, fmt.Errorf("--value-size: %w", err)
	}
	return cfg, nil
}

// benchSizes returns the numbers of entries, each once, or nil, for the rows' own, if the flag
// is not given.
func benchSizes(c *cli.Context) ([]int, error) {
	if !c.IsSet("entries") {
		return nil, nil
	}
	var sizes []int
	for _, s := range c.StringSlice("entries") {
		n, err := bench.ParseEntries(s)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(sizes, n) {
			sizes = append(sizes, n)
		}
	}
	return sizes, nil
}

func readReport(path string) (*bench.Report, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the run to compare with: %w", err)
	}
	defer file.Close()
	old, err := bench.ReadJSON(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return old, nil
}

// benchBar shows on standard error how far the benchmark is, if that is a terminal.
type benchBar struct {
	visible bool
	bar     *progressbar.ProgressBar // of the row in progress
}

func newBenchBar() *benchBar {
	return &benchBar{visible: term.IsTerminal(int(os.Stderr.Fd()))}
}

func (b *benchBar) show(at bench.Progress) {
	if !b.visible {
		return
	}
	if at.Done == 0 {
		b.clear()
		b.bar = progressbar.NewOptions(at.Total,
			progressbar.OptionSetWriter(os.Stderr),
			progressbar.OptionSetDescription(bench.FormatEntries(at.Entries)+" entries: "+at.Row),
			progressbar.OptionSetWidth(20),
			progressbar.OptionShowCount(),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(),
		)
	}
	// Not to be able to show progress is no reason to fail.
	_ = b.bar.Set(at.Done)
}

// clear removes the bar.
func (b *benchBar) clear() {
	if b.bar != nil {
		_ = b.bar.Finish()
	}
}

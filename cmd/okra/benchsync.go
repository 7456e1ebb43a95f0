package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/okradb/okra-go/bench"
	"github.com/okradb/okra-go/bench/replication"
	"github.com/okradb/okra-go/bench/suite"
)

const benchSyncDescription = `Two replicas are made equal again over a simulated link, in one process, after
they have been made to differ. What finding the differences takes is shown
without the entries themselves, beside what a simulation gives for the walk of
okra-js and for negentropy.

Kinds of differences:

  equal      none
  uniform    our side lacks random entries
  append     our side lacks the newest entries
  both       each side lacks random entries that the other has
  modify     random keys have another value on our side
  appboth    each side has newest entries of its own
  empty      our side has nothing; over a link without bounds

Examples:

  okra bench sync                       all kinds, 1 to 100,000 of 1M entries
  okra bench sync --quick               the same of 50,000 entries
  okra bench sync --kinds uniform --differences 100,1k
  okra bench sync --rtt 100ms --bandwidth 5M --json`

// benchSyncCommand is okra bench sync, which measures what package replication does.
func benchSyncCommand() *cli.Command {
	return &cli.Command{
		Name:        "sync",
		Usage:       "what it takes to make two replicas equal",
		UsageText:   "okra bench sync [OPTIONS]",
		Description: benchSyncDescription,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "quick", Usage: "50,000 entries and few repetitions, in under a minute"},
			&cli.StringFlag{Name: "entries", DefaultText: "1m; quick 50k", Usage: "`NUMBER` of entries of each replica"},
			&cli.StringSliceFlag{Name: "differences", DefaultText: "1, 10, ... 100k", Usage: "`NUMBERS` of entries that differ"},
			&cli.StringSliceFlag{Name: "kinds", DefaultText: "all", Usage: "`KINDS` of differences"},
			&cli.DurationFlag{Name: "rtt", Value: replication.DefaultRoundTrip, Usage: "round trip `TIME` of the link"},
			&cli.StringFlag{Name: "bandwidth", Value: "20M", Usage: "`BITS` a second of the link, each way"},
			&cli.IntFlag{Name: "repetitions", DefaultText: "5, and 15 for few differences", Usage: "sessions of each cell: `N`"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "choose random numbers by `N`"},
			&cli.StringFlag{Name: "dir", DefaultText: "the folder for temporary files",
				Usage: "make the stores in a new folder inside `DIR`"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON"},
			&cli.BoolFlag{Name: "markdown", Usage: "print Markdown"},
		},
		Action:       runBenchSync,
		OnUsageError: onUsageError,
	}
}

func runBenchSync(c *cli.Context) error {
	cfg, err := benchSyncConfig(c)
	if err != nil {
		return usagef(c, "%w", err)
	}
	catchHangup(c)
	bar := newSuiteBar()
	cfg.Progress = func(cell string, done, total int) {
		if done == 0 {
			bar.clear()
			bar.bar = nil
		}
		bar.show(suite.Progress{Cell: cell, Done: done, Total: total})
	}
	report, err := replication.Run(c.Context, cfg)
	bar.clear()
	if report != nil && len(report.Cells) > 0 {
		// What was measured before an error is printed all the same.
		if writeErr := writeBenchSync(c, report); writeErr != nil {
			err = errors.Join(err, fmt.Errorf("print results: %w", writeErr))
		}
	}
	if err != nil {
		return fmt.Errorf("benchmark: %w", err)
	}
	return nil
}

func benchSyncConfig(c *cli.Context) (cfg replication.Config, err error) {
	cfg = replication.Config{Repetitions: c.Int("repetitions"), Seed: c.Uint64("seed"), Dir: c.String("dir"),
		Link: replication.Link{RoundTrip: c.Duration("rtt")}}
	if c.NArg() > 0 {
		return cfg, fmt.Errorf("unexpected argument %q", c.Args().First())
	}
	if c.Bool("json") && c.Bool("markdown") {
		return cfg, errors.New("--json and --markdown exclude each other")
	}
	if c.IsSet("repetitions") && cfg.Repetitions < 1 {
		return cfg, errors.New("--repetitions: not at least 1")
	}
	if cfg.Link.RoundTrip < 0 {
		return cfg, errors.New("--rtt: less than nothing")
	}
	if cfg.Link.Bandwidth, err = bench.ParseRate(c.String("bandwidth")); err != nil {
		return cfg, fmt.Errorf("--bandwidth: %w", err)
	}
	if c.Bool("quick") {
		cfg.Entries = 50_000
		if cfg.Repetitions == 0 {
			cfg.Repetitions = 3
		}
	}
	if text := c.String("entries"); text != "" {
		if cfg.Entries, err = bench.ParseEntries(text); err != nil {
			return cfg, fmt.Errorf("--entries: %w", err)
		}
	}
	for _, text := range c.StringSlice("differences") {
		d, err := bench.ParseEntries(text)
		if err != nil {
			return cfg, fmt.Errorf("--differences: %w", err)
		}
		cfg.Differences = append(cfg.Differences, d)
	}
	for _, name := range c.StringSlice("kinds") {
		kind, err := replication.ParseKind(strings.TrimSpace(name))
		if err != nil {
			return cfg, fmt.Errorf("--kinds: %w", err)
		}
		cfg.Kinds = append(cfg.Kinds, kind)
	}
	return cfg, nil
}

// writeBenchSync writes the report in the format that the flags ask for.
func writeBenchSync(c *cli.Context, r *replication.Report) error {
	if c.Bool("json") {
		return replication.WriteJSON(c.App.Writer, r)
	}
	var out bytes.Buffer
	for _, t := range r.Tables() {
		if c.Bool("markdown") {
			t.WriteMarkdown(&out)
		} else {
			t.WriteText(&out)
		}
	}
	for _, note := range r.Notes() {
		fmt.Fprintf(&out, "\n%s\n", note)
	}
	_, err := io.Copy(c.App.Writer, &out)
	return err
}

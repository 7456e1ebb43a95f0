package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/okradb/okra-go/bench"
	"github.com/okradb/okra-go/bench/dump"
	"github.com/okradb/okra-go/bench/durability"
	"github.com/okradb/okra-go/bench/lifecycle"
	"github.com/okradb/okra-go/bench/matrix"
	"github.com/okradb/okra-go/bench/suite"
)

// benchSuites returns the suites of okra bench, in the order in which the help lists them.
func benchSuites() []suite.Suite {
	return []suite.Suite{
		durability.Suite(),
		lifecycle.Suite(),
		matrix.Suite(),
		dump.Suite(),
	}
}

// suiteCommand is okra bench SUITE.
func suiteCommand(s suite.Suite) *cli.Command {
	flags := []cli.Flag{
		&cli.BoolFlag{Name: "quick", Usage: "smaller sizes and three repetitions, in under a minute"},
		&cli.StringFlag{Name: "dir", DefaultText: "the folder for temporary files",
			Usage: "make the stores in a new folder inside `DIR`"},
		&cli.StringFlag{Name: "results", Usage: "add the result of each cell to `FILE`, as a line of JSON"},
		&cli.GenericFlag{Name: "only", Value: &terms{}, Usage: "measure the cells that have all of these `WORDS` in " +
			"group and name, and parameter=value; several --only add up"},
		&cli.IntFlag{Name: "repetitions", DefaultText: "5, quick 3", Usage: "of each cell: `N`"},
		&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "choose random numbers by `N`"},
		&cli.BoolFlag{Name: "json", Usage: "print the lines of JSON"},
		&cli.BoolFlag{Name: "markdown", Usage: "print Markdown"},
	}
	for _, size := range s.Sizes {
		flags = append(flags, &cli.StringSliceFlag{
			Name: size.Name, Usage: size.Usage, DefaultText: sizeDefaults(size),
		})
	}
	return &cli.Command{
		Name:         s.Name,
		Usage:        s.Usage,
		UsageText:    "okra bench " + s.Name + " [OPTIONS]",
		Description:  s.Description,
		Flags:        flags,
		Action:       func(c *cli.Context) error { return runSuite(c, s) },
		OnUsageError: onUsageError,
	}
}

// terms are the values of an option that may be given several times. Commas belong to them.
type terms []string

func (t *terms) Set(value string) error {
	*t = append(*t, value)
	return nil
}

func (t *terms) String() string { return strings.Join(*t, "; ") }

func sizeDefaults(size suite.Size) string {
	text := func(sizes []int) string {
		var all []string
		for _, n := range sizes {
			all = append(all, formatSize(size, n))
		}
		return strings.Join(all, ", ")
	}
	full, quick := text(size.Full), text(size.Quick)
	if full == quick {
		return full
	}
	return full + "; quick " + quick
}

func formatSize(size suite.Size, n int) string {
	if size.Bytes && n >= 1024 {
		return strings.ReplaceAll(humanize.IBytes(uint64(n)), " ", "")
	}
	// A comma would end a number in a list.
	return strings.ReplaceAll(bench.FormatEntries(n), ",", "_")
}

func runSuite(c *cli.Context, s suite.Suite) error {
	catchHangup(c)
	write, err := suiteFormat(c, s)
	if err != nil {
		return usagef(c, "%w", err)
	}
	options, cells, err := suitePlan(c, s)
	if errors.Is(err, suite.ErrDir) {
		return fmt.Errorf("benchmark: %w", err)
	}
	if err != nil {
		return usagef(c, "%w", err)
	}
	bar := newSuiteBar()
	hooks := suite.Hooks{Progress: bar.show}
	if path := c.String("results"); path != "" {
		file, err := suite.Append(path)
		if err != nil {
			return fmt.Errorf("benchmark: %w", err)
		}
		defer file.Close()
		hooks.Done = file.Add
	}
	fmt.Fprintf(c.App.ErrWriter, "okra: %s: %s, %s each, about %s\n", s.Name, english.Plural(len(cells), "cell", ""),
		english.Plural(options.Repetitions, "repetition", ""), roughly(suite.Estimate(options, cells)))

	// A signal cancels the context, and Run ends its processes and removes their folders. What was
	// measured before is printed all the same.
	results, err := suite.Run(c.Context, s, options, cells, hooks)
	bar.clear()
	if writeErr := write(c.App.Writer, results); writeErr != nil {
		err = errors.Join(err, fmt.Errorf("print results: %w", writeErr))
	}
	if err != nil {
		return fmt.Errorf("benchmark: %w", err)
	}
	return nil
}

// suiteFormat returns the writer of the format that the flags ask for.
func suiteFormat(c *cli.Context, s suite.Suite) (func(io.Writer, []suite.Result) error, error) {
	switch {
	case c.Bool("json") && c.Bool("markdown"):
		return nil, errors.New("--json and --markdown exclude each other")
	case c.Bool("json"):
		return suite.WriteJSON, nil
	case c.Bool("markdown"):
		return func(w io.Writer, r []suite.Result) error { return suite.WriteMarkdown(w, s, r) }, nil
	}
	return func(w io.Writer, r []suite.Result) error { return suite.WriteText(w, s, r) }, nil
}

// suitePlan reads the flags that say what to measure.
func suitePlan(c *cli.Context, s suite.Suite) (suite.Options, []suite.Cell, error) {
	o := suite.Options{
		Quick: c.Bool("quick"), Repetitions: c.Int("repetitions"), Seed: c.Uint64("seed"), Dir: c.String("dir"),
		Sizes: make(map[string][]int),
	}
	if c.NArg() > 0 {
		return o, nil, fmt.Errorf("unexpected argument %q", c.Args().First())
	}
	for _, above := range c.Lineage()[1:] {
		if above.Command != nil && above.NumFlags() > 0 {
			return o, nil, fmt.Errorf("options of %s stand after that word", s.Name)
		}
	}
	if c.IsSet("repetitions") && o.Repetitions < 1 {
		return o, nil, errors.New("--repetitions: not at least 1")
	}
	for _, size := range s.Sizes {
		for _, text := range c.StringSlice(size.Name) {
			parse := bench.ParseEntries
			if size.Bytes {
				parse = parseBytes
			}
			n, err := parse(text)
			if err != nil {
				return o, nil, fmt.Errorf("--%s: %w", size.Name, err)
			}
			o.Sizes[size.Name] = append(o.Sizes[size.Name], n)
		}
	}
	return suite.Plan(s, o, *c.Generic("only").(*terms))
}

// parseBytes reads a size in bytes, such as 4096 or 4KiB. What a suite does not take Plan refuses.
func parseBytes(s string) (int, error) {
	n, err := humanize.ParseBytes(s)
	if err != nil || n > math.MaxInt {
		return 0, fmt.Errorf("%q is no size in bytes", s)
	}
	return int(n), nil
}

// roughly returns d in seconds, or in minutes if that is enough.
func roughly(d time.Duration) string {
	if d < 2*time.Minute {
		return fmt.Sprintf("%.0f s", max(d.Seconds(), 1))
	}
	return fmt.Sprintf("%.0f min", d.Minutes())
}

// suiteBar shows on standard error how far a suite is, if that is a terminal.
type suiteBar struct {
	visible bool
	bar     *progressbar.ProgressBar
}

func newSuiteBar() *suiteBar {
	return &suiteBar{visible: term.IsTerminal(int(os.Stderr.Fd()))}
}

func (b *suiteBar) show(at suite.Progress) {
	if !b.visible {
		return
	}
	if b.bar == nil {
		b.bar = progressbar.NewOptions(at.Total,
			progressbar.OptionSetWriter(os.Stderr),
			progressbar.OptionSetWidth(20),
			progressbar.OptionShowCount(),
			progressbar.OptionClearOnFinish(),
		)
	}
	b.bar.Describe(at.Cell)
	// Not to be able to show progress is no reason to fail.
	_ = b.bar.Set(at.Done)
}

// clear removes the bar.
func (b *suiteBar) clear() {
	if b.bar != nil {
		_ = b.bar.Finish()
	}
}

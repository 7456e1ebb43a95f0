package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	benchreport "github.com/okradb/okra-go/bench/report"
)

// benchReportCommand is okra bench report, as package report sets out results.
func benchReportCommand() *cli.Command {
	return &cli.Command{
		Name:      "report",
		Usage:     "set out results of suites and rows as a page, Markdown or a picture",
		UsageText: "okra bench report FILES... [-o FILE] [--markdown|--svg]",
		ArgsUsage: "FILES...",
		Description: `FILES are what suites have written with --results, and what "okra bench --json"
has printed. The page has all their tables and charts, what is slower first. It
needs no network and no script. Of a cell that was measured several times on one
machine, at the same size, the last result counts; tables of what follows from
several cells are of one run each. A last line that was cut, as by a full disk, is
left out, and the report says so.

Examples:

  okra bench report results.jsonl -o report.html
  okra bench report rows.json results.jsonl --markdown -o RESULTS.md --force
  okra bench report results.jsonl --svg -o ratios.svg`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, DefaultText: "standard output",
				Usage: "write `FILE`, once all is well"},
			&cli.BoolFlag{Name: "force", Usage: "replace FILE if it exists"},
			&cli.BoolFlag{Name: "markdown", Usage: "write Markdown instead of a page"},
			&cli.BoolFlag{Name: "svg", Usage: "write the main chart only, as a picture"},
		},
		Action:       runBenchReport,
		OnUsageError: onUsageError,
	}
}

func runBenchReport(c *cli.Context) error {
	output := c.String("output")
	switch {
	case c.NArg() == 0:
		return usagef(c, "FILES, the results, are missing")
	case c.Bool("markdown") && c.Bool("svg"):
		return usagef(c, "--markdown and --svg exclude each other")
	case c.IsSet("output") && output == "":
		return usagef(c, "--output: the name of a file is missing")
	case c.Bool("force") && (output == "" || output == "-"):
		return usagef(c, "--force is for --output")
	}
	if err := writeReport(c, output); err != nil {
		return fmt.Errorf("benchmark report: %w", err)
	}
	return nil
}

func writeReport(c *cli.Context, output string) error {
	if err := keepInputs(c.Args().Slice(), output); err != nil {
		return err
	}
	var inputs []benchreport.Input
	for _, path := range c.Args().Slice() {
		input, err := readInput(path)
		if err != nil {
			return err
		}
		inputs = append(inputs, input)
	}
	r, err := benchreport.New(inputs, benchSuites())
	if err != nil {
		return err
	}
	write := r.WriteHTML
	switch {
	case c.Bool("markdown"):
		write = r.WriteMarkdown
	case c.Bool("svg"):
		write = r.WriteChart
	}
	// Nothing is begun before all is well.
	var whole bytes.Buffer
	if err := write(&whole); err != nil {
		return err
	}
	if output == "" || output == "-" {
		_, err := c.App.Writer.Write(whole.Bytes())
		return err
	}
	return writeWhole(output, whole.Bytes(), c.Bool("force"))
}

// keepInputs returns an error if output is one of the files to read, by whatever name.
func keepInputs(paths []string, output string) error {
	if output == "" || output == "-" {
		return nil
	}
	out, err := os.Stat(output)
	if err != nil {
		return nil // what is wrong with it, if anything, its opening tells
	}
	for _, path := range paths {
		if in, err := os.Stat(path); err == nil && os.SameFile(in, out) {
			return fmt.Errorf("%s is one of the results to read; give the report another name", output)
		}
	}
	return nil
}

// readInput reads the results at path.
func readInput(path string) (benchreport.Input, error) {
	file, err := os.Open(path)
	if err != nil {
		return benchreport.Input{}, err
	}
	defer file.Close()
	input, err := benchreport.Read(file)
	if err != nil {
		return input, fmt.Errorf("%s: %w", path, err)
	}
	input.Name = path
	return input, nil
}

// writeWhole writes data to path at once.
func writeWhole(path string, data []byte, force bool) error {
	out, err := createOut(path, 0o644, force)
	if err != nil {
		return err
	}
	defer out.drop()
	if _, err := io.Copy(out, bytes.NewReader(data)); err != nil {
		return err
	}
	return out.keep()
}

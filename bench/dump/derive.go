package dump

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/okradb/okra-go/bench"
	"github.com/okradb/okra-go/bench/suite"
)

// derive returns what dumps cost by format, and the operations of the store with their factors.
func derive(results []suite.Result) []bench.Table {
	var tables []bench.Table
	for _, t := range []bench.Table{dumpTable(results), operationTable(results)} {
		if len(t.Lines) > 1 {
			tables = append(tables, t)
		}
	}
	return tables
}

// dumpTable has a line for each format and size. Its factors are those of the raw copy, which
// does as little as can be done.
func dumpTable(results []suite.Result) bench.Table {
	t := bench.Table{
		Title: "Dumps (ms, mean ± standard deviation; factor: to the raw copy; file: of the dump, beside the " +
			"raw data, the keys and values alone)",
		Labels: 2,
		Lines: [][]string{{
			"keys", "format", "export", "factor", "import", "factor", "raw data", "file", "file/raw",
		}},
	}
	for _, exported := range results {
		if exported.Group != groupExport {
			continue
		}
		for _, s := range exported.Sides {
			name := s.Name
			if name == sideDump {
				name = sideDump + ", " + sideLoad
			}
			line := []string{exported.Param("keys"), name, "", "", "", "", rawData(exported), "", ""}
			if s.Absent == "" {
				line[2], line[3] = meanOf(s), factor(exported, s)
				line[7] = humanize.IBytes(uint64(max(s.FileSize, 0)))
				if exported.DataSize > 0 {
					line[8] = bench.FormatRatio(float64(s.FileSize) / float64(exported.DataSize))
				}
			}
			line[4], line[5] = importOf(results, exported.Param("keys"), s.Name)
			if line[2] != "" || line[4] != "" {
				t.Lines = append(t.Lines, line)
			}
		}
	}
	return t
}

// importOf returns the mean and the factor of the import that belongs to the export by side.
func importOf(results []suite.Result, keys, side string) (mean, times string) {
	if side == sideDump {
		side = sideLoad
	}
	for _, r := range results {
		if r.Group != groupImport || r.Param("keys") != keys {
			continue
		}
		if s, ok := r.Side(side); ok {
			return meanOf(s), factor(r, s)
		}
	}
	return "", ""
}

func rawData(r suite.Result) string { return humanize.IBytes(uint64(max(r.DataSize, 0))) }

// meanOf returns the mean with the standard deviation, if that says anything.
func meanOf(s suite.SideResult) string {
	if len(s.Measurements) == 1 {
		return bench.FormatFigure(s.Mean)
	}
	return bench.FormatFigure(s.Mean) + " ± " + bench.FormatFigure(s.Std)
}

// factor returns how many times as long s takes as the raw copy, of the means.
func factor(r suite.Result, s suite.SideResult) string {
	raw, ok := r.Side(sideCopy)
	if !ok {
		return ""
	}
	return bench.FormatRatio(s.Mean / raw.Mean)
}

// operationTable has a line for each operation and size.
func operationTable(results []suite.Result) bench.Table {
	t := bench.Table{
		Title:  "Factors of operations (µs/key, mean ± standard deviation; factor: okra / lmdb)",
		Labels: 2,
		Lines:  [][]string{{"keys", "operation", "okra", "lmdb", "factor", "verdict"}},
	}
	for _, r := range results {
		if r.Group != groupStore {
			continue
		}
		first, there := r.Side("okra")
		other, both := r.Side("lmdb")
		if !there || !both {
			continue
		}
		t.Lines = append(t.Lines, []string{
			r.Param("keys"), r.Name, meanOf(first), meanOf(other),
			fmt.Sprintf("%.2f", first.Mean/other.Mean), other.Verdict,
		})
	}
	return t
}

package bench

import (
	"encoding/csv"
	"io"
	"strconv"
)

// WriteCSV writes the results of report, a line for each row and side, under a line of names. The
// ratios of the side "update" are those of [Other]. The environment, the notes and the comparison
// are left out.
func WriteCSV(w io.Writer, report Report) error {
	out := csv.NewWriter(w)
	records := [][]string{{
		"entries", "row", "side", "iterations", "min_ms", "median_ms", "max_ms", "mean_ms", "std_ms",
		"ops_per_s", "ratio", "ratio_low", "ratio_high",
	}}
	for _, r := range report.Results {
		ratios := spread(r)
		records = append(records, csvRecord(r, "okra", r.Okra, ratios),
			csvRecord(r, "lmdb", r.LMDB, ratios))
		if u := r.Update; u != nil {
			ratios = Spread{Mid: u.Ratio, Low: u.RatioLow, High: u.RatioHigh}
			records = append(records, csvRecord(r, "update", u.Summary, ratios))
		}
	}
	// WriteAll flushes, and returns the error of any write.
	return out.WriteAll(records)
}

func csvRecord(r Result, side string, s Summary, ratios Spread) []string {
	record := []string{strconv.Itoa(r.Entries), r.Row, side, strconv.Itoa(r.Iterations)}
	for _, x := range []float64{s.Min, s.Median, s.Max, s.Mean, s.Std} {
		record = append(record, strconv.FormatFloat(x, 'f', 6, 64))
	}
	record = append(record, strconv.FormatFloat(s.Ops, 'f', 1, 64))
	for _, x := range []float64{ratios.Mid, ratios.Low, ratios.High} {
		record = append(record, strconv.FormatFloat(x, 'f', 6, 64))
	}
	return record
}

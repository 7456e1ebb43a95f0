package bench

import (
	"math"
	"slices"
	"time"
)

// Summary is the statistics of one side of one row. Times are in milliseconds.
type Summary struct {
	Min    float64 `json:"min_ms"`
	Median float64 `json:"median_ms"` // mean of the two in the middle when their number is even
	Max    float64 `json:"max_ms"`
	Mean   float64 `json:"mean_ms"`
	Std    float64 `json:"std_ms"`    // sample standard deviation (n-1); 0 for one iteration
	Ops    float64 `json:"ops_per_s"` // entries touched by an iteration over the mean time

	// Commits is the number of transactions per second of the writer beside the work.
	Commits float64 `json:"writer_commits_per_s,omitempty"`
}

// summarize returns the statistics of times, of iterations that touch ops entries each. It
// requires at least one time, and leaves times as they are.
func summarize(times []time.Duration, ops int) Summary {
	ms := make([]float64, len(times))
	for i, t := range times {
		ms[i] = float64(t.Nanoseconds()) / 1e6
	}
	stats := Statistics(ms)
	s := Summary{Min: stats.Min, Median: stats.Median, Max: stats.Max, Mean: stats.Mean, Std: stats.Std}
	if s.Mean > 0 {
		s.Ops = float64(ops) * 1000 / s.Mean
	}
	return s
}

// Stats is the statistics of some figures.
type Stats struct {
	Min, Median, Max, Mean float64 // Median: mean of the two in the middle when their number is even
	Std                    float64 // sample standard deviation (n-1); 0 for one figure
}

// Statistics requires at least one figure, and leaves figures as they are.
func Statistics(figures []float64) Stats {
	sorted := slices.Sorted(slices.Values(figures))
	var sum float64
	for _, x := range sorted {
		sum += x
	}
	mean := sum / float64(len(sorted))
	var squares float64
	for _, x := range sorted {
		squares += (x - mean) * (x - mean)
	}
	s := Stats{Min: sorted[0], Median: median(sorted), Max: sorted[len(sorted)-1], Mean: mean}
	if len(sorted) > 1 {
		s.Std = math.Sqrt(squares / float64(len(sorted)-1))
	}
	return s
}

// median requires sorted, non-empty figures.
func median(sorted []float64) float64 {
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// ratioRange returns the quartiles of the ratios okra/lmdb of the iterations, pair by pair: the
// range in which the middle half of them lies. For four pairs or fewer it is their minimum and
// maximum. It requires two lists of the same length, at least one.
func ratioRange(okra, lmdb []time.Duration) (low, high float64) {
	ratios := make([]float64, len(okra))
	for i := range okra {
		ratios[i] = ratio(float64(okra[i]), float64(lmdb[i]))
	}
	slices.Sort(ratios)
	cut := (len(ratios) - 1) / 4
	return ratios[cut], ratios[len(ratios)-1-cut]
}

// ratio returns a/b. A time of zero, which a coarse clock can give, counts as the least time
// above it.
func ratio(a, b float64) float64 {
	const least = 1e-6 // a nanosecond in ms
	return max(a, least) / max(b, least)
}

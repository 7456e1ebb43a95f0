package replication

// Known is what other ways to compare replicas cost for the same differences: the walk of
// okra-js, one node a round trip, and negentropy (version 1, by Doug Hoyte). Both are of a
// simulation over the trees and lists that those would have, of 1M entries of 16 and 32 bytes;
// times are for 50 ms and 20 Mbit/s.
type Known struct {
	WalkBytes       int64 `json:"walk_bytes"`
	WalkTrips       int   `json:"walk_round_trips"`
	NegentropyBytes int64 `json:"negentropy_bytes"`
	NegentropyTrips int   `json:"negentropy_round_trips"`
}

var knownAt = []int{1, 10, 100, 1000, 10_000, 100_000}

var knownFigures = map[Kind][]Known{
	Uniform: {
		{5_900, 7, 2_300, 4}, {70_800, 43, 18_700, 4}, {536_000, 324, 162_000, 4},
		{3_270_000, 2513, 1_350_000, 4}, {17_870_000, 16588, 10_480_000, 4}, {38_560_000, 51318, 53_020_000, 4},
	},
	Append: {
		{4_000, 7, 2_300, 4}, {4_600, 8, 2_300, 4}, {11_900, 12, 8_100, 4},
		{48_400, 60, 66_300, 5}, {429_000, 598, 642_000, 4}, {4_260_000, 6428, 6_400_000, 5},
	},
	Both: {
		{6_300, 8, 2_400, 4}, {60_700, 44, 19_300, 4}, {515_000, 339, 165_000, 4},
		{3_340_000, 2530, 1_360_000, 4}, {17_480_000, 16369, 10_540_000, 4}, {36_420_000, 47593, 50_950_000, 4},
	},
	Modify: {
		{5_000, 7, 2_300, 4}, {66_400, 43, 19_600, 4}, {548_000, 320, 164_000, 4},
		{3_300_000, 2558, 1_380_000, 4}, {17_720_000, 16549, 10_810_000, 4}, {38_590_000, 51015, 56_060_000, 4},
	},
	AppendBoth: {
		{4_900, 7, 2_300, 4}, {6_800, 9, 2_500, 4}, {7_700, 10, 6_800, 4},
		{26_500, 24, 50_300, 4}, {216_000, 296, 491_000, 4}, {2_130_000, 3132, 4_900_000, 4},
	},
}

// known returns the figures of others, or nil where there are none.
func known(kind Kind, d, entries int) *Known {
	if entries != DefaultEntries {
		return nil
	}
	for i, at := range knownAt {
		if at == d && knownFigures[kind] != nil {
			return &knownFigures[kind][i]
		}
	}
	return nil
}

package replication

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/okradb/okra-go/bench"
)

// Report is a run.
type Report struct {
	Machine   bench.Machine `json:"machine"`
	Entries   int           `json:"entries"`
	RoundTrip time.Duration `json:"round_trip_ns"`
	Bandwidth float64       `json:"bits_per_second"`
	Cells     []Cell        `json:"cells"`
}

// Cell is one kind and number of differences. Figures are medians of the sessions.
type Cell struct {
	Kind        Kind          `json:"kind"`
	Differences int           `json:"differences"`
	Sessions    int           `json:"sessions"`
	Discovery   int64         `json:"discovery_bytes"` // both ways, without the entries
	Least       int64         `json:"discovery_least"`
	Most        int64         `json:"discovery_most"`
	Bytes       int64         `json:"bytes"` // both ways, in all
	RoundTrips  int           `json:"round_trips"`
	Passes      int           `json:"passes"`
	Time        time.Duration `json:"time_ns"`
	CPU         time.Duration `json:"cpu_ns"`            // of both sides
	Heap        int64         `json:"heap_bytes"`        // the most of both sides together, with what the store writes with
	Load        time.Duration `json:"load_ns,omitempty"` // of the same entries, read from the other store

	Known *Known `json:"known,omitempty"`

	samples []sample
}

func (c *Cell) summarize() {
	c.Sessions = len(c.samples)
	of := func(figure func(sample) int64) []int64 {
		var all []int64
		for _, s := range c.samples {
			all = append(all, figure(s))
		}
		slices.Sort(all)
		return all
	}
	median := func(figure func(sample) int64) int64 { return of(figure)[len(c.samples)/2] }
	discovery := of(func(s sample) int64 { return s.summary.Discovery })
	c.Discovery = discovery[len(discovery)/2]
	c.Least, c.Most = discovery[0], discovery[len(discovery)-1]
	c.Bytes = median(func(s sample) int64 { return s.summary.BytesSent + s.summary.BytesReceived })
	c.RoundTrips = int(median(func(s sample) int64 { return int64(s.summary.RoundTrips) }))
	c.Passes = int(median(func(s sample) int64 { return int64(s.summary.Passes) }))
	c.Time = time.Duration(median(func(s sample) int64 { return int64(s.time) }))
	c.CPU = time.Duration(median(func(s sample) int64 { return int64(s.cpu) }))
	c.Heap = slices.Max(of(func(s sample) int64 { return s.heap }))
	c.Load = time.Duration(median(func(s sample) int64 { return int64(s.load) }))
}

// WriteJSON writes the report as one JSON object.
func WriteJSON(w io.Writer, r *Report) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// Tables returns the report as tables.
func (r *Report) Tables() []bench.Table {
	size := func(n int64) string { return humanize.Bytes(uint64(n)) }
	t := bench.Table{
		Title: fmt.Sprintf("Replicas of %s entries of %d + %d bytes; %v round trip, %s bit/s",
			bench.FormatEntries(r.Entries), keySize, valueSize, r.RoundTrip, strings.TrimSpace(humanize.SIWithDigits(r.Bandwidth, 0, ""))),
		Labels: 1,
		Lines: [][]string{{"kind", "differ", "find", "trips", "all bytes", "time", "CPU", "heap",
			"walk", "trips", "negentropy", "trips"}},
	}
	for _, c := range r.Cells {
		line := []string{string(c.Kind), bench.FormatEntries(c.Differences), size(c.Discovery), fmt.Sprint(c.RoundTrips),
			size(c.Bytes), round(c.Time), round(c.CPU), size(c.Heap), "", "", "", ""}
		if k := c.Known; k != nil {
			line[8], line[9] = size(k.WalkBytes), humanize.Comma(int64(k.WalkTrips))
			line[10], line[11] = size(k.NegentropyBytes), fmt.Sprint(k.NegentropyTrips)
		}
		t.Lines = append(t.Lines, line)
	}
	return []bench.Table{t}
}

// Notes returns what the tables do not say.
func (r *Report) Notes() []string {
	notes := []string{
		"find: bytes both ways but for the entries. trips: round trips with the one that brings the entries. CPU and heap are of both sides together; heap is the most of all sessions, with the store's own buffers.",
		"walk (of okra-js), negentropy: bytes and round trips of a simulation of these for the same differences.",
	}
	for _, c := range r.Cells {
		if c.Kind == Empty {
			notes = append(notes, fmt.Sprintf("empty: over a link without bounds, %s; a load of the same entries from store to store in one transaction takes %s.", round(c.Time), round(c.Load)))
		}
	}
	return notes
}

func round(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(10 * time.Millisecond).String()
}

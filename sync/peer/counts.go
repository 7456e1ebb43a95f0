package peer

import (
	"net/http"
	"time"

	"github.com/VictoriaMetrics/metrics"

	okrasync "github.com/okradb/okra-go/sync"
)

// counts are the figures of a server, in the text format of Prometheus. None has a label that a
// stranger could choose.
type counts struct {
	set *metrics.Set

	connections, handshakes, denied, busy *metrics.Counter
	complete, failed                      *metrics.Counter
	sent, received                        *metrics.Counter
	added, changed, deleted               *metrics.Counter
	seconds                               *metrics.PrometheusHistogram
}

func newCounts(s *Server) *counts {
	set := metrics.NewSet()
	set.NewGauge("okra_sessions", func() float64 {
		s.mu.Lock()
		defer s.mu.Unlock()
		return float64(len(s.sessions))
	})
	set.NewGauge("okra_pending_connections", func() float64 {
		s.mu.Lock()
		defer s.mu.Unlock()
		return float64(len(s.pending))
	})
	return &counts{
		set:         set,
		connections: set.NewCounter(`okra_connections_total`),
		handshakes:  set.NewCounter(`okra_refused_total{reason="handshake"}`),
		denied:      set.NewCounter(`okra_refused_total{reason="not allowed"}`),
		busy:        set.NewCounter(`okra_refused_total{reason="busy"}`),
		complete:    set.NewCounter(`okra_sessions_total{result="ok"}`),
		failed:      set.NewCounter(`okra_sessions_total{result="failed"}`),
		sent:        set.NewCounter(`okra_bytes_total{direction="sent"}`),
		received:    set.NewCounter(`okra_bytes_total{direction="received"}`),
		added:       set.NewCounter(`okra_entries_total{action="added"}`),
		changed:     set.NewCounter(`okra_entries_total{action="changed"}`),
		deleted:     set.NewCounter(`okra_entries_total{action="deleted"}`),
		seconds: set.NewPrometheusHistogramExt(`okra_session_seconds`,
			[]float64{.01, .1, 1, 10, 60, 600, 3600}),
	}
}

// session counts a session that has ended.
func (c *counts) session(sum okrasync.Summary, took time.Duration, err error) {
	if err != nil {
		c.failed.Inc()
	} else {
		c.complete.Inc()
	}
	c.sent.AddInt64(sum.BytesSent)
	c.received.AddInt64(sum.BytesReceived)
	c.added.AddInt64(sum.Here.Added)
	c.changed.AddInt64(sum.Here.Changed)
	c.deleted.AddInt64(sum.Here.Deleted)
	c.seconds.Update(took.Seconds())
}

// Metrics answers requests with the figures of the server and of its process, in the text format
// of Prometheus.
func (s *Server) Metrics() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		s.counts.set.WritePrometheus(w)
		metrics.WriteProcessMetrics(w)
	})
}

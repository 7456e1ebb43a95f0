package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"
	okrasync "github.com/okradb/okra-go/sync"
)

// event notes one entry, and prints it in a dry run.
func (s *syncing) event(e okrasync.Event) {
	if e.Action == okrasync.Conflicted && len(s.conflicts) < fewKeys {
		s.conflicts = append(s.conflicts, s.notation.text(e.Key))
	}
	if !s.opts.DryRun && e.There && e.Action != okrasync.Conflicted && e.Action != okrasync.Rejected {
		s.sent.Add(1)
	}
	if !s.opts.DryRun || s.outErr != nil {
		return
	}
	r := eventRecord{Action: e.Action.String(), Side: "here", Reason: string(e.Reason)}
	if e.There {
		r.Side = "there"
	}
	if e.Action == okrasync.Conflicted {
		r.Side = "both"
	}
	if s.c.Bool("json") {
		r.Key, r.KeyEncoding = s.notation.jsonText(e.Key)
		s.outErr = writeJSON(s.out, r)
	} else {
		_, s.outErr = fmt.Fprintf(s.out, "%s\t%s\t%s\n", r.Action, r.Side, s.notation.text(e.Key))
	}
	if s.outErr != nil {
		s.stop()
	}
}

// describe says what was done, in a line.
func (s *syncing) describe(sum okrasync.Summary) string {
	var parts []string
	side := func(name string, written bool, n okrasync.Changes) {
		if written {
			parts = append(parts, fmt.Sprintf("%s %s added, %s changed, %s deleted", name,
				humanize.Comma(n.Added), humanize.Comma(n.Changed), humanize.Comma(n.Deleted)))
		}
	}
	side("here", s.verb.here, sum.Here)
	side("there", s.verb.there, sum.There)
	if n := sum.Conflicts.Mine + sum.Conflicts.Theirs + sum.Conflicts.Merged; n > 0 {
		parts = append(parts, fmt.Sprintf("%s decided: %s mine, %s theirs", plural(n, "conflict"),
			humanize.Comma(sum.Conflicts.Mine), humanize.Comma(sum.Conflicts.Theirs)))
	}
	parts = append(parts, fmt.Sprintf("%s sent, %s received", humanize.IBytes(uint64(sum.BytesSent)),
		humanize.IBytes(uint64(sum.BytesReceived))))
	switch {
	case sum.DryRun:
		return "would be: " + strings.Join(parts, "; ")
	case sum.Equal:
		parts = append(parts, "both sides have root "+sum.After.String())
	}
	return strings.Join(parts, "; ")
}

// answer returns an error with exit code 1 that names what is left, or nil.
func (s *syncing) answer(sum okrasync.Summary) error {
	var left []string
	if n := sum.Conflicts.Left; n > 0 {
		are := "they are"
		if n == 1 {
			are = "it is"
		}
		left = append(left, fmt.Sprintf("%s left as %s, decide with --conflict: %s",
			plural(n, "conflict"), are, someKeys(s.conflicts, n)))
	}
	for _, r := range sum.Refused {
		side := "here"
		if r.There {
			side = "by the peer"
		}
		keys := make([]string, min(len(r.Keys), fewKeys))
		for i := range keys {
			keys[i] = s.notation.text(r.Keys[i])
		}
		text := fmt.Sprintf("%s refused %s, %s: %s", plural(r.Count, "key"), side, r.Reason, someKeys(keys, r.Count))
		if r.Detail != "" {
			text += " (" + r.Detail + ")"
		}
		if r.Reason == okrasync.ReasonTooLarge {
			text += ", see --max-value on both sides"
		}
		left = append(left, text)
	}
	if len(left) == 0 && !sum.Complete && !sum.DryRun {
		left = []string{"the trees have changed meanwhile; run it again for the rest"}
	}
	if len(left) == 0 {
		return nil
	}
	return &exitError{exitNo, printableError{errors.New(strings.Join(left, "; "))}}
}

// fewKeys is how many keys a message names.
const fewKeys = 8

func someKeys(keys []string, n int64) string {
	text := strings.Join(keys, ", ")
	if n > int64(len(keys)) {
		text += ", …"
	}
	return text
}

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return humanize.Comma(n) + " " + noun + "s"
}

// An eventRecord is an entry of a dry run in JSON.
type eventRecord struct {
	Action      string `json:"action"`
	Side        string `json:"side"`
	Key         string `json:"key"`
	KeyEncoding string `json:"key_encoding"`
	Reason      string `json:"reason,omitempty"`
}

// A summaryRecord is a summary in JSON, with roots and keys as elsewhere, and with the error of a
// session that has failed.
type summaryRecord struct {
	okrasync.Summary
	Refused   []refusedRecord `json:"refused,omitempty"`
	Before    rootRecord      `json:"before"`
	After     rootRecord      `json:"after"`
	Peer      rootRecord      `json:"peer"`
	PeerAfter rootRecord      `json:"peer_after"`
	Error     string          `json:"error,omitempty"`
}

type refusedRecord struct {
	okrasync.Refused
	Keys []keyRecord `json:"keys"`
}

type keyRecord struct {
	Key         string `json:"key"`
	KeyEncoding string `json:"key_encoding"`
}

func newSummaryRecord(sum okrasync.Summary, n notation) summaryRecord {
	r := summaryRecord{Summary: sum, Before: newRootRecord(sum.Before), After: newRootRecord(sum.After),
		Peer: newRootRecord(sum.Peer), PeerAfter: newRootRecord(sum.PeerAfter)}
	for _, refused := range sum.Refused {
		rr := refusedRecord{Refused: refused, Keys: []keyRecord{}}
		for _, key := range refused.Keys {
			var k keyRecord
			k.Key, k.KeyEncoding = n.jsonText(key)
			rr.Keys = append(rr.Keys, k)
		}
		r.Refused = append(r.Refused, rr)
	}
	return r
}

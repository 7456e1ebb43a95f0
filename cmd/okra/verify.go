package main

import (
	"bufio"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v2"

	"github.com/okradb/okra-go/okra"
)

func verifyCommand() *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "check every entry and the whole tree",
		UsageText: "okra verify DIR [OPTIONS]",
		ArgsUsage: "DIR",
		Description: `Hash every entry again, make every level of the tree from the one below it, and
print what is wrong, one problem a line: level, key, what is wrong. \anchor stands
in the place of the key of a level's first node, \header for the tree's header.
Exit code 0 means a sound tree, 1 that there are problems, 3 that something else
failed. Nothing is written; "okra rebuild" makes a sound tree of a damaged one.

Each level is checked against the level below it as that is stored. A value that
changed is one problem, that of its entry; an entry's hash that changed is one of
the entry and one of its parent; an entry that is gone shows in its parent only.

verify sees one state of the store and reads all of it in little memory. It cannot
tell an older state from the last one: compare the root with one kept elsewhere.
LMDB trusts its file, so one with damaged pages may crash this program: that is a
problem too, and never exit code 0.

--json prints one object a line: the problems, and at the end a summary with "ok".
Where the header is lost, -q, -k and --mode together say what stood in it.

Examples:
  okra verify /data/kv
  okra verify /data/kv --limit 10
  okra verify /data/kv --json | tail -n 1 | jq .ok
  okra verify /data/kv -q 32 -k 16 --mode store`,
		Flags: append(append(append(notationFlags("keys"), damagedFlags()...), progressFlags()...),
			&cli.Int64Flag{Name: "limit", DefaultText: "all", Usage: "stop after `N` problems"},
			jsonFlag("print one JSON object a line"),
			tableFlag(),
		),
		Action: onDir(0, 0, runVerify),
	}
}

func runVerify(c *cli.Context, dir string, _ []string) error {
	if c.IsSet("limit") && c.Int64("limit") < 1 {
		return usagef(c, "--limit %d: it must be at least 1", c.Int64("limit"))
	}
	out, err := newProblemWriter(c)
	if err != nil {
		return err
	}
	var sound soundRecord
	err = withDamaged(c, dir, func(db *okra.DB) error {
		return db.View(func(tx *okra.Tx) error {
			if err := verifyTree(c, tx, out); err != nil || out.count > 0 {
				return err
			}
			return sound.read(tx)
		})
	})
	if err == nil && out.json {
		err = out.summary(sound)
	}
	if err := out.finish(err); err != nil {
		return err
	}
	if out.count > 0 {
		return answerNo("%s", out.counted())
	}
	say(c, "ok: %s entries, levels 0 to %d, root %d %s; K %d, Q %d, %s mode",
		humanize.Comma(sound.Entries), sound.Root.Level, sound.Root.Level, sound.Root.Hash,
		sound.Format.K, sound.Format.Q, sound.Format.Mode)
	return nil
}

// verifyTree prints the problems of tx's tree, up to as many as c asks for.
func verifyTree(c *cli.Context, tx *okra.Tx, out *problemWriter) error {
	watch, end := watched(c, "records checked")
	defer end()
	limit := c.Int64("limit")
	for p, err := range tx.VerifyWatched(watch) {
		if err != nil {
			return err
		}
		if err := out.write(p); err != nil {
			return err
		}
		if out.count == limit {
			out.more = true
			return nil
		}
	}
	return nil
}

// watched returns what shows the progress of work on a tree and ends it after a signal, and what
// is to be called after it.
func watched(c *cli.Context, what string) (okra.Watch, func()) {
	p := newProgress(c, what)
	return func(n int64) error {
		p.add(n)
		return c.Context.Err()
	}, p.end
}

// A soundRecord is what verify says of a sound tree, in JSON.
type soundRecord struct {
	Entries int64        `json:"entries"`
	Root    rootRecord   `json:"root"`
	Format  formatRecord `json:"format"`
}

func (s *soundRecord) read(tx *okra.Tx) error {
	root, err := tx.Root()
	if err != nil {
		return err
	}
	s.Root, s.Format = newRootRecord(root), newFormatRecord(tx.Format())
	s.Entries, err = tx.Len()
	return err
}

// headerMark stands for the header where a key would stand. It is a key in no notation.
const headerMark = `\header`

// A problemWriter prints problems, one a line, and counts them.
type problemWriter struct {
	out      *bufio.Writer
	notation notation
	json     bool
	count    int64
	more     bool // there may be others
}

func newProblemWriter(c *cli.Context) (*problemWriter, error) {
	if err := checkProgress(c); err != nil {
		return nil, err
	}
	n, err := chosenNotation(c)
	return &problemWriter{out: bufio.NewWriter(c.App.Writer), notation: n, json: c.Bool("json")}, err
}

// A problemRecord is a problem in JSON. An anchor and the header have no key.
type problemRecord struct {
	Level       int    `json:"level"`
	Anchor      bool   `json:"anchor,omitempty"`
	Header      bool   `json:"header,omitempty"`
	Key         string `json:"key,omitempty"`
	KeyEncoding string `json:"key_encoding,omitempty"`
	Kind        string `json:"kind"`
	Stored      string `json:"stored,omitempty"`
	Right       string `json:"right,omitempty"`
}

func (w *problemWriter) write(p okra.Problem) error {
	w.count++
	header := p.Key == nil && p.Level == okra.HeaderLevel
	if w.json {
		r := problemRecord{
			Level: p.Level, Anchor: p.Key == nil && !header, Header: header, Kind: p.Kind.String(),
			Stored: p.Stored.String(), Right: p.Right.String(),
		}
		if p.Key != nil {
			r.Key, r.KeyEncoding = w.notation.jsonText(p.Key)
		}
		return writeJSON(w.out, r)
	}
	key := headerMark
	if !header {
		key = nodeText(w.notation, okra.Node{Key: p.Key})
	}
	_, err := fmt.Fprintf(w.out, "%d\t%s\t%s\n", p.Level, key, p.Detail())
	return err
}

// summary prints the last line of JSON.
func (w *problemWriter) summary(sound soundRecord) error {
	s := struct {
		OK       bool  `json:"ok"`
		Problems int64 `json:"problems"`
		More     bool  `json:"more,omitempty"`
		*soundRecord
	}{OK: w.count == 0, Problems: w.count, More: w.more}
	if s.OK {
		s.soundRecord = &sound
	}
	return writeJSON(w.out, s)
}

// counted returns the number of problems in words.
func (w *problemWriter) counted() string {
	switch {
	case w.more:
		return humanize.Comma(w.count) + " problems or more"
	case w.count == 1:
		return "1 problem"
	}
	return humanize.Comma(w.count) + " problems"
}

// finish writes out what is left, also after a failure, and returns err or the error it met.
func (w *problemWriter) finish(err error) error {
	if flushErr := w.out.Flush(); err == nil {
		return flushErr
	}
	return err
}

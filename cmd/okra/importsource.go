package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/okradb/okra-go/okra"
	"github.com/okradb/okra-go/okra/dump"
)

// An entrySource is where the entries of an import come from.
type entrySource interface {
	// Format is that of the tree which the entries come from; the zero Format if they come from
	// none.
	Format() okra.Format
	// Entries yields the entries, from the first again at each call, if they can be had again.
	// The slices are valid until the next.
	Entries() iter.Seq2[dump.Entry, error]
	// Trailer is what is known of the entries once all have been yielded.
	Trailer() dump.Trailer
	Close() error
}

// A dumpSource is a dump in a file or on standard input.
type dumpSource struct {
	c      *cli.Context
	kind   dump.Kind
	in     *input
	again  io.ReadSeeker // nil if the dump can be read once
	reader *dump.Reader
	begun  bool
	done   func() // after the use of again
}

// openDump begins to read the dump in the file called name; "-" is standard input.
func openDump(c *cli.Context, name string) (*dumpSource, error) {
	s := &dumpSource{c: c, done: func() {}}
	if c.IsSet("format") {
		var err error
		if s.kind, err = dump.ParseKind(c.String("format")); err != nil {
			return nil, usagef(c, "--format %q: it must be auto, binary, jsonl or mdb",
				c.String("format"))
		}
	}
	var err error
	if s.in, err = openInput(c.Context, name); err != nil {
		return nil, err
	}
	if err := s.open(); err != nil {
		return nil, errors.Join(s.named(err), s.Close())
	}
	return s, nil
}

func (s *dumpSource) open() (err error) {
	if s.in.size > 0 {
		s.again = s.in
		s.reader, err = dump.NewReader(s.in, s.kind)
		return err
	}
	buffered := bufio.NewReaderSize(s.in, 64<<10)
	first, err := buffered.Peek(16 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if dump.NeedsSeek(first) {
		if s.again, s.done, err = spool(buffered); err != nil {
			s.done = func() {}
			return err
		}
		s.reader, err = dump.NewReader(s.again, s.kind)
		return err
	}
	s.reader, err = dump.NewReader(buffered, s.kind)
	return err
}

// named says in err which dump it is about.
func (s *dumpSource) named(err error) error {
	if s.in.name == "-" {
		return ofSource("standard input", err)
	}
	return ofSource(s.in.name, err)
}

// ofSource says in err what it is about. Where it says what is missing it is no longer that error,
// which would lead to advice on the store.
func ofSource(name string, err error) error {
	for _, absent := range []error{okra.ErrNotExist, okra.ErrNoTable, okra.ErrNotOkra} {
		if errors.Is(err, absent) {
			return fmt.Errorf("%s: %v", name, err)
		}
	}
	return fmt.Errorf("%s: %w", name, err)
}

func (s *dumpSource) Format() okra.Format { return s.reader.Header().Format }

func (s *dumpSource) Entries() iter.Seq2[dump.Entry, error] {
	return func(yield func(dump.Entry, error) bool) {
		if err := s.rewind(); err != nil {
			yield(dump.Entry{}, s.named(err))
			return
		}
		p := newProgress(s.c, "entries imported")
		if s.in.size > 0 {
			p = newProgress(s.c, "imported").ofBytes().upTo(s.in.size)
		}
		defer p.end()
		for e, err := range s.reader.Entries() {
			if err != nil {
				yield(dump.Entry{}, s.named(err))
				return
			}
			if s.in.size > 0 {
				p.set(s.in.read)
			} else {
				p.add(1)
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// rewind goes back to the first entry.
func (s *dumpSource) rewind() error {
	if !s.begun {
		s.begun = true
		return nil
	}
	if s.again == nil {
		return errors.New("the store had to grow, and the input cannot be read again;" +
			" give the store more room with --map-size, or read from a file")
	}
	_, err := s.again.Seek(0, io.SeekStart)
	if err == nil {
		s.reader, err = dump.NewReader(s.again, s.kind)
	}
	return err
}

func (s *dumpSource) Trailer() dump.Trailer {
	t, _ := s.reader.Trailer()
	return t
}

func (s *dumpSource) Close() error {
	s.done()
	return s.in.Close()
}

// openSource opens what the arguments after DIR and the options name.
func openSource(c *cli.Context, args []string) (entrySource, error) {
	from := c.String("from-lmdb")
	switch {
	case !c.IsSet("from-lmdb") && c.IsSet("from-table"):
		return nil, usagef(c, "--from-table is for --from-lmdb")
	case !c.IsSet("from-lmdb"):
	case len(args) > 0:
		return nil, usagef(c, "FILE and --from-lmdb do not fit together")
	case c.IsSet("format"):
		return nil, usagef(c, "--format and --from-lmdb do not fit together")
	case from == "":
		return nil, usagef(c, "--from-lmdb is empty; it names a directory")
	default:
		s, err := openLMDB(c, from, c.String("from-table"))
		if err != nil {
			return nil, err // not a nil *lmdbSource in the interface
		}
		return s, nil
	}
	if len(args) == 0 && term.IsTerminal(int(os.Stdin.Fd())) {
		return nil, usagef(c, "FILE is missing; - is standard input")
	}
	name := "-"
	if len(args) > 0 {
		name = args[0]
	}
	s, err := openDump(c, name)
	if err != nil {
		return nil, err
	}
	return s, nil
}

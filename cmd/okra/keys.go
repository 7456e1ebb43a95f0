package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/okradb/okra-go/okra"
)

func keysFromFlag() cli.Flag {
	return &cli.StringFlag{
		Name:  "keys-from",
		Usage: "read the keys from `FILE`, one a line; - is standard input",
	}
}

// parseKey reads a key in the notation n. The error of a bad one has exit code 2.
func parseKey(c *cli.Context, n notation, s string) ([]byte, error) {
	key, err := decodeKey(n, s)
	if err != nil {
		return nil, usagef(c, "%w", err)
	}
	return key, nil
}

func decodeKey(n notation, s string) ([]byte, error) {
	key, err := n.parse(s)
	if err != nil {
		return nil, fmt.Errorf("key %w", err)
	}
	return key, checkKey(key)
}

func checkKey(key []byte) error {
	if len(key) == 0 {
		return fmt.Errorf("the key is empty; a key is 1 to %d bytes long", okra.MaxKey)
	}
	if len(key) > okra.MaxKey {
		return fmt.Errorf("the key %.40q… is %d bytes long; the limit is %d",
			key, len(key), okra.MaxKey)
	}
	return nil
}

// keysFrom yields the keys of the file which --keys-from names: one a line in the notation n, or
// with --null the raw bytes before each NUL. The keys are the caller's. On failure, or when the
// context of c ends while it waits for input, it yields the error and stops.
func keysFrom(c *cli.Context, n notation) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		in := os.Stdin
		if name := c.String("keys-from"); name != "-" {
			f, err := os.Open(name)
			if err != nil {
				yield(nil, err)
				return
			}
			defer f.Close()
			in = f
		}
		ctx, cancel := context.WithCancel(c.Context)
		defer cancel()
		null := c.Bool("null")
		lines := make(chan inputLine)
		go sendLines(ctx, in, null, lines)
		for number := 1; ; number++ {
			var line inputLine
			select {
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			case line = <-lines:
			}
			if errors.Is(line.err, io.EOF) {
				return
			}
			key, err := line.key(n, null)
			switch {
			case errors.Is(line.err, bufio.ErrTooLong):
				err = usagef(c, "input %d is far too long for a key", number)
			case line.err != nil:
				err = fmt.Errorf("reading key %d: %w", number, line.err)
			case err != nil:
				err = usagef(c, "input %d: %w", number, err)
			}
			if !yield(key, err) || err != nil {
				return
			}
		}
	}
}

// An inputLine is one line of input, or how the input ended.
type inputLine struct {
	text string
	err  error
}

// key returns the key which the line is: raw with null, else in the notation n.
func (l inputLine) key(n notation, null bool) ([]byte, error) {
	if null {
		return []byte(l.text), checkKey([]byte(l.text))
	}
	return decodeKey(n, l.text)
}

// sendLines sends the lines of in, or its NUL-ended parts, and at last an inputLine with an error:
// io.EOF if all was read. It runs beside the reader of the channel so that a signal can end the
// wait for input.
func sendLines(ctx context.Context, in io.Reader, null bool, lines chan<- inputLine) {
	scanner := bufio.NewScanner(in)
	if null {
		scanner.Split(endedBy(0))
	} else {
		scanner.Split(endedBy('\n'))
	}
	send := func(l inputLine) bool {
		select {
		case lines <- l:
			return true
		case <-ctx.Done():
			return false
		}
	}
	for scanner.Scan() {
		if !send(inputLine{text: scanner.Text()}) {
			return
		}
	}
	err := scanner.Err()
	if err == nil {
		err = io.EOF
	}
	send(inputLine{err: err})
}

// endedBy splits a stream into parts that end in mark, which is left out; the last may lack it.
func endedBy(mark byte) bufio.SplitFunc {
	return func(data []byte, atEOF bool) (int, []byte, error) {
		if i := bytes.IndexByte(data, mark); i >= 0 {
			return i + 1, data[:i], nil
		}
		if atEOF && len(data) > 0 {
			return len(data), data, nil
		}
		return 0, nil, nil
	}
}

// readAll reads r to its end, or until ctx ends; then the read is left behind, so the program
// must end soon. It refuses more than limit bytes.
func readAll(ctx context.Context, r io.Reader, limit int64) ([]byte, error) {
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(r, limit+1))
		done <- result{data, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case got := <-done:
		if int64(len(got.data)) > limit {
			return nil, fmt.Errorf("the value is longer than %d bytes", limit)
		}
		return got.data, got.err
	}
}

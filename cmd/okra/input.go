package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
)

// An input is a file, or standard input, that is read from its start to its end.
type input struct {
	io.Reader
	name string
	file *os.File // to be closed; nil for standard input
	size int64    // in bytes; 0 if it cannot be read again
	read int64    // bytes read so far
}

// openInput opens the file called name; "-" is standard input. What is no regular file, such as
// a pipe, may have to be waited for: reading it ends with the error of ctx when that ends. The
// read under way is then left behind, so the program must end soon.
func openInput(ctx context.Context, name string) (*input, error) {
	in := &input{name: name}
	f := os.Stdin
	if name != "-" {
		var err error
		if f, err = os.Open(name); err != nil {
			return nil, err
		}
		in.file = f
	}
	info, err := f.Stat()
	if err != nil {
		in.Close()
		return nil, err
	}
	if info.IsDir() {
		in.Close()
		return nil, errors.New(name + " is a directory, no file")
	}
	// Standard input may stand in the middle of a file, as after another program.
	if at, err := f.Seek(0, io.SeekCurrent); info.Mode().IsRegular() && err == nil && at == 0 {
		in.Reader, in.size = f, info.Size()
		return in, nil
	}
	in.Reader = newPump(ctx, f)
	return in, nil
}

// Read counts what it reads.
func (in *input) Read(b []byte) (int, error) {
	n, err := in.Reader.Read(b)
	in.read += int64(n)
	return n, err
}

// Seek is that of the file, or an error.
func (in *input) Seek(offset int64, whence int) (int64, error) {
	s, ok := in.Reader.(io.Seeker)
	if !ok {
		return 0, errors.New(in.name + " cannot be read again")
	}
	at, err := s.Seek(offset, whence)
	in.read = at
	return at, err
}

func (in *input) Close() error {
	if in.file == nil {
		return nil
	}
	return in.file.Close()
}

// pumpSize is that of each of the two buffers of a pump.
const pumpSize = 256 << 10

// A pump reads ahead in a goroutine of its own, so that its reader need not wait for longer than
// its context lasts.
type pump struct {
	ctx  context.Context
	full chan pumped
	free chan []byte
	now  pumped
	left []byte // of now, to be read
}

type pumped struct {
	buf []byte
	n   int
	err error
}

func newPump(ctx context.Context, r io.Reader) *pump {
	p := &pump{ctx: ctx, full: make(chan pumped), free: make(chan []byte, 2)}
	p.free <- make([]byte, pumpSize)
	p.free <- make([]byte, pumpSize)
	go p.run(r)
	return p
}

func (p *pump) run(r io.Reader) {
	for {
		var next pumped
		select {
		case next.buf = <-p.free:
		case <-p.ctx.Done():
			return
		}
		next.n, next.err = r.Read(next.buf)
		select {
		case p.full <- next:
		case <-p.ctx.Done():
			return
		}
		if next.err != nil {
			return
		}
	}
}

func (p *pump) Read(b []byte) (int, error) {
	for len(p.left) == 0 {
		if p.now.err != nil {
			return 0, p.now.err
		}
		if p.now.buf != nil {
			p.free <- p.now.buf
		}
		select {
		case p.now = <-p.full:
			p.left = p.now.buf[:p.now.n]
		case <-p.ctx.Done():
			return 0, p.ctx.Err()
		}
	}
	n := copy(b, p.left)
	p.left = p.left[n:]
	return n, nil
}

// spoolMemory is how much of an input is kept in memory, in bytes, rather than in a file.
const spoolMemory = 16 << 20

// spool reads r to its end and returns it as something that can be read again and again. Call
// done at the end.
func spool(r io.Reader) (again io.ReadSeeker, done func(), err error) {
	var head bytes.Buffer
	n, err := io.CopyN(&head, r, spoolMemory)
	if errors.Is(err, io.EOF) {
		return bytes.NewReader(head.Bytes()), func() {}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := os.CreateTemp("", "okra-input-*")
	if err != nil {
		return nil, nil, err
	}
	done = func() {
		f.Close()
		os.Remove(f.Name())
	}
	if _, err = f.Write(head.Bytes()[:n]); err == nil {
		_, err = io.Copy(f, r)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return f, done, nil
}

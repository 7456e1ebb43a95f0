package peer

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	okrasync "github.com/okradb/okra-go/sync"
)

// ErrWrongPeer is an answer from another peer than the one that was asked for.
var ErrWrongPeer = errors.New("another peer answers at this address")

// How long setting up a connection may take.
const (
	connectTime   = 10 * time.Second // TCP
	handshakeTime = 5 * time.Second  // TLS and the greeting
)

// The greetings of a server.
const (
	greetWelcome byte = iota
	greetBusy
	greetDenied
)

// Dial connects to the peer at an address as the peer that me is. The connection is ready for
// sessions of package sync, and belongs to the caller. The errors it wraps are [ErrWrongPeer],
// those of the network and of ctx, and of package sync ErrBusy, ErrDenied if the peer does not
// know us, and ErrProtocol.
func Dial(ctx context.Context, me *Identity, to Address) (net.Conn, error) {
	conn, err := dial(ctx, me, to, handshakeTime)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", to, err)
	}
	return conn, nil
}

func dial(ctx context.Context, me *Identity, to Address, patience time.Duration) (net.Conn, error) {
	raw, err := (&net.Dialer{Timeout: connectTime}).DialContext(ctx, "tcp", to.HostPort())
	if err != nil {
		return nil, err
	}
	conn := tls.Client(raw, me.tlsConfig(func(id ID) error {
		if id != to.ID {
			return fmt.Errorf("%w: its ID is %s", ErrWrongPeer, id)
		}
		return nil
	}))
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := greeted(limited, conn); err != nil {
		raw.Close()
		switch {
		case ctx.Err() != nil:
			err = ctx.Err()
		case limited.Err() != nil:
			err = fmt.Errorf("%w: no greeting within %v", okrasync.ErrTimeout, patience)
		case errors.Is(err, okrasync.ErrDenied):
			err = fmt.Errorf("%w: whoever runs the peer must allow our ID, %s", err, me.id)
		}
		return nil, err
	}
	return conn, nil
}

// greeted does the handshake and waits for the greeting, until ctx ends.
func greeted(ctx context.Context, conn *tls.Conn) error {
	if err := conn.HandshakeContext(ctx); err != nil {
		return handshakeError(err)
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	var greeting [1]byte
	_, err := io.ReadFull(conn, greeting[:])
	if !stop() {
		return ctx.Err()
	}
	if err != nil {
		return handshakeError(err)
	}
	switch greeting[0] {
	case greetWelcome:
		return nil
	case greetBusy:
		return fmt.Errorf("%w: it has as many sessions as it takes", okrasync.ErrBusy)
	case greetDenied:
		return okrasync.ErrDenied
	}
	return fmt.Errorf("%w: it greets us with %#x", okrasync.ErrProtocol, greeting[0])
}

// handshakeError says what err, met before the greeting, means.
func handshakeError(err error) error {
	var notTLS tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: in the handshake", okrasync.ErrCut)
	case errors.As(err, &notTLS), errors.As(err, &alert), errors.Is(err, errNoProtocol):
		return fmt.Errorf("%w: in the handshake: %w", okrasync.ErrProtocol, err)
	}
	return err
}

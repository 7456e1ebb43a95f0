package peer

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	okrasync "github.com/okradb/okra-go/sync"
)

// Those who are not okra peers are sent away, and the server goes on.
func TestStrangers(t *testing.T) {
	me := newMe(t)
	r := serve(t, newDB(t, 1, ""), me, ServerOptions{})
	at := r.at.HostPort()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	other := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	change := func(with func(*tls.Config)) func(*testing.T) {
		return func(t *testing.T) {
			config := me.tlsConfig(func(ID) error { return nil })
			with(config)
			conn, err := tls.Dial("tcp", at, config)
			if err != nil {
				return
			}
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(longTime))
			var greeting [1]byte
			var timeout net.Error
			if _, err := io.ReadFull(conn, greeting[:]); err == nil || errors.As(err, &timeout) && timeout.Timeout() {
				t.Errorf("greeted with %d, %v", greeting[0], err)
			}
		}
	}
	for name, try := range map[string]func(*testing.T){
		"HTTP": func(t *testing.T) {
			client := http.Client{Timeout: longTime}
			if resp, err := client.Get("http://" + at); err == nil {
				resp.Body.Close()
				if resp.StatusCode != http.StatusBadRequest {
					t.Errorf("answers HTTP with %s", resp.Status)
				}
			} else if strings.Contains(err.Error(), "Timeout") {
				t.Error(err)
			}
		},
		"garbage": func(t *testing.T) {
			conn, err := net.Dial("tcp", at)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.Write(bytes.Repeat([]byte{0x16, 3, 3, 0xff, 0xff}, 100_000))
			conn.SetReadDeadline(time.Now().Add(longTime))
			var timeout net.Error
			if b, err := io.ReadAll(conn); errors.As(err, &timeout) && timeout.Timeout() || len(b) > 100 {
				t.Errorf("reads %d bytes, %v", len(b), err)
			}
		},
		"TLS 1.2":        change(func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS12, tls.VersionTLS12 }),
		"no certificate": change(func(c *tls.Config) { c.Certificates = nil }),
		"other key":      change(func(c *tls.Config) { c.Certificates = []tls.Certificate{other} }),
		"other protocol": change(func(c *tls.Config) { c.NextProtos = []string{"h2"} }),
		"no protocol":    change(func(c *tls.Config) { c.NextProtos, c.VerifyConnection = nil, nil }),
		"key of another": change(func(c *tls.Config) {
			c.Certificates = []tls.Certificate{{Certificate: me.cert.Certificate, PrivateKey: newMe(t).cert.PrivateKey}}
		}),
		"two certificates": change(func(c *tls.Config) {
			cert := me.cert
			cert.Certificate = append(cert.Certificate[:1:1], der)
			c.Certificates = []tls.Certificate{cert}
		}),
	} {
		t.Run(name, try)
	}
	eventually(t, "all are gone", func() bool { n, pending := r.numbers(); return n+pending == 0 })
	if strings.Contains(r.log.String(), "session begins") {
		t.Error("one of them had a session")
	}
	if _, err := okrasync.Pull(background, dialed(t, me, r), newDB(t, 0, ""), nil); err != nil {
		t.Errorf("pull after that: %v", err)
	}
}

// What does not speak okra, on the other end, gives an error that says so, in its time.
func TestDialStrangers(t *testing.T) {
	me := newMe(t)
	// answering returns the address of who does this to connections.
	answering := func(t *testing.T, do func(net.Conn)) Address {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		over := make(chan struct{})
		go func() {
			defer close(over)
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				defer conn.Close() // or else the collector of garbage closes it when it likes
				go do(conn)
			}
		}()
		t.Cleanup(func() { l.Close(); <-over })
		return Address{me.ID(), "127.0.0.1", uint16(l.Addr().(*net.TCPAddr).Port)}
	}
	speaking := func(greeting ...byte) func(net.Conn) {
		return func(raw net.Conn) {
			conn := tls.Server(raw, me.tlsConfig(func(ID) error { return nil }))
			conn.Write(greeting)
			conn.Close()
		}
	}
	for name, c := range map[string]struct {
		do   func(net.Conn)
		want error
	}{
		"closes":         {func(c net.Conn) { c.Close() }, nil},
		"other protocol": {func(c net.Conn) { io.WriteString(c, "SSH-2.0-x\r\n"); c.Close() }, okrasync.ErrProtocol},
		"odd greeting":   {speaking(77), okrasync.ErrProtocol},
		"no greeting":    {speaking(), okrasync.ErrCut},
		"busy":           {speaking(greetBusy), okrasync.ErrBusy},
		"denied":         {speaking(greetDenied), okrasync.ErrDenied},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := Dial(background, me, answering(t, c.do))
			if err == nil {
				conn.Close()
			}
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
	t.Run("silent", func(t *testing.T) {
		_, err := dial(background, me, answering(t, func(net.Conn) {}), 50*time.Millisecond)
		if !errors.Is(err, okrasync.ErrTimeout) {
			t.Errorf("error %v, want ErrTimeout", err)
		}
	})
	t.Run("ended by the caller", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(background, 20*time.Millisecond)
		defer cancel()
		_, err := Dial(ctx, me, answering(t, func(net.Conn) {}))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want that of the context", err)
		}
	})
	t.Run("no greeting, but silence", func(t *testing.T) {
		shaken := make(chan error, 1)
		at := answering(t, func(raw net.Conn) {
			shaken <- tls.Server(raw, me.tlsConfig(func(ID) error { return nil })).HandshakeContext(background)
		})
		for patience := 100 * time.Millisecond; ; patience *= 2 { // until the handshake takes less
			_, err := dial(background, me, at, patience)
			if !errors.Is(err, okrasync.ErrTimeout) {
				t.Fatalf("error %v, want ErrTimeout", err)
			}
			if <-shaken == nil {
				break
			}
		}
	})
}

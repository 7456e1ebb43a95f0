package peer

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// ErrIdentity is an identity file that cannot be used.
var ErrIdentity = errors.New("identity cannot be used")

// An Identity is the key of a peer: who has it is the peer. It does not change.
type Identity struct {
	id   ID
	cert tls.Certificate
}

// ID returns the ID of the identity's key.
func (i *Identity) ID() ID { return i.id }

// DefaultIdentity returns the path of the user's identity file: okra/identity.pem in the user's
// folder for configuration.
func DefaultIdentity() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("no place for the identity, name a file for it: %w", err)
	}
	return filepath.Join(dir, "okra", "identity.pem"), nil
}

const (
	identityBlock = "PRIVATE KEY" // PKCS #8
	identityBytes = 16 << 10      // more than that is no identity file
)

// LoadIdentity reads the identity in the file at path. If there is no file it makes one with a
// new key, which only the user may read; of several processes that do so at once all get the same
// identity. A file that is there is never changed. One that others may read, or that is damaged,
// gives [ErrIdentity].
func LoadIdentity(path string) (*Identity, error) {
	id, err := readIdentity(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return id, err
	}
	if err := createIdentity(path); err != nil {
		return nil, fmt.Errorf("make the identity %s: %w", path, err)
	}
	return readIdentity(path)
}

func readIdentity(path string) (*Identity, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the identity: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the identity: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is not a regular file; name another", ErrIdentity, path)
	}
	// Windows has no such permissions.
	if perm := info.Mode().Perm(); perm&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("%w: others may read or change %s (mode %04o); if nobody has, run: "+
			"chmod 600 %[2]s; else remove it, and a new identity is made", ErrIdentity, path, perm)
	}
	text, err := io.ReadAll(io.LimitReader(f, identityBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the identity %s: %w", path, err)
	}
	key, err := parseIdentity(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %s is damaged (%w); bring it back from a backup, or remove it and a "+
			"new identity, with another ID, is made", ErrIdentity, path, err)
	}
	return newIdentity(key)
}

// parseIdentity returns the key in the text of an identity file.
func parseIdentity(text []byte) (ed25519.PrivateKey, error) {
	if len(text) > identityBytes {
		return nil, errors.New("it is too long")
	}
	block, rest := pem.Decode(text)
	if block == nil || block.Type != identityBlock {
		return nil, errors.New("it has no private key")
	}
	if next, _ := pem.Decode(rest); next != nil {
		return nil, errors.New("it has more than one key")
	}
	// The parser's own errors may cite what they have read.
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("its private key cannot be read")
	}
	private, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, errors.New("its private key is not an Ed25519 key")
	}
	return private, nil
}

// createIdentity makes a file with a new key at path. If there is one by now, it leaves that.
func createIdentity(path string) error {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// CreateTemp gives mode 0600.
	f, err := os.CreateTemp(dir, ".identity-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	err = pem.Encode(f, &pem.Block{Type: identityBlock, Bytes: der})
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	// A link, unlike a rename, leaves a file that is there.
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w; name a file on a file system that has hard links", err)
	}
	return nil
}

// newIdentity returns the identity of a key, with a certificate for it. Dates and names in that
// mean nothing.
func newIdentity(key ed25519.PrivateKey) (*Identity, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:     time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	id, err := idOf(cert)
	if err != nil {
		return nil, err
	}
	return &Identity{id, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: cert}}, nil
}

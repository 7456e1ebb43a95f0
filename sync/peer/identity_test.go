package peer

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// newMe returns an identity that is new.
func newMe(t testing.TB) *Identity {
	t.Helper()
	me, err := LoadIdentity(filepath.Join(t.TempDir(), "identity.pem"))
	if err != nil {
		t.Fatal(err)
	}
	return me
}

func TestIdentityIsMadeOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new", "folder", "identity.pem")
	ids := make([]ID, 20)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			me, err := LoadIdentity(path)
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = me.ID()
		})
	}
	all.Wait()
	for _, id := range ids {
		if id != ids[0] || id == (ID{}) {
			t.Fatalf("IDs %v and %v from one file", ids[0], id)
		}
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) != 1 {
		t.Errorf("files %v, %v; want the identity alone", files, err)
	}
	if runtime.GOOS != "windows" {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, want 0600", info.Mode())
		}
	}
	if other := newMe(t); other.ID() == ids[0] {
		t.Error("two new identities are the same")
	}
}

// A file that cannot be used is told from one that is missing, is named and is left as it is.
func TestIdentityDamaged(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good.pem")
	if _, err := LoadIdentity(good); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, damaged := range map[string][]byte{
		"empty":     {},
		"cut":       text[:len(text)/2],
		"changed":   bytes.Replace(text, []byte("MC4"), []byte("MC5"), 1),
		"two":       append(bytes.Clone(text), text...),
		"ecdsa":     pem.EncodeToMemory(&pem.Block{Type: identityBlock, Bytes: der}),
		"long":      append(bytes.Clone(text), make([]byte, identityBytes)...),
		"no key":    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		"wrong key": pem.EncodeToMemory(&pem.Block{Type: identityBlock, Bytes: []byte("secret")}),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := LoadIdentity(path)
			if !errors.Is(err, ErrIdentity) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v, want ErrIdentity with the path", err)
			}
			if after, err := os.ReadFile(path); !bytes.Equal(after, damaged) || err != nil {
				t.Errorf("the file has changed, %v", err)
			}
		})
	}
	if _, err := LoadIdentity(dir); !errors.Is(err, ErrIdentity) {
		t.Errorf("a directory: error %v, want ErrIdentity", err)
	}
	if _, err := LoadIdentity(filepath.Join(good, "in a file")); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("below a file: error %v", err)
	}
}

func TestIdentityReadableByOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such permissions")
	}
	path := filepath.Join(t.TempDir(), "identity.pem")
	if _, err := LoadIdentity(path); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []fs.FileMode{0o640, 0o604, 0o620} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := LoadIdentity(path)
		if !errors.Is(err, ErrIdentity) || !strings.Contains(err.Error(), "chmod 600 "+path) {
			t.Errorf("mode %o: error %v, want ErrIdentity with the next step", mode, err)
		}
	}
}

func FuzzIdentity(f *testing.F) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(pem.EncodeToMemory(&pem.Block{Type: identityBlock, Bytes: der}))
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		key, err := parseIdentity(text)
		if (err == nil) != (len(key) == ed25519.PrivateKeySize) {
			t.Errorf("a key of %d bytes, error %v", len(key), err)
		}
	})
}

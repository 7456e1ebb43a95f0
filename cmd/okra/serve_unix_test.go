//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/okradb/okra-go/okra"
	okrasync "github.com/okradb/okra-go/sync"
	"github.com/okradb/okra-go/sync/peer"
)

// okraCommand returns okra with args, as the user who has the identity in the file of that name.
func okraCommand(identity string, args ...string) *exec.Cmd {
	return exec.Command("okra", append(args, "--identity", identity)...)
}

// want runs cmd, wants it to end with the code, and returns its output.
func want(t *testing.T, code int, cmd *exec.Cmd) (stdout, stderr string) {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Fatalf("%q: %v, want exit code %d\n%s", cmd.Args, err, code, errOut.String())
	}
	return out.String(), errOut.String()
}

// storeOf makes a store with n entries that have values of the size, and returns its directory.
func storeOf(t *testing.T, n, size int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "kv")
	db, err := okra.Open(dir, &okra.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *okra.Tx) error {
		_, err := tx.Load(sized(n, size))
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// sized yields numbered entries whose values are filled up to a size.
func sized(n, size int) iter.Seq2[okra.Entry, error] {
	return func(yield func(okra.Entry, error) bool) {
		for e, err := range numbered(n) {
			e.Value = append(e.Value, make([]byte, max(0, size-len(e.Value)))...)
			if !yield(e, err) {
				return
			}
		}
	}
}

// A testServer is okra serve, running.
type testServer struct {
	cmd     *exec.Cmd
	address string
	stderr  *syncBuffer
	out     io.Reader
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// waitFor waits until the text, a regular expression, is there, and returns what it captures.
func (s *syncBuffer) waitFor(t *testing.T, text string) []string {
	t.Helper()
	re := regexp.MustCompile(text)
	for until := time.Now().Add(2 * time.Minute); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if found := re.FindStringSubmatch(s.String()); found != nil {
			return found
		}
	}
	t.Fatalf("no %q in\n%s", text, s)
	return nil
}

// startServer starts okra serve on a free port.
func startServer(t *testing.T, identity, dir string, args ...string) *testServer {
	t.Helper()
	return startServerBy(t, nil, identity, dir, append([]string{"--listen", "127.0.0.1:0"}, args...)...)
}

// startServerBy starts okra serve by a command that runs its arguments, or by itself.
func startServerBy(t *testing.T, by []string, identity, dir string, args ...string) *testServer {
	t.Helper()
	s := &testServer{stderr: new(syncBuffer)}
	s.cmd = okraCommand(identity, append([]string{"serve", dir}, args...)...)
	if len(by) > 0 {
		s.cmd = exec.Command(by[0], append(by[1:], s.cmd.Args...)...)
	}
	s.cmd.Stderr = s.stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.cmd.Process.Kill()
		s.cmd.Wait()
	})
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("no address: %v\n%s", err, s.stderr)
	}
	s.address, s.out = strings.TrimSpace(line), lines
	return s
}

// end sends a signal and wants the server to end with the code.
func (s *testServer) end(t *testing.T, sig os.Signal, code int) {
	t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(s.out)
	if err != nil || len(rest) > 0 {
		t.Errorf("after the address it prints %q, %v", rest, err)
	}
	s.cmd.Wait()
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("%v ends it with %v, want exit code %d\n%s", sig, s.cmd.ProcessState, code, s.stderr)
	}
}

// Two processes with identities of their own, over TLS.
func TestServeTLS(t *testing.T) {
	far, near := storeOf(t, 2_000, 10), filepath.Join(t.TempDir(), "near")
	ids := t.TempDir()
	host, ann, bob := filepath.Join(ids, "host"), filepath.Join(ids, "ann"), filepath.Join(ids, "bob")
	id := func(identity string) string {
		out, _ := want(t, 0, okraCommand(identity, "id"))
		return strings.TrimSpace(out)
	}
	allow := filepath.Join(ids, "allow")
	write := func(text string) {
		if err := os.WriteFile(allow, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(id(ann) + " write ann\n")
	s := startServer(t, host, far, "--allow", allow, "--metrics", ":0", "--log", "json")
	if !strings.HasPrefix(s.address, "okra://"+id(host)+"@127.0.0.1:") {
		t.Errorf("address %q", s.address)
	}

	if _, said := want(t, 0, okraCommand(ann, "pull", near, s.address)); !strings.Contains(said, "here 2,000 added") {
		t.Errorf("pull says %q", said)
	}
	want(t, 0, exec.Command("okra", "put", near, "more", "v"))
	out, _ := want(t, 1, okraCommand(ann, "diff", near, s.address))
	if out != "- more\n" {
		t.Errorf("diff prints %q", out)
	}
	want(t, 0, okraCommand(ann, "push", near, s.address))
	want(t, 0, okraCommand(ann, "sync", near, s.address))
	want(t, 0, okraCommand(ann, "diff", s.address, near))
	wrong := strings.Replace(s.address, id(host), id(bob), 1)
	if _, said := want(t, 3, okraCommand(ann, "pull", near, wrong)); !strings.Contains(said, "another peer answers") {
		t.Errorf("wrong ID: it says %q", said)
	}

	// Bob is let in by SIGHUP, to read. A list that cannot be read changes nothing.
	if _, said := want(t, 3, okraCommand(bob, "pull", near, s.address)); !strings.Contains(said, id(bob)) {
		t.Errorf("not allowed: it says %q", said)
	}
	write(id(ann) + " write ann\n" + id(bob) + " read\n")
	s.cmd.Process.Signal(syscall.SIGHUP)
	s.stderr.waitFor(t, `"allow list read again","peers":2`)
	want(t, 0, okraCommand(bob, "pull", near, s.address))
	want(t, 0, exec.Command("okra", "put", near, "bob", "v"))
	want(t, 3, okraCommand(bob, "push", near, s.address))
	write("nonsense")
	s.cmd.Process.Signal(syscall.SIGHUP)
	s.stderr.waitFor(t, "allow list not read again")
	want(t, 0, okraCommand(ann, "push", near, s.address))

	at := s.stderr.waitFor(t, `"serving metrics","listen":"([^"]*)"`)[1]
	if !strings.HasPrefix(at, "127.0.0.1:") {
		t.Errorf("metrics are at %s", at)
	}
	resp, err := http.Get("http://" + at + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	figures, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || !bytes.Contains(figures, []byte(`okra_refused_total{reason="not allowed"} 1`+"\n")) {
		t.Errorf("figures: %v, %.2000s", err, figures)
	}
	s.end(t, syscall.SIGTERM, 0)
	for line := range strings.Lines(s.stderr.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("the log has %q", line)
		}
	}
	key, err := os.ReadFile(host)
	if err != nil {
		t.Fatal(err)
	}
	if secret := strings.Split(string(key), "\n")[1]; strings.Contains(s.stderr.String(), secret) {
		t.Error("the log has the key")
	}
	want(t, 3, okraCommand(ann, "pull", near, s.address)) // nobody is there
}

// Without a list the own identity may do all; --read-only; the ends by signals.
func TestServeOwn(t *testing.T) {
	far, near := storeOf(t, 100, 10), storeOf(t, 200, 10)
	me := filepath.Join(t.TempDir(), "me")
	s := startServer(t, me, far, "--read-only", "--json")
	var said struct{ Address, ID, Listen string }
	if err := json.Unmarshal([]byte(s.address), &said); err != nil || said.Address != "okra://"+said.ID+"@"+said.Listen {
		t.Errorf("it prints %s, %v", s.address, err)
	}
	want(t, 3, okraCommand(me, "push", near, said.Address))
	s.stderr.waitFor(t, "access=read")
	s.end(t, os.Interrupt, exitInterrupted)

	id, _ := want(t, 0, okraCommand(me, "id"))
	s = startServer(t, me, far, "--read-only", "--allow-peer", strings.TrimSpace(id)+"=write")
	want(t, 3, okraCommand(me, "push", near, s.address))
	s.stderr.waitFor(t, "access=read")
	s.end(t, os.Interrupt, exitInterrupted)
	want(t, 2, okraCommand(me, "serve", far, "--read-only", "--listen", ":0"))
	want(t, 2, okraCommand(me, "serve", far, "--read-only", "--listen", "7346"))

	s = startServer(t, me, far)
	want(t, 0, okraCommand(me, "push", near, s.address))
	s.end(t, syscall.SIGTERM, 0)

	// A session that does not come to its end is cut, which is no clean end.
	s = startServer(t, me, far, "--drain", "50ms")
	identity, err := peer.LoadIdentity(me)
	if err != nil {
		t.Fatal(err)
	}
	to, err := peer.ParseAddress(s.address)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := peer.Dial(t.Context(), identity, to)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	db, err := okra.Open(near, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	// When this is answered the session has begun, and it may go on.
	if _, err := okrasync.Pull(t.Context(), conn, db, nil); err != nil {
		t.Fatal(err)
	}
	s.end(t, syscall.SIGTERM, exitFailed)
	s.stderr.waitFor(t, "sessions were cut off")
}

// Ctrl-C ends a pull, and what it has started.
func TestInterruptedPull(t *testing.T) {
	near := storeOf(t, 1, 1)
	cmd := exec.Command("okra", "pull", near, "exec:echo started $$ >&2; exec sleep 1000")
	var said syncBuffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(said.waitFor(t, `started (\d+)`)[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != exitInterrupted {
		t.Errorf("it ends with %v\n%s", cmd.ProcessState, &said)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the program is left behind: %v", err)
	}
}

// A push that fails or is interrupted says what it has done, as far as it is known, and why.
func TestCutPush(t *testing.T) {
	near := storeOf(t, 20_000, 500)
	var said struct {
		There struct{ Added int64 }
		Error string
	}
	added := func(dir string) int64 {
		out, _ := want(t, 0, exec.Command("okra", "count", dir))
		n, err := strconv.ParseInt(strings.TrimSpace(out), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	far := filepath.Join(t.TempDir(), "far")
	want(t, 0, exec.Command("okra", "init", far, "--map-size", "8MiB"))
	out, errOut := want(t, exitFailed, exec.Command("okra", "push", near, far, "--map-size", "8MiB", "--json"))
	if err := json.Unmarshal([]byte(out), &said); err != nil {
		t.Fatal(err)
	}
	if n := added(far); n == 0 || said.There.Added != n || !strings.Contains(said.Error, "map is full") {
		t.Errorf("%d are added, it says %s", n, out)
	}
	if !regexp.MustCompile(`^okra: there [\d,]+ added, .*, which stays\nokra: push .*map is full`).MatchString(errOut) {
		t.Errorf("it says %s", errOut)
	}

	// A peer that is elsewhere tells how much it wrote at the end only.
	far = storeOf(t, 0, 0)
	_, errOut = want(t, exitFailed, exec.Command("okra", "push", near,
		"exec:okra serve "+far+" --stdio --write --map-size 1MiB"))
	if !regexp.MustCompile(`(?m)^okra: the peer has not said how many of the last [\d,]+ changes it wrote`).MatchString(errOut) {
		t.Errorf("it says %s", errOut)
	}
	if !regexp.MustCompile(`(?m)^okra: push .*: peer has failed: it says "its store is full"; sh ended .*map is full`).MatchString(errOut) {
		t.Errorf("it says %s", errOut)
	}
	me := filepath.Join(t.TempDir(), "me")
	s := startServer(t, me, storeOf(t, 0, 0), "--map-size", "1MiB")
	_, errOut = want(t, exitFailed, okraCommand(me, "push", near, s.address))
	if !regexp.MustCompile(`(?m)^okra: push .*: send entries: peer has failed: it says "its store is full"$`).MatchString(errOut) {
		t.Errorf("it says %s", errOut)
	}
}

// A hangup ends a server that has no list to read again in order, and one under nohup not at all.
func TestServeHangup(t *testing.T) {
	// Were it ignored here, as under nohup, it would be by what is started, too.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	me, near := filepath.Join(t.TempDir(), "me"), storeOf(t, 0, 0)
	s := startServer(t, me, storeOf(t, 0, 10))
	s.end(t, syscall.SIGHUP, exitInterrupted)
	if !strings.Contains(s.stderr.String(), "shutting down") {
		t.Errorf("it says %s", s.stderr)
	}
	s = startServerBy(t, []string{"nohup"}, me, storeOf(t, 0, 10), "--listen", "127.0.0.1:0")
	s.cmd.Process.Signal(syscall.SIGHUP)
	want(t, 0, okraCommand(me, "pull", near, s.address))
	s.end(t, syscall.SIGTERM, 0)
}

// A narrowLink stands between a client and a server. It lets bytes towards the client through up to
// a limit, then none, and when it is cut those that are still under way are lost: how many a system
// holds for a server that is killed differs.
type narrowLink struct {
	address string // of the server, by way of the link
	cut     func()
}

// narrow returns a link to the server, for one client.
func narrow(t *testing.T, s *testServer, limit int64) narrowLink {
	t.Helper()
	id, hostPort, found := strings.Cut(s.address, "@")
	if !found {
		t.Fatalf("the server has the address %s", s.address)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	cut := sync.OnceFunc(func() { close(over) })
	t.Cleanup(func() {
		l.Close()
		cut()
	})
	go func() {
		client, err := l.Accept()
		if err != nil {
			return
		}
		defer client.Close()
		server, err := net.Dial("tcp", hostPort)
		if err != nil {
			return
		}
		defer server.Close()
		go io.Copy(server, client)
		if _, err := io.CopyN(client, server, limit); err == nil {
			<-over
		}
	}()
	return narrowLink{address: id + "@" + l.Addr().String(), cut: cut}
}

// Either side is killed amid a transfer; the next session goes on from what is there.
func TestKilledAmidTransfer(t *testing.T) {
	const n = 30_000 // 15 MB, of which batches of 1 MiB get through before the link stops
	far := storeOf(t, n, 500)
	me := filepath.Join(t.TempDir(), "me")
	for _, victim := range []string{"client", "server"} {
		t.Run(victim, func(t *testing.T) {
			near := filepath.Join(t.TempDir(), "near")
			s := startServer(t, me, far)
			link := narrow(t, s, 4<<20)
			client := okraCommand(me, "pull", near, link.address)
			var said syncBuffer
			client.Stderr = &said
			if err := client.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				client.Process.Kill()
				client.Wait()
			})
			for until := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
				out, err := exec.Command("okra", "count", near).Output()
				if err == nil && strings.TrimSpace(string(out)) != "0" {
					break
				}
				if time.Now().After(until) {
					t.Fatalf("the transfer does not begin\n%s", &said)
				}
			}
			if victim == "client" {
				client.Process.Kill()
				client.Wait()
				link.cut()
			} else {
				s.cmd.Process.Kill()
				s.cmd.Wait()
				link.cut()
				client.Wait()
				if got := client.ProcessState.ExitCode(); got != exitFailed || !strings.Contains(said.String(), "which stays") {
					t.Errorf("the client ends with %v and says %s", client.ProcessState, &said)
				}
				s = startServer(t, me, far)
			}
			want(t, 0, exec.Command("okra", "verify", near, "--quiet"))
			out, _ := want(t, 0, okraCommand(me, "pull", near, s.address, "--json"))
			var sum struct {
				Here  struct{ Added int }
				Equal bool
			}
			if err := json.Unmarshal([]byte(out), &sum); err != nil {
				t.Fatal(err)
			}
			if sum.Here.Added == 0 || sum.Here.Added >= n || !sum.Equal {
				t.Errorf("the second pull has added %d of %d, equal %v", sum.Here.Added, n, sum.Equal)
			}
			s.end(t, syscall.SIGTERM, 0)
		})
	}
}

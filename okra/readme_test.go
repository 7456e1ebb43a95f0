package okra_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const readme = "../README.md"

// goBuild builds a package or a file of the module into a binary with the given name.
func goBuild(t *testing.T, name, target string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a program, left out with -short")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not in PATH")
	}
	binary := filepath.Join(t.TempDir(), name)
	cmd := exec.Command("go", "build", "-o", binary, target)
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", target, err, out)
	}
	return binary
}

// The program of the README compiles and prints what the README says.
func TestReadmeProgram(t *testing.T) {
	source := strings.Join(docBlocks(t, readme, "go")[0], "\n") + "\n"
	want := strings.Join(docBlocks(t, readme, "text")[0], "\n") + "\n"
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(goBuild(t, "program", file))
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != want {
		t.Errorf("%v, it prints\n%swant\n%s", err, out, want)
	}
}

// The command lines of the README, one after the other in one folder, print what it says.
func TestReadmeConsole(t *testing.T) {
	lines := slices.Concat(docBlocks(t, readme, "console")...)
	bin := filepath.Dir(goBuild(t, "okra", "./cmd/okra"))
	dir := t.TempDir()
	for len(lines) > 0 {
		line, ok := strings.CutPrefix(lines[0], "$ ")
		if !ok {
			t.Fatalf("line %q is no command", lines[0])
		}
		n := 1
		for n < len(lines) && !strings.HasPrefix(lines[n], "$ ") {
			n++
		}
		want := strings.Join(append(slices.Clone(lines[1:n]), ""), "\n")
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		out, err := cmd.Output()
		if err != nil || string(out) != want {
			t.Errorf("%s: %v, it prints\n%swant\n%s", line, err, out, want)
		}
		lines = lines[n:]
	}
}

// The commands that a newcomer is told to run are run on every change.
func TestReadmeCommandsAreChecked(t *testing.T) {
	script, err := os.ReadFile("../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	checked := strings.Split(string(script), "\n")
	for _, line := range docBlocks(t, readme, "sh")[0] {
		if !slices.Contains(checked, line) {
			t.Errorf("%q is in the README and not in .ci/run", line)
		}
	}
}

// The folders that the README describes are those that there are.
func TestReadmeFolders(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(line, "| `")
		if !ok {
			continue
		}
		folder, _, ok := strings.Cut(rest, "/`")
		if !ok {
			t.Fatalf("no folder in %q", line)
		}
		if info, err := os.Stat(filepath.Join("..", folder)); err != nil || !info.IsDir() {
			t.Errorf("README describes %s: %v", folder, err)
		}
	}
}

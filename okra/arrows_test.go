package okra_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/okradb/okra-go/"

// listed returns what go list prints of a package of this module, by words.
func listed(t *testing.T, pkg, format string, flags ...string) []string {
	t.Helper()
	args := append([]string{"list", "-f", format}, append(flags, module+pkg)...)
	cmd := exec.Command("go", args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %q: %v\n%s", args, err, stderr.String())
	}
	return strings.Fields(string(out))
}

// Which package may import which others of this module and which modules; the standard library
// is free to all. What is imported so imports what it likes, except from the tree package.
func TestArrows(t *testing.T) {
	arrows := map[string][]string{
		"tree":          {"github.com/zeebo/blake3"},
		"tree/treetest": {module + "tree", "github.com/zeebo/blake3"},
		"lmdbenv":       {module + "tree", "github.com/PowerDNS/lmdb-go/lmdb"},
		"okra":          {module + "tree", module + "lmdbenv", "github.com/PowerDNS/lmdb-go/lmdb"},
		"okra/dump":     {module + "tree", "github.com/zeebo/blake3"},
		"sync":          {module + "okra", "github.com/dchest/siphash", "golang.org/x/time/rate"},
		"sync/peer": {module + "okra", module + "sync", "github.com/zeebo/blake3", "golang.org/x/time/rate",
			"github.com/VictoriaMetrics/metrics"},
	}
	for pkg, may := range arrows {
		for _, imported := range listed(t, pkg, `{{join .Imports " "}}`) {
			first, _, _ := strings.Cut(imported, "/")
			if strings.Contains(first, ".") && !slices.Contains(may, imported) {
				t.Errorf("%s imports %s", pkg, imported)
			}
		}
	}
}

// The index itself is pure Go, down to all it depends on: no C, no LMDB, no files and no
// network.
func TestTreeIsPure(t *testing.T) {
	foreign := listed(t, "tree", `{{if not .Standard}}{{.ImportPath}}{{end}}`, "-deps")
	if !slices.Contains(foreign, module+"tree") {
		t.Fatalf("the dependencies of tree are %q", foreign)
	}
	for _, dep := range foreign {
		if dep != module+"tree" && !strings.HasPrefix(dep, "github.com/zeebo/blake3") &&
			!strings.HasPrefix(dep, "github.com/klauspost/cpuid/") {
			t.Errorf("tree depends on %s", dep)
		}
	}
	if c := listed(t, "tree", `{{if .CgoFiles}}{{.ImportPath}}{{end}}`, "-deps"); len(c) > 0 {
		t.Errorf("tree depends on C by %q", c)
	}
	for _, std := range listed(t, "tree", `{{.ImportPath}}`, "-deps") {
		if std == "runtime/cgo" || std == "net" {
			t.Errorf("tree depends on %s", std)
		}
	}
	for _, std := range listed(t, "tree", `{{join .Imports " "}}`) {
		if slices.Contains([]string{"C", "io", "io/fs", "net", "os", "syscall", "time", "unsafe"}, std) {
			t.Errorf("tree imports %s", std)
		}
	}
}

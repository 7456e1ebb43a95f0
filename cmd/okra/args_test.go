package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

func TestOptionsFirst(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"okra", "okra"},
		{"okra --help", "okra --help"},
		{"okra nosuch kv --hex", "okra nosuch kv --hex"},
		{"okra scan kv", "okra scan -- kv"},
		{"okra scan kv --prefix a --hex", "okra scan --prefix a --hex -- kv"},
		{"okra scan kv --prefix=a", "okra scan --prefix=a -- kv"},
		{"okra scan kv -prefix a", "okra scan -prefix a -- kv"},
		{"okra scan kv --prefix -a", "okra scan --prefix -a -- kv"},
		{"okra scan kv --prefix", "okra scan --prefix"},
		{"okra scan kv -0", "okra scan -0 -- kv"},
		{"okra scan kv --nosuch x", "okra scan --nosuch -- kv x"},
		{"okra get kv -- -k --hex", "okra get -- kv -k --hex"},
		{"okra put kv k - --hex", "okra put --hex -- kv k -"},
		{"okra put kv k --file -", "okra put --file - -- kv k"},
		{"okra put kv k -h --hex", "okra put --help"},
		{"okra put kv --file -h", "okra put --file -h -- kv"},
		{"okra get --generate-bash-completion", "okra get --generate-bash-completion"},
	} {
		got := optionsFirst(newApp(), strings.Fields(tt.args))
		if !slices.Equal(got, strings.Fields(tt.want)) {
			t.Errorf("%s: %q, want %s", tt.args, got, tt.want)
		}
	}
}

// TestHelp checks that each verb says what it is for, what it takes and gives examples.
func TestHelp(t *testing.T) {
	for _, cmd := range newApp().Commands {
		if cmd.Usage == "" || cmd.UsageText+cmd.ArgsUsage == "" {
			t.Errorf("%s has no usage", cmd.Name)
		}
		if !strings.Contains(cmd.Description, "Examples:\n") {
			t.Errorf("%s has no examples", cmd.Name)
		}
		for _, line := range strings.Split(cmd.Description, "\n") {
			if len(line) > 90 {
				t.Errorf("%s: line of %d columns: %s", cmd.Name, len(line), line)
			}
		}
		for _, f := range cmd.Flags {
			doc, ok := f.(cli.DocGenerationFlag)
			if !ok || doc.GetUsage() == "" {
				t.Errorf("%s: option %v is not explained", cmd.Name, f.Names())
			}
		}
	}
}

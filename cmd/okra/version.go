package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/PowerDNS/lmdb-go/lmdb"
	"github.com/urfave/cli/v2"
)

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:      "version",
		Usage:     "print the versions of the program and of the storage format",
		UsageText: "okra version [--json]",
		Description: `Print the version of okra, of Go, of LMDB and of the storage format.

Examples:
  okra version
  okra version --json`,
		Flags:  []cli.Flag{jsonFlag("print a JSON object")},
		Action: runVersion,
	}
}

func runVersion(c *cli.Context) error {
	if c.NArg() > 0 {
		return usagef(c, "too many arguments: %q", c.Args().Slice())
	}
	v := struct {
		Okra     string `json:"okra"`
		Revision string `json:"revision,omitempty"`
		Format   int    `json:"format"`
		LMDB     string `json:"lmdb"`
		Go       string `json:"go"`
		Platform string `json:"platform"`
	}{
		Okra:     moduleVersion(),
		Revision: revision(),
		Format:   formatVersion,
		LMDB:     lmdb.VersionString(),
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if c.Bool("json") {
		return writeJSON(c.App.Writer, v)
	}
	if v.Revision != "" {
		v.Okra += " (" + v.Revision + ")"
	}
	_, err := fmt.Fprintf(c.App.Writer, "okra    %s\nformat  %d\nlmdb    %s\ngo      %s %s\n",
		v.Okra, v.Format, v.LMDB, v.Go, v.Platform)
	return err
}

// moduleVersion returns the module's version as the build recorded it: "(devel)" for one from a
// working tree without version control.
func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// revision returns the commit the program was built from, with "+dirty" for local changes, or "".
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	var commit, dirty string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	if commit == "" {
		return ""
	}
	return commit + dirty
}

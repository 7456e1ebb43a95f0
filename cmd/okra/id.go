package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/okradb/okra-go/sync/peer"
)

func idCommand() *cli.Command {
	return &cli.Command{
		Name:      "id",
		Usage:     "print the ID by which peers know you",
		UsageText: "okra id [--identity FILE] [--json]",
		Description: `Print the ID of your identity: a key in a file, which is made if it is missing.
Peers that you serve have the ID in the address that "okra serve" prints. Peers
that you pull from, push to or sync with need it in their allow list.

Whoever can read the file can pass for you. Keep it, and a backup of it, to
yourself; without it you are another peer.

Examples:
  okra id
  okra id --json
  okra serve /data/kv --listen :7346 --allow-peer "$(okra id)=write"`,
		Flags:  []cli.Flag{identityFlag(), jsonFlag("print a JSON object, with the file's name")},
		Action: runID,
	}
}

func runID(c *cli.Context) error {
	if c.NArg() > 0 {
		return usagef(c, "too many arguments: %q", c.Args().Slice())
	}
	path, err := identityPath(c)
	if err != nil {
		return err
	}
	me, err := peer.LoadIdentity(path)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return writeJSON(c.App.Writer, struct {
			ID   peer.ID `json:"id"`
			File string  `json:"file"`
		}{me.ID(), path})
	}
	_, err = fmt.Fprintln(c.App.Writer, me.ID())
	return err
}

func identityFlag() cli.Flag {
	return &cli.StringFlag{
		Name:        "identity",
		DefaultText: "okra/identity.pem in your folder for configuration",
		Usage:       "the key by which peers know you is in `FILE`, which is made if it is missing",
	}
}

func identityPath(c *cli.Context) (string, error) {
	if path := c.String("identity"); path != "" {
		return path, nil
	}
	return peer.DefaultIdentity()
}

func loadIdentity(c *cli.Context) (*peer.Identity, error) {
	path, err := identityPath(c)
	if err != nil {
		return nil, err
	}
	return peer.LoadIdentity(path)
}

package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// optionsFirst returns args with the options of the verb, which may be two words, before its other
// arguments, and "--" between the two, since the framework reads no option after the first
// argument. What follows a "--" of the user is never an option. Where help is asked for, nothing
// else is.
func optionsFirst(app *cli.App, args []string) []string {
	if len(args) < 3 || args[len(args)-1] == "--generate-bash-completion" {
		return args
	}
	cmd := app.Command(args[1])
	if cmd == nil {
		return args
	}
	verb := args[:2:2]
	for _, sub := range cmd.Subcommands {
		if sub.HasName(args[2]) {
			cmd, verb = sub, args[:3:3]
		}
	}
	takesValue := valueOptions(cmd)
	var options, rest []string
	for i := len(verb); i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			rest = append(rest, args[i+1:]...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			rest = append(rest, arg)
			continue
		}
		if name := strings.TrimLeft(arg, "-"); name == "h" || name == "help" {
			return append(verb, "--help")
		}
		if takesValue[strings.TrimLeft(arg, "-")] {
			if i+1 == len(args) {
				// The framework says that the value is missing, if nothing follows.
				return append(append(verb, options...), arg)
			}
			i++
			options = append(options, arg, args[i])
			continue
		}
		options = append(options, arg)
	}
	if len(rest) > 0 && len(cmd.Subcommands) > 0 && !isCommand(cmd.Subcommands, rest[0]) {
		return append(append(verb, "--"), rest...) // a wrong word is what is wrong first
	}
	out := append(verb, options...)
	return append(append(out, "--"), rest...)
}

func isCommand(commands []*cli.Command, name string) bool {
	return slices.ContainsFunc(commands, func(c *cli.Command) bool { return c.HasName(name) })
}

// valueOptions returns the names of the options of cmd which take the next argument as value.
func valueOptions(cmd *cli.Command) map[string]bool {
	names := make(map[string]bool)
	for _, f := range cmd.Flags {
		doc, ok := f.(cli.DocGenerationFlag)
		if !ok || !doc.TakesValue() {
			continue
		}
		for _, name := range f.Names() {
			names[name] = true
		}
	}
	return names
}

// A dirAction does a verb's work on the store at dir; args are the arguments after it.
type dirAction func(c *cli.Context, dir string, args []string) error

// onDir is the action of a verb whose first argument is a store's directory, followed by least to
// most more arguments; most < 0 is no limit. It checks their number, runs fn with the directory
// and the arguments after it, and says in fn's error which verb on which directory failed.
func onDir(least, most int, fn dirAction) cli.ActionFunc {
	return func(c *cli.Context) error {
		args := c.Args().Slice()
		if len(args) == 0 || args[0] == "" {
			return usagef(c, "DIR, the store's directory, is missing")
		}
		dir, args := args[0], args[1:]
		if len(args) < least {
			return usagef(c, "too few arguments, want %s", c.Command.ArgsUsage)
		}
		if most >= 0 && len(args) > most {
			return usagef(c, "too many arguments, want %s, got %q", c.Command.ArgsUsage, args)
		}
		return failed(c, dir, fn(c, dir, args))
	}
}

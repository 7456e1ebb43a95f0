// Command okra reads and writes okra stores: key-value data in an LMDB file with a Merkle index
// beside it, whose root tells whether two stores hold the same entries.
//
// There is one file per verb. Every verb takes the store's directory as its first argument, puts
// data on standard output and words on standard error, and ends with one of the codes in exit.go.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/okradb/okra-go/bench/suite"
)

func main() {
	// A process that a benchmark has started does its part and ends here.
	suite.Serve(benchSuites()...)
	os.Exit(run(os.Args))
}

// run runs the program with the arguments args and returns its exit code.
func run(args []string) int { return runIn(signalContext(), args) }

// signalContext returns a context that a signal cancels.
func signalContext() context.Context {
	// The signals stay caught until the process ends: one that came again just before would change
	// the exit code.
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks for an orderly end; a Ctrl-C after it ends the program at once. The
	// other signals may come more than once by themselves, and change nothing then.
	context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt) })
	return ctx
}

// catchHangup has a closed terminal, too, ask the command of c for an orderly end. As in
// signalContext, the signal stays caught.
func catchHangup(c *cli.Context) {
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		c.Context, _ = signal.NotifyContext(c.Context, syscall.SIGHUP)
	}
}

// runIn is run in a context whose end asks for an orderly end.
func runIn(ctx context.Context, args []string) int {
	// Without this the runtime ends the program where it writes to a closed pipe, and the store
	// is not closed.
	signal.Ignore(syscall.SIGPIPE)
	app := newApp()
	return report(os.Stderr, app.RunContext(ctx, optionsFirst(app, args)))
}

// verbs returns the commands in the order in which the help lists them.
func verbs() []*cli.Command {
	return []*cli.Command{
		initCommand(),
		putCommand(),
		getCommand(),
		deleteCommand(),
		scanCommand(),
		countCommand(),
		rootCommand(),
		statCommand(),
		lsCommand(),
		treeCommand(),
		verifyCommand(),
		rebuildCommand(),
		batchCommand(),
		exportCommand(),
		importCommand(),
		backupCommand(),
		compactCommand(),
		pullCommand(),
		pushCommand(),
		syncCommand(),
		diffCommand(),
		serveCommand(),
		idCommand(),
		benchCommand(),
		completionCommand(),
		versionCommand(),
	}
}

func newApp() *cli.App {
	app := &cli.App{
		Name:                 "okra",
		Usage:                "a key-value store with a Merkle index",
		UsageText:            "okra VERB DIR [ARGUMENTS] [OPTIONS]",
		Version:              moduleVersion(),
		Description:          description,
		EnableBashCompletion: true,
		OnUsageError:         onUsageError,
		Action:               noVerb,
		ExitErrHandler:       func(*cli.Context, error) {}, // report does it
		Commands:             verbs(),
	}
	tidyCommands(app.Commands)
	return app
}

// tidyCommands gives all commands what they have in common.
func tidyCommands(commands []*cli.Command) {
	for _, cmd := range commands {
		cmd.HideHelpCommand = true
		cmd.OnUsageError = onUsageError
		for _, f := range cmd.Flags {
			if b, ok := f.(*cli.BoolFlag); ok {
				b.DisableDefaultText = true
			}
		}
		tidyCommands(cmd.Subcommands)
	}
}

// noVerb handles a command line without a known verb.
func noVerb(c *cli.Context) error {
	verb := c.Args().First()
	if verb == "" {
		return usagef(c, "which verb?")
	}
	if near := cli.SuggestCommand(c.App.Commands, verb); near != "" {
		return usagef(c, "no verb %q. %s", verb, near)
	}
	return usagef(c, "no verb %q", verb)
}

const description = `DIR is the directory of a store: an LMDB file, data.mdb, with the entries and
a Merkle tree over them. Two stores of one format hold the same entries exactly
when "okra root" prints the same for both. Options may stand anywhere after the
verb; "--" ends them. Verbs which only read never change data.mdb.

Keys are 1 to 510 bytes long and are written as text on one line: printable
UTF-8 as it is, a backslash as \\, newline, tab and carriage return as \n \t \r,
any other byte as \xNN; a leading - is printed as \x2d. What okra prints as a
key it reads as the same key. In a shell put keys in single quotes. --hex and
--base64 choose those notations instead.

Data goes to standard output, words to standard error. Exit codes:
    0  everything asked for was done
    1  the answer is no: a key was not found, or two things differ
    2  bad usage: an option, the number of arguments, the notation of a key
    3  the work failed; there may be no store, no room or no permission
  130  interrupted by a signal; Ctrl-C after it ends the program at once
  141  the reader of standard output went away (as with "| head")

Examples:
  okra init /data/kv
  okra put /data/kv name Ada
  okra get /data/kv name
  okra scan /data/kv --prefix user/ --keys-only
  okra root /data/kv`

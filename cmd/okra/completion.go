package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

func completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print a completion script for a shell",
		UsageText: "okra completion bash|zsh|fish",
		Description: `Print a script which makes the shell complete okra's verbs and options.

Examples:
  source <(okra completion bash)
  source <(okra completion zsh)
  okra completion fish > ~/.config/fish/completions/okra.fish`,
		Action: runCompletion,
	}
}

func runCompletion(c *cli.Context) error {
	if c.NArg() != 1 {
		return usagef(c, "which shell? bash, zsh or fish")
	}
	var script string
	var err error
	switch shell := c.Args().First(); shell {
	case "bash":
		script = bashCompletion
	case "zsh":
		script = zshCompletion
	case "fish":
		script, err = c.App.ToFishCompletion()
		// Without this, fish would complete no file names where options may stand.
		script = strings.ReplaceAll(script, "' -f -l ", "' -l ")
	default:
		return usagef(c, "no script for shell %q; there is bash, zsh and fish", shell)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(c.App.Writer, script)
	return err
}

// The scripts ask okra itself, by an option which must come last. Verbs are completed in the first
// place, what bench can be followed by in the second, options after a dash, file names elsewhere.

const bashCompletion = `_okra() {
  local cur="${COMP_WORDS[COMP_CWORD]}"
  local -a asked=()
  COMPREPLY=()
  if [[ "$COMP_CWORD" == 2 && "${COMP_WORDS[1]}" == bench && "$cur" != -* ]]; then
    asked=(bench)
  elif [[ "$COMP_CWORD" -gt 1 ]]; then
    [[ "$cur" == -* ]] || return 0
    asked=("${COMP_WORDS[1]}" "$cur")
    if [[ "$COMP_CWORD" -gt 2 && "${COMP_WORDS[1]}" == bench && "${COMP_WORDS[2]}" != -* ]]; then
      asked=(bench "${COMP_WORDS[2]}" "$cur")
    fi
  fi
  COMPREPLY=($(compgen -W "$(okra "${asked[@]}" --generate-bash-completion 2>/dev/null)" -- "$cur"))
}
complete -o bashdefault -o default -F _okra okra
`

const zshCompletion = `#compdef okra
_okra() {
  local cur="${words[CURRENT]}"
  local -a asked found
  if [[ $CURRENT == 3 && "${words[2]}" == bench && "$cur" != -* ]]; then
    asked=(bench)
  elif (( CURRENT > 2 )); then
    if [[ "$cur" != -* ]]; then
      _files
      return
    fi
    asked=("${words[2]}" "$cur")
    if [[ $CURRENT -gt 3 && "${words[2]}" == bench && "${words[3]}" != -* ]]; then
      asked=(bench "${words[3]}" "$cur")
    fi
  fi
  found=("${(@f)$(okra "${asked[@]}" --generate-bash-completion 2>/dev/null)}")
  compadd -a found
}
compdef _okra okra
`

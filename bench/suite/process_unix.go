//go:build unix

package suite

import (
	"os"
	"os/exec"
	"syscall"
)

// lead makes cmd the first of a new process group, which is killed with it. A terminal's Ctrl-C
// does not reach that group: who waits for it decides.
func lead(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

func killed(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

//go:build unix

package peer

import (
	"os"
	"os/exec"
	"syscall"
)

// setGroup puts what cmd starts into a process group of its own, so that all of it can be ended
// together. Where there is a terminal it does not: from another group ssh could not ask for a
// password there, and Ctrl-C would not reach it.
func setGroup(cmd *exec.Cmd) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err == nil {
		tty.Close()
		return
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

func terminate(cmd *exec.Cmd) { signal(cmd, syscall.SIGTERM) }
func kill(cmd *exec.Cmd)      { signal(cmd, syscall.SIGKILL) }

// signal sends a signal to the group of cmd, or to cmd alone if that has none of its own.
func signal(cmd *exec.Cmd, sig syscall.Signal) {
	if cmd.SysProcAttr != nil && cmd.SysProcAttr.Setpgid {
		_ = syscall.Kill(-cmd.Process.Pid, sig)
		return
	}
	_ = cmd.Process.Signal(sig)
}

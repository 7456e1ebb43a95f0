//go:build !unix

package peer

import "os/exec"

func setGroup(*exec.Cmd)      {}
func terminate(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
func kill(cmd *exec.Cmd)      { _ = cmd.Process.Kill() }

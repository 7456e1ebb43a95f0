package bench

import (
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/PowerDNS/lmdb-go/lmdb"
	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/mem"
)

// unknown stands for what the system does not tell.
const unknown = "unknown"

// Machine is what figures depend on that is no choice of the run.
type Machine struct {
	Processor  string `json:"processor"`
	Cores      int    `json:"cores"` // logical
	RAM        uint64 `json:"ram_bytes"`
	OS         string `json:"os"`
	Kernel     string `json:"kernel"`
	FileSystem string `json:"file_system"` // of the folder of the stores

	// ReadAhead is how many bytes its disk is asked for at once where one page is needed: what reads
	// that are not in memory cost depends on it. It is 0 where the system does not tell.
	ReadAhead int64 `json:"read_ahead_bytes,omitempty"`

	Go   string `json:"go"`
	LMDB string `json:"lmdb"`
	Okra string `json:"okra"`
}

// Environment is what figures depend on beside the code: the machine, the versions and the
// settings of the run.
type Environment struct {
	Machine
	Sync      bool   `json:"sync"` // commits are flushed to disk
	Seed      uint64 `json:"seed"`
	ValueSize int    `json:"value_size"` // bytes
}

// describe returns the environment of a run in dir.
func describe(dir string, cfg Config) Environment {
	return Environment{
		Machine:   DescribeMachine(dir),
		Sync:      !cfg.NoSync,
		Seed:      cfg.Seed,
		ValueSize: cfg.ValueSize,
	}
}

// DescribeMachine returns the machine, with the file system of dir. What cannot be found out is
// "unknown", or 0: it is no reason to fail.
func DescribeMachine(dir string) Machine {
	major, minor, patch, _ := lmdb.Version()
	m := Machine{
		Processor:  unknown,
		Cores:      runtime.NumCPU(),
		OS:         runtime.GOOS,
		Kernel:     unknown,
		FileSystem: fileSystem(dir),
		ReadAhead:  readAhead(dir),
		Go:         runtime.Version(),
		LMDB:       fmt.Sprintf("%d.%d.%d", major, minor, patch),
		Okra:       okraVersion(),
	}
	if info, err := cpu.Info(); err == nil && len(info) > 0 && info[0].ModelName != "" {
		m.Processor = info[0].ModelName
	}
	if memory, err := mem.VirtualMemory(); err == nil {
		m.RAM = memory.Total
	}
	if info, err := host.Info(); err == nil {
		m.OS = strings.TrimSpace(info.OS + " " + info.Platform + " " + info.PlatformVersion)
		m.Kernel = info.KernelVersion
	}
	return m
}

// fileSystem returns the type of the file system that holds dir: that of the longest mount point
// above it.
func fileSystem(dir string) string {
	mounts, err := disk.Partitions(true)
	if err != nil {
		return unknown
	}
	if absolute, err := filepath.Abs(dir); err == nil {
		dir = absolute
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	found, longest := unknown, -1
	for _, mount := range mounts {
		path, err := filepath.Rel(mount.Mountpoint, dir)
		above := err == nil && filepath.IsLocal(path)
		// Of several mounts at one place the last hides the others.
		if above && len(mount.Mountpoint) >= longest {
			found, longest = mount.Fstype, len(mount.Mountpoint)
		}
	}
	return found
}

// okraVersion returns the version of this module that the program was built with.
func okraVersion() string {
	const module = "github.com/okradb/okra-go"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknown
	}
	if info.Main.Path == module && info.Main.Version != "" {
		return info.Main.Version
	}
	for _, dep := range info.Deps {
		if dep.Path == module {
			return dep.Version
		}
	}
	return unknown
}

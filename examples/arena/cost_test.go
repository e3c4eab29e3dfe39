package main

import (
	"strings"
	"testing"

	"github.com/cellscape/cellscape/space/cluster/status"
)

// What the system counts for a process is counted once, however many apps run in it. A process that
// the bots share with the server, or that reports nothing, leaves no figure.
func TestCost(t *testing.T) {
	app := func(address string, pid uint32, cpu float64) status.App {
		return status.App{Address: address, PID: pid, ProcessCPU: cpu}
	}
	world := func(threads float64, apps ...status.App) *status.World {
		return &status.World{CPU: threads, Apps: apps}
	}
	first := world(1, app("10.0.0.1:1#1", 7, 2), app("10.0.0.1:2#1", 7, 2.1), app("10.0.0.2:1#1", 7, 4), app("10.0.0.1:3#1", 8, 1))
	last := world(3, app("10.0.0.1:1#1", 7, 5.1), app("10.0.0.1:2#1", 7, 5), app("10.0.0.2:1#1", 7, 5), app("10.0.0.1:4#1", 9, 0.5))
	c := costOf(first, last, 99, 1e6)
	if c.ServerCPU == nil || *c.ServerCPU != 4.5 || c.ServerThreads != 2 || c.ServerCPUWhy != "" {
		t.Errorf("%+v", c)
	}
	if c := costOf(first, last, 9, 1e6); c.ServerCPU != nil || !strings.Contains(c.ServerCPUWhy, "same OS process") || c.ServerThreads != 2 {
		t.Errorf("with the bots in it: %+v", c)
	}
	last.Apps[3].PID = 0
	if c := costOf(first, last, 99, 1e6); c.ServerCPU != nil || c.ServerCPUWhy == "" {
		t.Errorf("without a process: %+v", c)
	}
}

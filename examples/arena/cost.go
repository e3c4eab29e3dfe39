package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/cellscape/cellscape/space/cluster/status"
)

// cost is the processor time that the server took per client and tick, in microseconds; part of the
// JSON object.
type cost struct {
	// ServerCPU is what the operating system counts for the server's processes, user and system.
	// Where that is unknown it is null, and ServerCPUWhy says why.
	ServerCPU    *float64 `json:"server_cpu_us_per_client_tick"`
	ServerCPUWhy string   `json:"server_cpu_why,omitempty"`
	// ServerThreads is what the threads of the apps used themselves, without the garbage collector,
	// the network poller and the goroutines that read the sockets. It is a part of ServerCPU.
	ServerThreads float64 `json:"server_thread_cpu_us_per_client_tick"`
}

// costOf compares two statuses, between which the clients lived for so many ticks in all. own is
// the process of the bots.
func costOf(first, last *status.World, own int, clientTicks float64) (c cost) {
	per := func(seconds float64) float64 { return round(seconds * 1e6 / clientTicks) }
	c.ServerThreads = per(last.CPU - first.CPU)
	before, after := osProcesses(first), osProcesses(last)
	sum := 0.0
	for i := range last.Apps {
		p := osProcessOf(&last.Apps[i])
		used, known := after[p]
		if !known {
			continue // another app of this process was counted
		}
		delete(after, p)
		switch {
		case p.pid == 0 || used == 0:
			c.ServerCPUWhy = "the system does not tell of a process at " + p.host
			return c
		case p.pid == uint32(own):
			c.ServerCPUWhy = "the bots run in the same OS process as the server, and the system counts them together"
			return c
		}
		sum += used - before[p]
	}
	cpu := per(sum)
	c.ServerCPU = &cpu
	return c
}

// osProcess names an OS process of the world.
type osProcess struct {
	host string
	pid  uint32
}

func osProcessOf(a *status.App) osProcess {
	host := a.Address
	if colon := strings.LastIndexByte(host, ':'); colon >= 0 {
		host = host[:colon]
	}
	return osProcess{host, a.PID}
}

// osProcesses lists the server's processes, and what they have used. Several apps may run in one
// process: they all report the same figure, some a little later than others.
func osProcesses(st *status.World) map[osProcess]float64 {
	all := map[osProcess]float64{}
	for i := range st.Apps {
		p := osProcessOf(&st.Apps[i])
		all[p] = max(all[p], st.Apps[i].ProcessCPU)
	}
	return all
}

func (c *cost) tellCost() {
	switch {
	case c.ServerCPU != nil:
		fmt.Fprintf(os.Stderr, "server CPU per client and tick: %v µs, of which the apps' threads used %v\n", *c.ServerCPU, c.ServerThreads)
	case c.ServerCPUWhy != "":
		fmt.Fprintf(os.Stderr, "server CPU per client and tick: unknown, because %s; the apps' threads used %v µs\n", c.ServerCPUWhy, c.ServerThreads)
	}
}

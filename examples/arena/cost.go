package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/cellscape/cellscape/space/cluster/status"
)

// cost is the processor time that the server took for a client and a tick, in microseconds; part of the JSON object.
type cost struct {
	// ServerCPU is what the operating system counts of the server's processes, user and system. Where that cannot be told it
	// is null, and ServerCPUWhy says why.
	ServerCPU    *float64 `json:"server_cpu_us_per_client_tick"`
	ServerCPUWhy string   `json:"server_cpu_why,omitempty"`
	// ServerThreads is what the threads of the apps used themselves: without the garbage collector, the network poller and
	// the goroutines that read the sockets. It is a part of ServerCPU.
	ServerThreads float64 `json:"server_thread_cpu_us_per_client_tick"`
}

// costOf compares two statuses, between which clients lived for so many ticks all told. own is the process of the bots.
func costOf(first, last *status.World, own int, clientTicks float64) (c cost) {
	per := func(seconds float64) float64 { return round(seconds * 1e6 / clientTicks) }
	c.ServerThreads = per(last.CPU - first.CPU)
	before, after := osProcesses(first), osProcesses(last)
	sum := 0.0
	for i := range last.Apps {
		p := osProcessOf(&last.Apps[i])
		used, known := after[p]
		if !known {
			continue // another app of it was counted
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

// osProcesses are those of the server, and what they have used. Several apps may run in one: they all tell the same, some a
// little later than others.
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
		fmt.Fprintf(os.Stderr, "server CPU for a client and a tick: %v µs, its apps' threads %v of them\n", *c.ServerCPU, c.ServerThreads)
	case c.ServerCPUWhy != "":
		fmt.Fprintf(os.Stderr, "server CPU for a client and a tick: cannot be told, for %s; its apps' threads used %v µs\n", c.ServerCPUWhy, c.ServerThreads)
	}
}

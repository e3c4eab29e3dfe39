package main

import "time"

// fan is a server's tick: one message to each of many players at once. The latency of a message
// counts from its own call of Send, so that it shows how long the last of a tick wait.
func fan() spec {
	return spec{
		Scenario: "fan", Conns: 2000, Warmup: 2 * time.Second, Duration: 6 * time.Second, Backlog: defaultBacklog, Slice: defaultSlice,
		Down: flow{Size: 300, Every: time.Second / 10},
	}
}

package main

import "time"

// game is one player: state comes down at 60 Hz, input goes up at 30 Hz, each message flushed by itself.
func game() spec {
	return spec{
		Scenario: "game", Conns: 1, Warmup: 2 * time.Second, Duration: 30 * time.Second, Backlog: defaultBacklog, Slice: defaultSlice,
		Down: flow{Size: 200, Every: 16 * time.Millisecond}, Up: flow{Size: 50, Every: 33 * time.Millisecond},
	}
}

package main

import (
	"bytes"
	"io"
	"testing"
)

// Over a link between the ends everything still arrives, in order, and no earlier than the link
// lets it; the result tells what the link did.
func TestSelfOverLink(t *testing.T) {
	for _, transport := range []string{"mercury", "quic"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			f := parse(t, "-self", "-transport", transport, "-scen", "game", "-warmup", "200ms", "-duration", "1s",
				"-delay", "10ms", "-rate", "2000", "-queue", "100ms", "-loss", "0.1", "-reorder", "0.01", "-bursts", "0.01", "-burstlength", "2",
				"-outage", "50ms", "-outageevery", "1s", "-lossfor", "1m")
			if err := run(t.Context(), f, &out, io.Discard); err != nil {
				t.Fatal(err)
			}
			r := decode(t, &out)
			checkResult(t, r, f)
			if r.Down.P50 < 10 || r.Up.P50 < 10 {
				t.Errorf("p50 of %v and %v ms over a link of 10", r.Down.P50, r.Up.P50)
			}
			if r.Link == nil || r.Link.Sent < 50 || r.Link.Lost < 5 {
				t.Errorf("the link tells %+v", r.Link)
			}
		})
	}
}

// A loss that ends is over then.
func TestLossFor(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	f := parse(t, "-self", "-plain", "-noconnect", "-scen", "game", "-warmup", "1s", "-duration", "1s", "-delay", "5ms", "-loss", "0.3", "-lossfor", "300ms")
	if err := run(t.Context(), f, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	if r := decode(t, &out); r.Link == nil || r.Link.Lost == 0 || r.Server.Wire.Lost > 10 {
		t.Errorf("lost %+v in all, the server took %d for lost after the loss had ended", r.Link, r.Server.Wire.Lost)
	}
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"
)

// quick makes each scenario short enough for a test.
func quick() [][]string {
	return [][]string{
		{"-scen", "game", "-warmup", "50ms", "-duration", "300ms", "-hz", "100"},
		{"-scen", "bulk", "-warmup", "50ms", "-duration", "200ms", "-backlog", "262144"},
		{"-scen", "blob", "-size", "100000", "-conns", "2", "-transfers", "2"},
		{"-scen", "fan", "-conns", "20", "-warmup", "50ms", "-duration", "300ms", "-hz", "20"},
	}
}

func parse(t *testing.T, args ...string) *flags {
	t.Helper()
	f, err := parseFlags(args, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func decode(t *testing.T, out *bytes.Buffer) *result {
	t.Helper()
	r := new(result)
	d := json.NewDecoder(out)
	d.DisallowUnknownFields()
	if err := d.Decode(r); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return r
}

// Every scenario over every transport, both ends in this process: all that was sent arrives, in
// order, and is accounted for.
func TestSelf(t *testing.T) {
	for _, tr := range transports() {
		for _, args := range quick() {
			t.Run(tr.name+"/"+args[1], func(t *testing.T) {
				t.Parallel()
				var out bytes.Buffer
				f := parse(t, append([]string{"-self", "-transport", tr.name}, args...)...)
				if err := run(t.Context(), f, &out, io.Discard); err != nil {
					t.Fatal(err)
				}
				checkResult(t, decode(t, &out), f)
			})
		}
	}
}

func checkResult(t *testing.T, r *result, f *flags) {
	t.Helper()
	if r.Scenario != f.scenario || r.Transport != f.transport || r.Protection == "" || len(r.Notes) == 0 {
		t.Errorf("the head of %+v", r)
	}
	for _, d := range []struct {
		name string
		direction
		want bool
	}{
		{"server to client", r.Down, f.scenario != "bulk"},
		{"client to server", r.Up, f.scenario == "bulk" || f.scenario == "game"},
	} {
		if (d.Sent > 0) != d.want || (d.Messages > 0) != d.want || (d.P50 > 0) != d.want || (d.PayloadBytes > 0) != d.want {
			t.Errorf("%s: %+v", d.name, d.direction)
		}
		if d.Lost != 0 || d.Disorder != 0 || d.P50 > d.P95 || d.P95 > d.P99 || d.P99 > d.Max {
			t.Errorf("%s: %+v", d.name, d.direction)
		}
	}
	if r.Server.Elapsed <= 0 || r.Client.Elapsed <= 0 || r.Run.PayloadBytes < r.Down.PayloadBytes+r.Up.PayloadBytes {
		t.Errorf("server %+v, client %+v, run %+v", r.Server, r.Client, r.Run)
	}
	if r.Connect == nil || r.Connect.First.Opened <= 0 || r.Connect.Resumed.FirstReply <= 0 || r.Connect.Echo <= 0 {
		t.Errorf("connect: %+v", r.Connect)
	}
	// Of the whole run: what arrives in a measured time of 0.2 s may have been sent before it.
	if f.transport == "mercury" && (r.Run.WireBytes < r.Run.PayloadBytes || r.WirePerPayload == 0 || r.Down.Packets+r.Up.Packets == 0) {
		t.Errorf("wire: %+v", r)
	}
	if f.spec.Blob > 0 {
		b := r.Blob
		if b == nil || len(b.Cold) != 2 || len(b.Warm) != 2 || len(b.Again) != 2 || b.AgainMedian <= 0 || b.ColdMedian <= 0 || b.WarmMedian <= 0 || len(b.Connect) != 2 {
			t.Errorf("blob: %+v", b)
		}
	}
}

// A server for one run, and a client that finds it by its address.
func TestServerAndClient(t *testing.T) {
	t.Parallel()
	said, say := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- run(t.Context(), parse(t, "-server", "-once", "-listen", "127.0.0.1:0", "-secret", "s"), nil, say)
	}()
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(line, " at ")
	at, _, ok := strings.Cut(rest, ",")
	if !ok {
		t.Fatalf("the server says %q", line)
	}
	var out bytes.Buffer
	f := parse(t, "-client", at, "-scen", "game", "-warmup", "1ms", "-duration", "100ms", "-secret", "s")
	if err := run(t.Context(), f, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	checkResult(t, addNote(decode(t, &out)), f)
	select {
	case err := <-served:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the server goes on")
	}
}

func addNote(r *result) *result {
	r.Notes = append(r.Notes, "none is due")
	return r
}

// Ctrl-C ends a client at once.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	start := time.Now()
	if err := run(ctx, parse(t, "-self", "-scen", "game", "-duration", "1m"), io.Discard, io.Discard); err == nil {
		t.Error("no error")
	}
	if took := time.Since(start); took > 8*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestFlagFaults(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{nil, []string{"-server", "-client", "-self"}},
		{[]string{"-self", "-server"}, []string{"say one of"}},
		{[]string{"-self", "more"}, []string{`"more"`, "all arguments are flags"}},
		{[]string{"-self", "-scen", "chess"}, []string{`"chess"`, "game, bulk, blob or fan"}},
		{[]string{"-self", "-transport", "pigeon"}, []string{`"pigeon"`, "mercury"}},
		{[]string{"-self", "-copies", "9"}, []string{"-copies 9", "take -1"}},
		{[]string{"-self", "-scen", "game", "-conns", "3"}, []string{"-conns does nothing in scenario game", "leave it out"}},
		{[]string{"-self", "-scen", "blob", "-duration", "1s"}, []string{"-duration does nothing"}},
		{[]string{"-self", "-scen", "fan", "-conns", "-1", "-hz", "-5", "-size", "0", "-duration", "-1s"},
			[]string{"-1 connections", "-hz -5: take more than 0", "-size 0", "-1s"}},
		{[]string{"-server", "-loss", "0.1"}, []string{"-loss: take -self"}},
		{[]string{"-self", "-transport", "tcp", "-rate", "256"}, []string{"-rate: the link carries datagrams", "mercury or quic"}},
		{[]string{"-self", "-loss", "1", "-delay", "-1s", "-rate", "1", "-burstlength", "0", "-outage", "9s"},
			[]string{"-loss 1: take", "-delay -1s: take", "-rate 1: take", "-burstlength 0: take", "less than -outageevery (5s)"}},
		{[]string{"-self", "-scen", "game", "-hz", "1000000"}, []string{"take 100µs to"}},
		{[]string{"-self", "-scen", "bulk", "-size", "5"}, []string{"5 bytes: take 14"}},
		{[]string{"-self", "-scen", "bulk", "-backlog", "1"}, []string{"backlog of 1 bytes: take"}},
		{[]string{"-self", "-scen", "blob", "-size", "99999999", "-transfers", "0"}, []string{"blob of 99999999", "0 transfers"}},
		{[]string{"-self", "-scen", "fan", "-duration", "0s"}, []string{"say how long"}},
	} {
		_, err := parseFlags(c.args, io.Discard)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v does not say %q", c.args, err, want)
			}
		}
	}
	for _, bad := range []string{"nowhere", "127.0.0.1", "127.0.0.1:99999"} {
		if at, err := resolve(bad); err == nil || !strings.Contains(err.Error(), "host:port") {
			t.Errorf("%q: %v, %v", bad, at, err)
		}
	}
}

// The help names what the flags mean, and every scenario's defaults hold.
func TestHelp(t *testing.T) {
	var out bytes.Buffer
	_, _ = parseFlags([]string{"-help"}, &out)
	for _, want := range []string{"-server", "-self", "one machine", "no protection", "-learn"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the help does not say %q", want)
		}
	}
	for _, s := range []spec{game(), bulk(), blob(), fan()} {
		if err := s.validate(); err != nil {
			t.Errorf("%s: %v", s.Scenario, err)
		}
	}
}

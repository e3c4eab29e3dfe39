package baseapp

import (
	"io"
	"log/slog"
	"testing"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// BenchmarkTick10kBases is a tick of 10,000 live bases at rest.
func BenchmarkTick10kBases(b *testing.B) {
	r := joinedRig(b, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(io.Discard, nil)) })
	for range 10_000 {
		r.live()
	}
	r.net.sent = nil
	b.ReportAllocs()
	for b.Loop() {
		r.tick()
		r.net.sent = r.net.sent[:0]
	}
}

// BenchmarkRelay is one reliable bundle of 200 bytes from a cell part to its client.
func BenchmarkRelay(b *testing.B) {
	r := joinedRig(b, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(io.Discard, nil)) })
	_, id, _ := r.playLive()
	payload := bundle(1, string(make([]byte, 200)))
	n := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		n++
		r.up(appX, id, 1, n, payload)
		r.net.sent = r.net.sent[:0]
	}
}

// BenchmarkClientMove is a move of a client on its way to the cell part.
func BenchmarkClientMove(b *testing.B) {
	r := joinedRig(b, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(io.Discard, nil)) })
	p, id, _ := r.playLive()
	msg := (&protocol.Move{Sequence: 1, Position: property.Vector3{X: 1}}).Append(nil)
	b.ReportAllocs()
	for b.Loop() {
		r.now += 1e9 / 100
		p.whisper(msg)
		r.net.sent = r.net.sent[:0]
	}
	if v, ok := r.view(id); !ok || !v.Live {
		b.Fatal("the client was dropped")
	}
}

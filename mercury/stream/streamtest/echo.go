package streamtest

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/stream"
)

// Echo measures one message of 100 bytes there and back, between two apps that package host runs
// without a pace: twice the latency of a message that is flushed at once.
func Echo(b *testing.B, from, to *stream.Transport) {
	h, err := host.New(host.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := h.Close(); err != nil {
			b.Error(err)
		}
	}()
	start := func(name string, c *stream.Transport, on func(*host.Net, mercury.ChannelID, []byte)) *host.Process {
		p, err := h.Start(name, "", func(env host.Env) (host.App, error) { return echoer{env.Net, on}, nil },
			host.Carriers(c), host.Shared(), host.Pace(0))
		if err != nil {
			b.Fatal(err)
		}
		return p
	}
	back := make(chan struct{}, 1)
	there := start("to", to, func(net *host.Net, ch mercury.ChannelID, msg []byte) { _ = net.Send(ch, msg) })
	here := start("from", from, func(*host.Net, mercury.ChannelID, []byte) { back <- struct{}{} })
	msg := make([]byte, bulkMessage)
	send := func(a host.App) {
		net := a.(echoer).net
		_ = net.Send(net.Dial(there.Address()), msg)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := here.Do(send); err != nil {
			b.Fatal(err)
		}
		<-back
	}
}

// echoer is an app that hears messages and nothing else.
type echoer struct {
	net *host.Net
	on  func(*host.Net, mercury.ChannelID, []byte)
}

func (echoer) Tick(now time.Duration) time.Duration                     { return now + time.Hour }
func (echoer) Opened(time.Duration, mercury.ChannelID, mercury.Address) {}
func (e echoer) Message(_ time.Duration, ch mercury.ChannelID, _ bool, msg []byte) {
	e.on(e.net, ch, msg)
}
func (echoer) Closed(time.Duration, mercury.ChannelID, error) {}

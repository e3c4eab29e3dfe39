package streamtest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/mercury/stream"
)

// Echo measures one message of 100 bytes there and back, between two Loops in one process: twice the latency of a message that
// is flushed at once.
func Echo(b *testing.B, from, to *stream.Transport) {
	back := make(chan struct{}, 1)
	opened := make(chan mercury.ChannelID, 1)
	var out, in mercurytest.Recorder
	out.OnOpened = func(ch mercury.ChannelID, _ mercury.Address) { opened <- ch }
	msg := make([]byte, bulkMessage)
	from.SetHandler(echoer{&out, func(mercury.ChannelID, []byte) { back <- struct{}{} }})
	to.SetHandler(echoer{&in, func(ch mercury.ChannelID, msg []byte) {
		_ = to.Send(ch, msg)
		to.Flush()
	}})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	defer running.Wait() // a Transport has one owner at a time
	defer cancel()
	loops := []*stream.Loop{stream.NewLoop(from, stream.LoopConfig{}), stream.NewLoop(to, stream.LoopConfig{})}
	from.Dial(to.Self())
	for _, l := range loops {
		running.Go(func() { _ = l.Run(ctx) })
	}
	ch := <-opened
	b.ReportAllocs()
	send := func() {
		_ = from.Send(ch, msg)
		from.Flush()
	}
	for b.Loop() {
		if err := loops[0].Do(send); err != nil {
			b.Fatal(err)
		}
		<-back
	}
}

// echoer is a Recorder that keeps no messages.
type echoer struct {
	*mercurytest.Recorder
	on func(mercury.ChannelID, []byte)
}

func (e echoer) Message(_ time.Duration, ch mercury.ChannelID, _ bool, msg []byte) { e.on(ch, msg) }

package tcp_test

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/mercury/stream"
	"github.com/cellscape/cellscape/mercury/stream/streamtest"
	"github.com/cellscape/cellscape/mercury/tcp"
)

func config(salt uint32) tcp.Config {
	return tcp.Config{Config: stream.Config{Salt: salt, KeepAlive: 100 * time.Millisecond, Inactivity: 2 * time.Second}}
}

func listen(t testing.TB, cfg tcp.Config) *tcp.Transport {
	t.Helper()
	x, err := tcp.Listen("127.0.0.1:0", cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { streamtest.Stop(t, x.Transport) })
	return x
}

func TestTransport(t *testing.T) {
	mercurytest.TestTransport(t, func(t *testing.T, _ uint64) *mercurytest.Rig {
		return streamtest.Rig(listen(t, config(1)).Transport, listen(t, config(2)).Transport)
	})
}

func BenchmarkBulk(b *testing.B) {
	streamtest.Bulk(b, listen(b, config(1)).Transport, listen(b, config(2)).Transport)
}

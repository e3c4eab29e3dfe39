package websocket_test

import (
	"testing"

	"github.com/cellscape/cellscape/mercury/stream"
	"github.com/cellscape/cellscape/mercury/stream/streamtest"
	"github.com/cellscape/cellscape/mercury/websocket"
)

func listen(t testing.TB, cfg stream.Config) *stream.Transport {
	t.Helper()
	x, err := websocket.Listen("127.0.0.1:0", websocket.Config{Config: cfg}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return x.Transport
}

func TestAdapter(t *testing.T) { streamtest.TestAdapter(t, listen) }

// two are Transports for a benchmark.
func two(b *testing.B) (from, to *stream.Transport) {
	from, to = listen(b, stream.Config{Salt: 1}), listen(b, stream.Config{Salt: 2})
	b.Cleanup(func() {
		streamtest.Stop(b, from)
		streamtest.Stop(b, to)
	})
	return from, to
}

func BenchmarkBulk(b *testing.B) {
	from, to := two(b)
	streamtest.Bulk(b, from, to)
}

func BenchmarkEcho(b *testing.B) {
	from, to := two(b)
	streamtest.Echo(b, from, to)
}

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

func BenchmarkAdapter(b *testing.B) { streamtest.Bench(b, listen) }

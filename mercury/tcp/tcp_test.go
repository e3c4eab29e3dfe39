package tcp_test

import (
	"testing"

	"github.com/cellscape/cellscape/mercury/stream"
	"github.com/cellscape/cellscape/mercury/stream/streamtest"
	"github.com/cellscape/cellscape/mercury/tcp"
)

func listen(t testing.TB, cfg stream.Config) *stream.Transport {
	t.Helper()
	x, err := tcp.Listen("127.0.0.1:0", tcp.Config{Config: cfg}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return x.Transport
}

func TestAdapter(t *testing.T) { streamtest.TestAdapter(t, listen) }

func BenchmarkAdapter(b *testing.B) { streamtest.Bench(b, listen) }

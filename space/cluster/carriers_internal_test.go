package cluster

import (
	"bytes"
	"crypto/rand"
	"log/slog"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/mercury/udp"
)

// ears note when their channel is open.
type ears struct{ ch mercury.ChannelID }

func (x *ears) Opened(_ time.Duration, ch mercury.ChannelID, _ mercury.Address) { x.ch = ch }
func (x *ears) Message(time.Duration, mercury.ChannelID, bool, []byte)          {}
func (x *ears) Closed(time.Duration, mercury.ChannelID, error)                  {}

// Apps on one machine speak in datagrams that are as long as its loopback carries, and may have a
// tick in flight.
func TestInnerCarriersAreWide(t *testing.T) {
	t.Parallel()
	start := time.Now()
	clock := func() time.Duration { return time.Since(start) }
	var ends [2]*udp.Carrier
	var heard [2]ears
	for i := range ends {
		c, err := listenInnerUDP("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ends[i] = c.(*udp.Carrier)
		defer func() { _ = c.Release() }()
		if err := c.Begin(mercury.Start{Salt: uint32(i + 1), Clock: clock, Handler: &heard[i]}); err != nil {
			t.Fatal(err)
		}
	}
	ends[0].Dial(ends[1].Self())
	var s mercury.ChannelStats
	for deadline := clock() + 10*time.Second; clock() < deadline && s.MTU < mercury.JumboMTU; {
		for _, c := range ends {
			if _, err := c.Receive(clock() + time.Millisecond); err != nil {
				t.Fatal(err)
			}
			if err := c.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		s, _ = ends[0].ChannelStats(heard[0].ch)
	}
	if s.MTU != mercury.JumboMTU || s.Window < mercury.ServerFlight {
		t.Errorf("a channel between two apps has datagrams of up to %d bytes and a window of %d, want %d and %d", s.MTU, s.Window, mercury.JumboMTU, mercury.ServerFlight)
	}
}

// A door that players reach by another address can do what others can: it has a stream for
// downloads, and knows what its paths carry.
func TestAdvertisedDoorsAreWhole(t *testing.T) {
	key, err := secure.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Key: key, Listen: DefaultListen, Inner: UDP, Log: slog.New(slog.DiscardHandler)}
	public := netip.MustParseAddr("192.0.2.1")
	for _, d := range []Door{{Network: UDP}, {Network: TCP, Clear: true}, {Network: WebSocket, Clear: true}} {
		d.Listen = DefaultListen
		c.Doors = append(c.Doors, d)
		d.Advertise = public
		c.Doors = append(c.Doors, d)
	}
	opts, err := c.baseCarriers()
	if err != nil {
		t.Fatal(err)
	}
	h, err := host.New(host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	var env host.Env
	if _, err := h.Start("door", "", func(e host.Env) (host.App, error) {
		env = e
		return newWatcher(e.Transport, &ObserverConfig{}, e.Log, nil), nil
	}, opts...); err != nil {
		t.Fatal(err)
	}
	doors, places := env.Net.Carriers()[1:], env.Places[1:]
	for i := 0; i < len(doors); i += 2 {
		if plain, other := reflect.TypeOf(doors[i]), reflect.TypeOf(doors[i+1]); plain != other {
			t.Errorf("behind a translation a %v is a %v", plain, other)
		}
		if inner, outer := places[i].Self.At.Addr(), places[i+1].Self.At.Addr(); inner != netip.MustParseAddr(DefaultListen) || outer != public {
			t.Errorf("%s: players are told of %v and %v", places[i].Network, inner, outer)
		}
	}
}

// A process that can listen nowhere says so once, by its error.
func TestListenNowhere(t *testing.T) {
	var said bytes.Buffer
	c := Config{Listen: "192.0.2.1", Inner: UDP, Log: slog.New(slog.NewTextHandler(&said, nil))} // of documentation
	if _, _, err := c.listenLined(Ports{}); err == nil || said.Len() > 0 {
		t.Errorf("%v, and the log says %q", err, said.String())
	}
}

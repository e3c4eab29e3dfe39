package secure_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/mercury/secure"
)

// both is a Guard that dials its own like and accepts.
func both(tb testing.TB, seed byte) *secure.Guard {
	tb.Helper()
	key := keyOf(tb, 1)
	return newGuard(tb, secure.Config{Random: seeded(seed), Key: key, ServerKey: key.Public()})
}

func TestTransport(t *testing.T) {
	mercurytest.TestTransport(t, func(t *testing.T, seed uint64) *mercurytest.Rig {
		// The two ends run on one goroutine, so that they can share a Guard.
		return mercurytest.EndpointRig(t, seed, mercury.Config{Guard: both(t, byte(seed))})
	})
}

func TestHostileToEndpoints(t *testing.T) {
	mercurytest.TestHostile(t, func(t testing.TB, n int) mercury.Config {
		return mercury.Config{Secret: [16]byte{byte(n)}, Guard: both(t, byte(n))}
	})
}

// world is a server and clients in a World with a round trip of 50 ms.
type world struct {
	t       *testing.T
	w       *mercurytest.World
	server  *mercury.Endpoint
	heard   mercurytest.Recorder
	heardAt []time.Duration
	shown   bool // some datagram showed what was said
}

const (
	roundTrip = 50 * time.Millisecond
	said      = "the moon is made of green cheese"
)

func newWorld(t *testing.T, guard mercury.Guard) *world {
	t.Helper()
	w := &world{t: t, w: mercurytest.NewWorld(1)}
	w.w.Net.SetLink(mercurytest.Link{Delay: roundTrip / 2})
	w.heard.OnMessage = func(ch mercury.ChannelID, _ bool, msg []byte) {
		w.heardAt = append(w.heardAt, w.w.Now())
		_ = w.server.Send(ch, msg)
	}
	w.w.Net.Watch(func(_ time.Duration, _, _ netip.AddrPort, p []byte) {
		w.shown = w.shown || bytes.Contains(p, []byte("cheese"))
	})
	w.startServer(1, guard)
	return w
}

func (w *world) startServer(salt uint32, guard mercury.Guard) {
	w.t.Helper()
	w.server = w.start(1, salt, guard, &w.heard)
}

func (w *world) start(place int, salt uint32, guard mercury.Guard, h mercury.Handler) *mercury.Endpoint {
	w.t.Helper()
	e, err := mercury.NewEndpoint(mercury.Config{Salt: salt, Guard: guard}, mercurytest.Place(place), h)
	if err != nil {
		w.t.Fatal(err)
	}
	w.w.Add(e)
	return e
}

// ask dials the server, says something and waits for the echo. It returns when the server heard it
// and when the echo came, in halves of the round trip, and closes the channel.
func (w *world) ask(client *mercury.Endpoint, at *mercurytest.Recorder, to mercury.Address) (there, back int) {
	w.t.Helper()
	begun, before := w.w.Now(), len(w.heardAt)
	ch := client.Dial(to)
	if err := client.Send(ch, []byte(said)); err != nil {
		w.t.Fatal(err)
	}
	if !w.w.RunUntil(10*time.Second, func() bool { return len(at.Of(ch).Reliable) > 0 || len(at.Of(ch).Closed) > 0 }) {
		w.t.Fatal("no echo")
	}
	if err := at.Of(ch).Closed; len(err) > 0 {
		w.t.Fatal(err)
	}
	back = halves(w.w.Now() - begun)
	w.w.Run(time.Second)
	if got := w.heardAt[before:]; len(got) != 1 {
		w.t.Fatalf("the server heard it %d times", len(got))
	}
	client.Close(ch)
	w.w.Run(time.Second)
	return halves(w.heardAt[before] - begun), back
}

// halves rounds: ticks of the endpoints may add a little.
func halves(d time.Duration) int { return int((d + roundTrip/8) / (roundTrip / 2)) }

func (w *world) want(what string, there, back, wantThere int) {
	w.t.Helper()
	if there != wantThere || back != wantThere+1 {
		w.t.Errorf("%s: heard after %d half round trips, echo after %d, want %d and %d", what, there, back, wantThere, wantThere+1)
	}
}

func TestRoundTripsToConnect(t *testing.T) {
	w := newWorld(t, both(t, 1))
	var at mercurytest.Recorder
	client := w.start(2, 2, newGuard(t, secure.Config{Random: seeded(2), ServerKey: keyOf(t, 1).Public()}), &at)
	there, back := w.ask(client, &at, w.server.Self())
	w.want("full handshake", there, back, 3)
	for range 3 {
		there, back = w.ask(client, &at, w.server.Self())
		w.want("with a ticket", there, back, 1)
	}

	w.startServer(3, both(t, 3)) // knows nothing of the ticket
	there, back = w.ask(client, &at, mercury.Address{At: w.server.Self().At})
	w.want("with a ticket from before a restart of which the client does not know", there, back, 5)
	w.startServer(4, both(t, 4))
	there, back = w.ask(client, &at, w.server.Self())
	w.want("with a ticket from before a restart of which the client knows", there, back, 3)
	there, back = w.ask(client, &at, w.server.Self())
	w.want("with a ticket from after the restart", there, back, 1)
	if w.shown {
		t.Error("what was said went over the wire in the clear")
	}
}

// Under a flood of hellos a dialler pays one more round trip, unless it has a ticket.
func TestFloodOfHellosCostsARoundTrip(t *testing.T) {
	w := newWorld(t, both(t, 1))
	var at, atFlood mercurytest.Recorder
	client := w.start(2, 2, both(t, 2), &at)
	var opens [][]byte
	flooder := w.start(3, 3, both(t, 3), &atFlood)
	flooder.Dial(w.server.Self())
	flooder.Flush(w.w.Now(), func(_ netip.AddrPort, p []byte) { opens = append(opens, bytes.Clone(p)) })
	w.w.Remove(mercurytest.Place(3))

	flood := func() {
		for n := range 1500 {
			w.w.Inject(mercurytest.Place(1000+n), mercurytest.Place(1), opens[0])
		}
	}
	flood()
	w.w.Run(roundTrip / 4)
	if w.server.Stats().Challenged == 0 {
		t.Fatal("no open of the flood was challenged")
	}
	begun := w.w.Now()
	ch := client.Dial(w.server.Self())
	_ = client.Send(ch, []byte(said))
	flood()
	w.w.Run(roundTrip/2 - time.Microsecond)
	flood() // so that the client's open comes when no more may be answered
	if !w.w.RunUntil(5*time.Second, func() bool { return len(w.heardAt) > 0 }) {
		t.Fatal("no channel in spite of the cookie")
	}
	if got := halves(w.heardAt[0] - begun); got != 5 {
		t.Errorf("heard after %d half round trips, want 5", got)
	}
}

// A client that has the key of another server gets no channel, and leaves none behind.
func TestWrongServerKeyOpensNothing(t *testing.T) {
	w := newWorld(t, both(t, 1))
	var at mercurytest.Recorder
	client := w.start(2, 2, newGuard(t, secure.Config{Random: seeded(2), ServerKey: keyOf(t, 9).Public()}), &at)
	ch := client.Dial(w.server.Self())
	_ = client.Send(ch, []byte(said))
	w.w.Run(2 * roundTrip) // it learns of that at once
	if got := at.Of(ch).Closed; len(got) != 1 || !errors.Is(got[0], mercury.ErrKey) {
		t.Errorf("closed with %v, want ErrKey", got)
	}
	if len(w.heard.Order) != 0 || w.server.Stats().Channels != 0 {
		t.Error("the server has a channel")
	}
}

// Where no key is known, the channel ends and nothing is sent in the clear.
func TestNoServerKeySendsNothing(t *testing.T) {
	w := newWorld(t, both(t, 1))
	var at mercurytest.Recorder
	client := w.start(2, 2, newGuard(t, secure.Config{Random: seeded(2)}), &at)
	ch := client.Dial(w.server.Self())
	_ = client.Send(ch, []byte(said))
	w.w.Run(time.Minute)
	if got := at.Of(ch).Closed; len(got) != 1 {
		t.Errorf("closed with %v", got)
	}
	if got := client.Stats().PacketsOut; got != 0 {
		t.Errorf("%d packets were sent", got)
	}
}

// A LoginApp's ticket spares the client the round trip to the BaseApp.
func TestTicketOfALoginApp(t *testing.T) {
	keys := []secure.TicketKey{{1, 2, 3}}
	key := keyOf(t, 1)
	login := newGuard(t, secure.Config{Random: seeded(20), TicketKeys: keys, Epoch: 1_800_000_000})
	w := newWorld(t, newGuard(t, secure.Config{
		Random: seeded(21), Key: key, TicketKeys: keys, ID: 77, Epoch: 1_800_000_000,
	}))
	var at mercurytest.Recorder
	guard := newGuard(t, secure.Config{Random: seeded(22)})
	client := w.start(2, 2, guard, &at)
	ticket, err := login.Mint(nil, w.w.Now(), 77, mercurytest.Place(2).Addr())
	if err != nil {
		t.Fatal(err)
	}
	guard.Pin(w.server.Self().At, key.Public())
	guard.Keep(w.w.Now(), w.server.Self(), ticket)
	there, back := w.ask(client, &at, w.server.Self())
	w.want("with a LoginApp's ticket", there, back, 1)
}

// Over a bad network, with full handshakes and tickets mixed, whatever was said is heard once, in
// order.
func TestResumeOverABadNetwork(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 3))
		w := newWorld(t, both(t, 1))
		w.w = mercurytest.NewWorld(seed)
		w.w.Net.SetLink(mercurytest.Link{Delay: roundTrip / 2, Jitter: roundTrip / 2, Loss: 0.1, Duplicate: 0.1})
		w.startServer(1, both(t, 1))
		var got []string
		w.heard.OnMessage = func(_ mercury.ChannelID, _ bool, msg []byte) { got = append(got, string(msg)) }
		var at mercurytest.Recorder
		client := w.start(2, 2, both(t, 2), &at)
		var want []string
		for i := range 8 {
			if random.IntN(4) == 0 {
				w.startServer(uint32(100+i), both(t, byte(100+i)))
			}
			ch := client.Dial(w.server.Self())
			for j := range 10 {
				msg := fmt.Sprint(i, " ", j)
				want = append(want, msg)
				if err := client.Send(ch, []byte(msg)); err != nil {
					t.Fatal(err)
				}
				w.w.Run(time.Duration(random.IntN(20)) * time.Millisecond)
			}
			w.w.Run(3 * time.Second)
			if closed := at.Of(ch).Closed; len(closed) > 0 {
				t.Fatalf("seed %d, channel %d: %v", seed, i, closed)
			}
			client.Close(ch)
			w.w.Run(3 * time.Second)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("seed %d: heard\n%v, want\n%v", seed, got, want)
		}
	}
}

// TestHostilePeersAtAnInnerDoor floods a door for members from thousands of places: with hellos of
// strangers and of an old key, with a member's own hello replayed, changed and cut short, and with
// first packets under passes that are none. Nothing is kept of them, nobody gets a channel, and a
// member comes in meanwhile and is heard.
func TestHostilePeersAtAnInnerDoor(t *testing.T) {
	keys := []secure.ClusterKey{clusterKey(t, 8)}
	guard := newGuard(t, secure.Config{Random: seeded(3), Key: keyOf(t, 1), ClusterKeys: keys, Least: mercury.Member})
	w := newWorld(t, guard)
	dialler := func(place int, c secure.Config) (*mercury.Endpoint, *mercurytest.Recorder) {
		c.Random, c.ServerKey = seeded(byte(place)), keyOf(t, 1).Public()
		var at mercurytest.Recorder
		return w.start(place, uint32(place), newGuard(t, c), &at), &at
	}
	first := func(place int, c secure.Config) (open []byte) {
		e, _ := dialler(place, c)
		_ = e.Send(e.Dial(w.server.Self()), []byte("let me in"))
		e.Flush(w.w.Now(), func(_ netip.AddrPort, p []byte) { open = bytes.Clone(p) })
		w.w.Remove(mercurytest.Place(place))
		return open
	}
	member := first(5, secure.Config{ClusterKeys: keys})
	bad := [][]byte{first(3, secure.Config{}), first(4, secure.Config{ClusterKeys: []secure.ClusterKey{{9}}}), member}
	for i := 0; i < len(member)*8; i += 37 {
		flipped := bytes.Clone(member)
		flipped[i/8] ^= 1 << (i % 8)
		bad = append(bad, flipped, member[:i/8])
	}
	pass := bytes.Clone(member) // a first packet, as far as one can tell from outside
	pass[0] = 3
	bad = append(bad, pass)

	honest, at := dialler(2, secure.Config{ClusterKeys: keys})
	ch := honest.Dial(w.server.Self())
	_ = honest.Send(ch, []byte(said))
	for n := range 1500 { // half-open ones at once, more than are answered
		w.w.Inject(mercurytest.Place(1000+n), mercurytest.Place(1), member)
	}
	for n := range 100 {
		for m := range 50 {
			w.w.Inject(mercurytest.Place(1000+(n*50+m)%5000), mercurytest.Place(1), bad[(n*50+m)%len(bad)])
		}
		w.w.Run(10 * time.Millisecond)
	}
	if got := at.Of(ch); len(got.Reliable) != 1 || len(got.Closed) > 0 {
		t.Errorf("the member heard %d echoes, closed with %v", len(got.Reliable), got.Closed)
	}
	if s := w.server.Standing(w.heard.Order[0]); s != mercury.Member || len(w.heard.Order) != 1 {
		t.Errorf("%d have channels, the first is a %v's", len(w.heard.Order), s)
	}
	stats, seal := w.server.Stats(), guard.Stats()
	if stats.Channels != 1 || seal.Admitted != 1 {
		t.Errorf("%d channels, %d admitted", stats.Channels, seal.Admitted)
	}
	if seal.Strangers == 0 || seal.OldKeys == 0 || stats.BadHello == 0 || stats.Challenged == 0 {
		t.Errorf("not counted: %+v, %+v", seal, stats)
	}
}

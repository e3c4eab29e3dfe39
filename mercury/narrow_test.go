package mercury_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// narrowDelay is the delay of the paths in these tests, one way.
const narrowDelay = 25 * time.Millisecond

// narrowSetup is a server with games of one client each; all share a line towards the clients.
type narrowSetup struct {
	games  int
	rate   int // bytes a second towards the clients; 0 for no limit
	queue  time.Duration
	link   mercurytest.Link // what else happens, both ways
	copies int
	cubic  bool
	seed   uint64
}

// narrowGame is one client and its game.
type narrowGame struct {
	client   *mercury.Endpoint
	down, up mercury.ChannelID // the channel at the server, and at the client
	next     [2]time.Duration  // when the server, and the client, sends again
	sent     [2][]time.Duration
	heard    [2]int // by the client, by the server
	delays   [2][]time.Duration
	closed   error
	since    int
}

// narrowRig runs them in virtual time.
type narrowRig struct {
	t      testing.TB
	w      *mercurytest.World
	setup  narrowSetup
	server *mercury.Endpoint
	trunk  *mercurytest.Trunk
	cubic  *mercurytest.Cubic
	games  []*narrowGame
	byDown map[mercury.ChannelID]*narrowGame

	from      mercury.Stats // of the server when measuring began
	fromTrunk mercurytest.TrunkCounts
}

var narrowFlows = [2]chaosFlow{chaosDown, chaosUp}

// narrowServer hears the server's side.
type narrowServer struct{ r *narrowRig }

// Opened implements mercury.Handler.
func (s narrowServer) Opened(_ time.Duration, ch mercury.ChannelID, peer mercury.Address) {
	for _, g := range s.r.games {
		if g.client.Self().At == peer.At {
			g.down = ch
			s.r.byDown[ch] = g
		}
	}
}

// Closed implements mercury.Handler.
func (s narrowServer) Closed(_ time.Duration, ch mercury.ChannelID, reason error) {
	s.r.byDown[ch].closed = reason
}

// Message implements mercury.Handler.
func (s narrowServer) Message(_ time.Duration, ch mercury.ChannelID, _ bool, msg []byte) {
	s.r.hear(s.r.byDown[ch], 1, msg)
}

// narrowClient hears one client's side.
type narrowClient struct {
	r *narrowRig
	g *narrowGame
}

// Opened implements mercury.Handler.
func (c narrowClient) Opened(time.Duration, mercury.ChannelID, mercury.Address) {}

// Closed implements mercury.Handler.
func (c narrowClient) Closed(_ time.Duration, _ mercury.ChannelID, reason error) { c.g.closed = reason }

// Message implements mercury.Handler.
func (c narrowClient) Message(_ time.Duration, _ mercury.ChannelID, reliable bool, msg []byte) {
	if reliable {
		c.r.hear(c.g, 0, msg)
	}
}

// hear takes a message of a direction: 0 down, 1 up.
func (r *narrowRig) hear(g *narrowGame, way int, msg []byte) {
	n := int(binary.LittleEndian.Uint32(msg))
	if n != g.heard[way] {
		r.t.Fatalf("at %v message %d came when %d was due", r.w.Now(), n, g.heard[way])
	}
	g.heard[way]++
	g.delays[way] = append(g.delays[way], r.w.Now()-g.sent[way][n])
}

func newNarrowRig(t testing.TB, s narrowSetup) *narrowRig {
	t.Helper()
	r := &narrowRig{t: t, setup: s, w: mercurytest.NewWorld(s.seed + 1), byDown: make(map[mercury.ChannelID]*narrowGame)}
	if s.rate > 0 {
		r.trunk = mercurytest.NewTrunk(s.rate, s.queue)
	}
	r.setLink(s.link)
	endpoint := func(place int, h mercury.Handler) *mercury.Endpoint {
		e, err := mercury.NewEndpoint(mercury.Config{Salt: uint32(place), Copies: s.copies}, mercurytest.Place(place), h)
		if err != nil {
			t.Fatal(err)
		}
		r.w.Add(e)
		return e
	}
	r.server = endpoint(1, narrowServer{r})
	for i := range max(1, s.games) {
		g := &narrowGame{}
		r.games = append(r.games, g)
		g.client = endpoint(2+i, narrowClient{r, g})
		g.up = g.client.Dial(r.server.Self())
	}
	opened := func() bool { return len(r.byDown) == len(r.games) }
	if !r.w.RunUntil(5*time.Second, opened) {
		t.Fatal("the channels did not open")
	}
	for i, g := range r.games { // players do not act in step, the server's ticks go out together
		g.next = [2]time.Duration{r.w.Now(), r.w.Now() + time.Duration(i)*7*time.Millisecond}
	}
	if s.cubic {
		from, to := mercurytest.Place(100), mercurytest.Place(101)
		r.cubic = mercurytest.NewCubic(from, to)
		r.w.Net.SetLinkOneWay(from, to, mercurytest.Link{Delay: narrowDelay, Trunk: r.trunk})
		r.w.Add(r.cubic)
		r.w.Add(&mercurytest.CubicSink{At: to})
	}
	return r
}

// setLink sets what happens beside the line from now on.
func (r *narrowRig) setLink(l mercurytest.Link) {
	l.Delay = narrowDelay
	r.w.Net.SetLink(l)
	l.Trunk = r.trunk
	for i := range max(1, r.setup.games) {
		r.w.Net.SetLinkOneWay(mercurytest.Place(1), mercurytest.Place(2+i), l)
	}
}

// play lets all send for d.
func (r *narrowRig) play(d time.Duration) {
	r.t.Helper()
	for end := r.w.Now() + d; ; {
		next := end
		for _, g := range r.games {
			for way, f := range narrowFlows {
				for g.next[way] <= r.w.Now() {
					r.send(g, way, f)
					g.next[way] += f.every
				}
				next = min(next, g.next[way])
			}
		}
		r.w.Run(next - r.w.Now())
		if next == end {
			return
		}
	}
}

func (r *narrowRig) send(g *narrowGame, way int, f chaosFlow) {
	e, ch := r.server, g.down
	if way == 1 {
		e, ch = g.client, g.up
	}
	msg := binary.LittleEndian.AppendUint32(make([]byte, 0, f.size), uint32(len(g.sent[way])))
	g.sent[way] = append(g.sent[way], r.w.Now())
	if err := e.Send(ch, msg[:f.size]); err != nil || g.closed != nil {
		r.t.Fatalf("at %v: %v, %v", r.w.Now(), err, g.closed)
	}
}

// measure begins to count anew.
func (r *narrowRig) measure() {
	r.from = r.server.Stats()
	if r.trunk != nil {
		r.fromTrunk = r.trunk.Counts()
	}
	for _, g := range r.games {
		g.since = len(g.sent[0])
	}
}

// narrowFigures are those of the direction towards the clients since measure.
type narrowFigures struct {
	p50, p99, worst time.Duration
	worstGame       time.Duration // p50 of the game that fares worst
	bytes           int           // on the wire
	copied, resends int
	dropped         float64 // share of the datagrams that the line dropped
	behind          int     // messages not delivered
}

// String is for logs.
func (f narrowFigures) String() string {
	ms := func(d time.Duration) string { return fmt.Sprintf("%.1f", d.Seconds()*1000) }
	return fmt.Sprintf("p50 %s (worst game %s), p99 %s, max %s ms, %d bytes, %d copies, %d resends, %.3f dropped, %d behind",
		ms(f.p50), ms(f.worstGame), ms(f.p99), ms(f.worst), f.bytes, f.copied, f.resends, f.dropped, f.behind)
}

func (r *narrowRig) figures() (f narrowFigures) {
	now := r.server.Stats()
	f.bytes = int(now.BytesOut-r.from.BytesOut) + int(now.PacketsOut-r.from.PacketsOut)*mercurytest.PacketOverhead
	f.copied, f.resends = int(now.Copies-r.from.Copies), int(now.Resends-r.from.Resends)
	var all []time.Duration
	for _, g := range r.games {
		own := slices.Clone(g.delays[0][min(g.since, len(g.delays[0])):])
		for _, at := range g.sent[0][g.heard[0]:] { // what has not come is at least this late
			own = append(own, r.w.Now()-at)
		}
		f.behind += len(g.sent[0]) - g.heard[0]
		f.worstGame = max(f.worstGame, percentile(own, 50))
		all = append(all, own...)
	}
	f.p50, f.p99, f.worst = percentile(all, 50), percentile(all, 99), percentile(all, 100)
	if r.trunk != nil {
		c := r.trunk.Counts()
		dropped, passed := c.Dropped-r.fromTrunk.Dropped, c.Passed-r.fromTrunk.Passed
		f.dropped = float64(dropped) / float64(max(1, dropped+passed))
	}
	return f
}

// narrowRun plays the same scenario with copies and without.
func narrowRun(t *testing.T, s narrowSetup, scenario func(*narrowRig) narrowFigures) (with, without narrowFigures) {
	t.Helper()
	r := newNarrowRig(t, s)
	with = scenario(r)
	for i, g := range r.games[:min(2, len(r.games))] {
		d, _ := r.server.ChannelStats(g.down)
		t.Logf("game %d: %+v", i, d)
	}
	s.copies = mercury.NoCopies
	without = scenario(newNarrowRig(t, s))
	t.Logf("with copies:    %v", with)
	t.Logf("without copies: %v", without)
	return with, without
}

// lossThenPeace is a loss in the first ten seconds. What comes from five seconds later on is
// measured.
func lossThenPeace(loss float64) func(*narrowRig) narrowFigures {
	return func(r *narrowRig) narrowFigures {
		r.setLink(mercurytest.Link{Loss: loss})
		r.play(10 * time.Second)
		r.setLink(mercurytest.Link{})
		r.play(5 * time.Second)
		r.measure()
		r.play(20 * time.Second)
		return r.figures()
	}
}

// steady measures a link as it is, once the sender knows it.
func steady(r *narrowRig) narrowFigures {
	r.play(20 * time.Second)
	r.measure()
	r.play(60 * time.Second)
	return r.figures()
}

// narrowSeeds are played for one judgement: what is sent with copies meets other losses than what is
// sent without.
const narrowSeeds = 4

// narrowMean is the mean of runs.
func narrowMean(runs []narrowFigures) (m narrowFigures) {
	n := time.Duration(len(runs))
	for _, f := range runs {
		m.p50, m.p99, m.worst, m.worstGame = m.p50+f.p50/n, m.p99+f.p99/n, m.worst+f.worst/n, m.worstGame+f.worstGame/n
		m.bytes += f.bytes / len(runs)
		m.dropped += f.dropped / float64(len(runs))
		m.behind = max(m.behind, f.behind)
	}
	return m
}

// narrowWants are bounds against the run without copies.
type narrowWants struct {
	p50, p99 float64 // times that of the run without copies
	bytes    float64 // likewise
	dropped  float64 // share of datagrams above it
}

func (w narrowWants) check(t *testing.T, with, without narrowFigures) {
	t.Helper()
	over := func(what string, got, want float64) {
		if got > want {
			t.Errorf("%s: %.4g, want at most %.4g", what, got, want)
		}
	}
	over("p50 in ms", with.p50.Seconds()*1000, w.p50*without.p50.Seconds()*1000)
	over("p50 in ms of the worst game", with.worstGame.Seconds()*1000, w.p50*without.worstGame.Seconds()*1000)
	over("p99 in ms", with.p99.Seconds()*1000, w.p99*without.p99.Seconds()*1000)
	over("bytes", float64(with.bytes), w.bytes*float64(without.bytes))
	over("share that the line dropped", with.dropped, without.dropped+w.dropped)
	over("messages behind", float64(with.behind), float64(without.behind)+16)
}

// Copies never make loss: on a line that carries the game but not its copies, a game with copies
// fares as one without.
func TestNarrowCopies(t *testing.T) {
	kbit := func(n int) int { return n * 1000 / 8 }
	for _, test := range []struct {
		name     string
		setup    narrowSetup
		scenario func(*narrowRig) narrowFigures
		want     narrowWants
	}{
		{"256 kbit, after 5 %", narrowSetup{rate: kbit(256), queue: 200 * time.Millisecond},
			lossThenPeace(0.05), narrowWants{1.1, 1.1, 1.15, 0.001}},
		{"200 kbit, after 5 %", narrowSetup{rate: kbit(200), queue: 200 * time.Millisecond},
			lossThenPeace(0.05), narrowWants{1.1, 1.1, 1.15, 0.001}},
		{"256 kbit, short queue, after 5 %", narrowSetup{rate: kbit(256), queue: 25 * time.Millisecond},
			lossThenPeace(0.05), narrowWants{1.1, 1.1, 1.15, 0.001}},
		{"200 kbit, 1 %", narrowSetup{rate: kbit(200), queue: 200 * time.Millisecond, link: mercurytest.Link{Loss: 0.01}},
			steady, narrowWants{1.1, 1.2, 1.25, 0.001}},
		{"200 kbit, short queue, 1 %", narrowSetup{rate: kbit(200), queue: 25 * time.Millisecond, link: mercurytest.Link{Loss: 0.01}},
			steady, narrowWants{1.1, 1.3, 1.25, 0.01}},
		{"200 kbit, hardly a queue, 1 %", narrowSetup{rate: kbit(200), queue: 20 * time.Millisecond, link: mercurytest.Link{Loss: 0.01}},
			steady, narrowWants{1.1, 1.3, 1.25, 0.02}},
		{"256 kbit, hardly a queue, after 5 %", narrowSetup{rate: kbit(256), queue: 12 * time.Millisecond},
			lossThenPeace(0.05), narrowWants{1.1, 1.1, 1.15, 0.001}},
		{"256 kbit, 5 %", narrowSetup{rate: kbit(256), queue: 200 * time.Millisecond, link: mercurytest.Link{Loss: 0.05}},
			steady, narrowWants{1.3, 1.2, 2, 0.002}},
		{"eight at 2 Mbit, after 5 %", narrowSetup{games: 8, rate: kbit(2000), queue: 200 * time.Millisecond},
			lossThenPeace(0.05), narrowWants{1.1, 1.1, 1.15, 0.001}},
		{"eight at 2 Mbit, 1 %", narrowSetup{games: 8, rate: kbit(2000), queue: 200 * time.Millisecond, link: mercurytest.Link{Loss: 0.01}},
			steady, narrowWants{1.25, 1.2, 2, 0.001}},
		{"eight at 1.3 Mbit, 1 %", narrowSetup{games: 8, rate: kbit(1300), queue: 200 * time.Millisecond, link: mercurytest.Link{Loss: 0.01}},
			steady, narrowWants{1.15, 1.2, 1.35, 0.002}},
		{"beside cubic at 2 Mbit", narrowSetup{rate: kbit(2000), queue: 100 * time.Millisecond, cubic: true},
			steady, narrowWants{1.1, 1.2, 1.2, 0.005}},
		{"beside cubic at 2 Mbit, 1 %", narrowSetup{rate: kbit(2000), queue: 100 * time.Millisecond, cubic: true, link: mercurytest.Link{Loss: 0.01}},
			steady, narrowWants{1.1, 1.2, 2, 0.005}},
		{"beside cubic, short queue", narrowSetup{rate: kbit(2000), queue: 30 * time.Millisecond, cubic: true},
			steady, narrowWants{1.2, 1.2, 1.5, 0.01}},
		{"bursts of 8", narrowSetup{link: mercurytest.Link{BurstBegin: 0.004, BurstEnd: 0.125}},
			steady, narrowWants{1.1, 1.7, 1.2, 0}},
		{"outages", narrowSetup{link: mercurytest.Link{Outage: 300 * time.Millisecond, OutageEvery: 3 * time.Second}},
			steady, narrowWants{1.1, 1.1, 1.2, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var with, without []narrowFigures
			for seed := range uint64(narrowSeeds) {
				test.setup.seed = seed
				a, b := narrowRun(t, test.setup, test.scenario)
				with, without = append(with, a), append(without, b)
			}
			test.want.check(t, narrowMean(with), narrowMean(without))
		})
	}
}

// Where the path has room and loses packets by chance, copies do what they are for.
func TestCopiesWithRoom(t *testing.T) {
	jitter := 10 * time.Millisecond
	for _, test := range []struct {
		name string
		link mercurytest.Link
		rate int
		p99  time.Duration
	}{
		{"1 %", mercurytest.Link{Loss: 0.01}, 0, 42 * time.Millisecond},
		{"5 %", mercurytest.Link{Loss: 0.05}, 0, 42 * time.Millisecond},
		{"10 %", mercurytest.Link{Loss: 0.10}, 0, 60 * time.Millisecond},
		{"5 %, jitter", mercurytest.Link{Loss: 0.05, Jitter: jitter}, 0, 42*time.Millisecond + jitter},
		{"5 %, 2 Mbit", mercurytest.Link{Loss: 0.05}, 250_000, 45 * time.Millisecond},
	} {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("%s, seed %d", test.name, seed), func(t *testing.T) {
				setup := narrowSetup{link: test.link, rate: test.rate, queue: 200 * time.Millisecond, seed: seed}
				with, without := narrowRun(t, setup, steady)
				if with.p99 > test.p99 {
					t.Errorf("p99 is %v, want at most %v", with.p99, test.p99)
				}
				if without.p99 < 70*time.Millisecond {
					t.Errorf("without copies p99 is %v: the test shows nothing", without.p99)
				}
			})
		}
	}
}

// A machine that stands still for a moment delays packets as a queue does. That is no reason to do
// without copies for long.
func TestCopiesOnBusyMachine(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			busy := func(r *narrowRig) narrowFigures {
				play := func(d time.Duration) {
					for end := r.w.Now() + d; r.w.Now() < end; {
						r.play(600 * time.Millisecond)
						r.w.Pause(mercurytest.Place(2), true)
						r.play(70 * time.Millisecond)
						r.w.Pause(mercurytest.Place(2), false)
					}
				}
				play(20 * time.Second)
				r.measure()
				play(60 * time.Second)
				return r.figures()
			}
			with, without := narrowRun(t, narrowSetup{link: mercurytest.Link{Loss: 0.05}, seed: seed}, busy)
			if with.copied < 6000 { // of 7500
				t.Errorf("%d copies of 3750 messages", with.copied)
			}
			if with.p99 > without.p99*4/5 {
				t.Errorf("p99 is %v, without copies %v", with.p99, without.p99)
			}
		})
	}
}

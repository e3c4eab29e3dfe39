package allowance

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

const tick = 100 * time.Millisecond

// path is a path with a bottleneck, and a game at one end of it that sends as much as it may.
type path struct {
	carries int           // bytes a second
	room    int           // bytes that wait before the bottleneck
	trip    time.Duration // of the empty path
	loss    float64       // whatever is sent
	local   bool          // what waits, waits on this machine, as over TCP, and nothing is lost
	budget  int           // bytes a second that the game would send

	a      Allowance
	chance *rand.Rand
	now    time.Duration
	queue  int
	smooth time.Duration
	look   Look

	rates   []int
	came    int // bytes that arrived since the last reset
	lost    int // packets
	longest time.Duration
}

func newPath(carries, budget int) *path {
	return &path{carries: carries, room: 64 << 10, trip: 60 * time.Millisecond, budget: budget, chance: rand.New(rand.NewPCG(1, 2))}
}

func (p *path) reset() { p.rates, p.came, p.lost, p.longest = nil, 0, 0, 0 }

func (p *path) run(d time.Duration) {
	for end := p.now + d; p.now < end; p.now += tick {
		send := p.budget
		if r := p.a.Rate(); r > 0 {
			send = min(send, r)
		}
		p.send(send / 10)
		gone := min(p.queue, p.carries/10)
		p.queue -= gone
		p.came += gone
		p.look.Delivered += uint64(gone)
		rtt := p.trip
		if !p.local {
			rtt += time.Duration(p.queue) * time.Second / time.Duration(p.carries)
		}
		p.smooth += (rtt - p.smooth) / 4
		p.longest = max(p.longest, rtt)
		p.look.RTT, p.look.MinRTT = p.smooth, 0
		if p.local {
			p.look.Waiting = p.queue
		}
		if p.a.Due(p.now) {
			p.a.Look(p.now, p.look)
			p.rates = append(p.rates, p.a.Rate())
		}
	}
}

// send sends packets of up to a thousand bytes.
func (p *path) send(bytes int) {
	p.look.Sent += uint64(bytes)
	for ; bytes > 0; bytes -= 1000 {
		p.look.Packets++
		size := min(bytes, 1000)
		switch {
		case p.chance.Float64() < p.loss, !p.local && p.queue+size > p.room:
			p.look.Lost++
			p.lost++
		default:
			p.queue += size
		}
	}
}

// turns counts how often the rate changed direction.
func (p *path) turns() (n int) {
	up := true
	for i := 1; i < len(p.rates); i++ {
		was, is := p.rates[i-1], p.rates[i]
		if was == 0 {
			was = Most
		}
		if is == 0 {
			is = Most
		}
		if is != was && (is > was) != up {
			up = is > was
			n++
		}
	}
	return n
}

// TestNarrowPath: whatever kind of queue a narrow path has, the allowance comes near what it carries
// within seconds, stays there with few turns, uses the path, and leaves no queue to speak of.
func TestNarrowPath(t *testing.T) {
	for name, change := range map[string]func(*path){
		"a deep queue":    func(*path) {},
		"a shallow queue": func(p *path) { p.room = 2000 },
		"over TCP":        func(p *path) { p.local = true },
		"and radio":       func(p *path) { p.loss = 0.05 },
		"far away":        func(p *path) { p.trip = 400 * time.Millisecond },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPath(8000, 50_000)
			change(p)
			p.run(30 * time.Second) // what came before the first cut has to drain
			p.reset()
			p.run(2 * time.Minute)
			worst := time.Duration(float64(p.longest) - float64(p.trip))
			t.Logf("carried %d of 8000 bytes a second, %d packets lost, a queue of %v at most, %d turns", p.came/120, p.lost, worst, p.turns())
			if p.came/120 < 5500 {
				t.Error("the path is not used")
			}
			if n := p.turns(); n > 2*120/10+2 {
				t.Error("the allowance flaps")
			}
			if worst > 2*time.Second { // a fifth of what it is without an allowance
				t.Error("a queue stands")
			}
		})
	}
}

// TestWideAgain: FullAgain holds from a narrow path to a wide one.
func TestWideAgain(t *testing.T) {
	for _, carries := range []int{1500, 8000, 30_000} {
		p := newPath(carries, 50_000)
		p.run(30 * time.Second)
		narrow := p.a.Rate()
		if narrow == 0 {
			t.Fatalf("a path of %d is not limited", carries)
		}
		p.carries, p.queue = 1_000_000, 0
		at := p.now
		for p.a.Rate() != 0 && p.a.Rate() < 50_000 && p.now < at+time.Minute {
			p.run(tick)
		}
		t.Logf("from %d to 50000 bytes a second in %v, promised %v", narrow, p.now-at, FullAgain(narrow, 50_000))
		if took := p.now - at; took > FullAgain(narrow, 50_000) {
			t.Errorf("from %d it took %v, and not %v", narrow, took, FullAgain(narrow, 50_000))
		}
		p.reset()
		if p.run(time.Minute); p.turns() != 0 || p.a.Rate() != 0 {
			t.Errorf("a wide path is limited to %d", p.a.Rate())
		}
	}
}

// TestPathsThatAreNotFull: neither loss that has nothing to do with the load nor a longer way for
// good leads to less for long.
func TestPathsThatAreNotFull(t *testing.T) {
	radio := newPath(1_000_000, 20_000)
	radio.loss = 0.08
	radio.run(5 * time.Minute)
	if n := radio.a.Cuts(); n > 1 {
		t.Errorf("%d cuts for a radio path", n)
	}

	moved := newPath(1_000_000, 20_000)
	moved.run(10 * time.Second)
	moved.trip = 700 * time.Millisecond
	moved.run(time.Minute)
	n := moved.a.Cuts()
	moved.run(5 * time.Minute)
	if moved.a.Cuts() != n || moved.a.Rate() != 0 {
		t.Errorf("a longer way: %d cuts, then %d, and %d bytes a second", n, moved.a.Cuts(), moved.a.Rate())
	}

	quiet := newPath(1_000_000, 2_000)
	if quiet.run(5 * time.Minute); quiet.a.Cuts() != 0 {
		t.Errorf("%d cuts for a quiet game", quiet.a.Cuts())
	}
}

// TestAnyLooks: whatever is reported, the invariants hold and the rate stays in its bounds.
func TestAnyLooks(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var a Allowance
		var l Look
		now := time.Duration(0)
		for range 500 {
			now += time.Duration(chance.IntN(1500)) * time.Millisecond
			if !a.Due(now) {
				continue
			}
			packets := chance.Uint64N(50)
			l.Packets, l.Lost, l.Sent = l.Packets+packets, l.Lost+chance.Uint64N(packets+1)/(1+chance.Uint64N(20)), l.Sent+chance.Uint64N(1<<chance.Uint64N(40))
			l.Delivered, l.Dropped, l.Waiting = l.Delivered+chance.Uint64N(1<<17), l.Dropped+chance.Uint64N(20)/19, chance.IntN(1<<chance.IntN(20))
			l.RTT = time.Duration(chance.IntN(2000)) * time.Millisecond
			if chance.IntN(50) == 0 {
				l.Survey = mercury.Survey{}
			}
			a.Look(now, l)
			if r := a.Rate(); r != 0 && (r < Least || r > Most) {
				t.Fatalf("%d bytes a second", r)
			}
		}
	}
}

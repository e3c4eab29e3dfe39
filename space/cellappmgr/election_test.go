package cellappmgr

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// polling is an election on a network that loses, delays and reorders, between processes that pause and
// start anew.
type polling struct {
	t      *testing.T
	chance *rand.Rand
	now    time.Duration
	voters []*pollster
	air    []leaflet
	led    map[uint32]int // who led in a term
	begins int            // of leaders
	last   uint32
}

type pollster struct {
	e       *election
	address mercury.Address
	until   time.Duration // paused
	granted Grant
	leads   bool
	cut     bool
	slow    time.Duration // how much slower its clock is, in 1/1024
}

func (p *pollster) clock(now time.Duration) time.Duration { return now + now*p.slow/1024 }

type leaflet struct {
	at       time.Duration
	from, to int
	sender   mercury.Address
	msg      wire.Message
}

func newPolling(t *testing.T, n int, seed uint64) *polling {
	p := &polling{t: t, chance: rand.New(rand.NewPCG(seed, 1)), led: map[uint32]int{}}
	for range n {
		p.voters = append(p.voters, &pollster{slow: time.Duration(p.chance.IntN(60) - 30)})
	}
	for i := range n {
		p.start(i)
	}
	return p
}

func (p *polling) start(i int) {
	v := p.voters[i]
	v.address = mercury.Address{At: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), 1), Salt: p.chance.Uint32() | 1}
	v.leads, v.granted, v.until = false, Grant{}, 0
	v.e = newElection(i, len(p.voters), func(to int, m *wire.LeaseAsk) { p.post(i, to, m) })
}

func (p *polling) post(from, to int, m wire.Message) {
	if p.chance.IntN(10) == 0 {
		return
	}
	at := p.now + time.Duration(p.chance.IntN(30))*time.Millisecond
	if p.chance.IntN(20) == 0 {
		at += time.Duration(p.chance.IntN(2000)) * time.Millisecond
	}
	p.air = append(p.air, leaflet{at, from, to, p.voters[from].address, m})
}

// elected is who leads after the time that an election takes at the most.
func (p *polling) elected() int {
	p.t.Helper()
	p.run(4 * time.Second)
	first := p.leader()
	if first < 0 {
		p.t.Fatal("nobody leads")
	}
	return first
}

// leader is who leads now, -1 for none. Two at once are a fault, even if one of them is paused: it
// might have sent something the moment before.
func (p *polling) leader() int {
	p.t.Helper()
	who := -1
	for i, v := range p.voters {
		if v.leads && v.clock(p.now) < v.granted.Until {
			if who >= 0 {
				p.t.Fatalf("%v: %d leads in term %d, and %d in term %d", p.now, who, p.voters[who].granted.Term, i, v.granted.Term)
			}
			who = i
		}
	}
	return who
}

func (p *polling) step() {
	p.now += 10 * time.Millisecond
	for i := 0; i < len(p.air); i++ {
		l := p.air[i]
		v := p.voters[l.to]
		if l.at > p.now || p.now < v.until {
			continue
		}
		p.air = append(p.air[:i], p.air[i+1:]...)
		i--
		if v.cut || p.voters[l.from].cut {
			continue
		}
		switch m := l.msg.(type) {
		case *wire.LeaseAsk:
			answer := v.e.asks(v.clock(p.now), l.sender, m)
			p.post(l.to, l.from, &answer)
		case *wire.LeaseVote:
			v.e.votes(v.clock(p.now), l.from, m)
		}
	}
	for i, v := range p.voters {
		if p.now < v.until || p.now%(100*time.Millisecond) != time.Duration(i)*10*time.Millisecond {
			continue
		}
		was := v.leads
		before := v.granted.Term
		v.granted, v.leads = v.e.Claim(v.clock(p.now), 0)
		if v.leads && (!was || before != v.granted.Term) {
			p.begins++
			if who, ok := p.led[v.granted.Term]; ok && who >= 0 {
				p.t.Fatalf("%v: %d leads in term %d, in which %d has led", p.now, i, v.granted.Term, who)
			}
			p.led[v.granted.Term], p.last = i, v.granted.Term
		}
	}
	p.leader()
}

func (p *polling) run(d time.Duration) {
	for end := p.now + d; p.now < end; {
		p.step()
	}
}

// TestElection: whatever the network does and whoever pauses or starts anew, never two lead at once, no
// term is led twice, and in peace somebody leads, without an end to the terms.
func TestElection(t *testing.T) {
	for _, n := range []int{1, 3, 5} {
		for seed := range uint64(20) {
			p := newPolling(t, n, seed*100+uint64(n))
			for range 60 {
				v := p.voters[p.chance.IntN(n)]
				switch p.chance.IntN(5) {
				case 0:
					v.until = p.now + time.Duration(p.chance.IntN(4000))*time.Millisecond
				case 1:
					v.cut = true
				case 2, 3:
					v.cut = false
				}
				if n > 1 && p.chance.IntN(6) == 0 { // one that can ask the others what it forgets
					for _, v := range p.voters {
						v.cut, v.until = false, 0
					}
					p.start(p.chance.IntN(n))
					p.run(4 * time.Second)
				}
				p.run(time.Duration(p.chance.IntN(3000)) * time.Millisecond)
			}
			for _, v := range p.voters {
				v.cut, v.until = false, 0
			}
			p.run(8 * time.Second)
			if p.leader() < 0 {
				t.Fatalf("%d managers, seed %d: nobody leads in peace", n, seed)
			}
			begins, term := p.begins, p.last
			p.run(20 * time.Second)
			if p.begins != begins {
				t.Errorf("%d managers, seed %d: the lead changed in peace", n, seed)
			}
			if int(term) > begins+20 {
				t.Errorf("%d managers, seed %d: term %d after %d leads", n, seed, term, begins)
			}
		}
	}
}

// TestElectionTakesOver: a leader that is gone is replaced soon.
func TestElectionTakesOver(t *testing.T) {
	p := newPolling(t, 3, 7)
	first := p.elected()
	p.voters[first].cut, p.voters[first].until = true, time.Hour
	gone := p.now
	for p.leader() < 0 || p.leader() == first {
		p.step()
		if p.now-gone > 3*time.Second {
			t.Fatal("nobody takes over")
		}
	}
	if took := p.now - gone; took < time.Second || took > 2500*time.Millisecond {
		t.Errorf("it took %v", took)
	}
	// Alone, it gives up in time and stands again; cut off for long, it uses up no terms.
	second := p.leader()
	p.voters[second].cut = true
	p.run(time.Minute)
	if p.leader() == second {
		t.Error("one that is cut off leads on")
	}
	if e := p.voters[second].e; e.high > p.voters[second].granted.Term+3 {
		t.Errorf("term %d was wanted, %d was led in", e.high, p.last)
	}
}

// TestElectionLeaves: all are being stopped. The leader goes on to lead, the others know that it is awaited,
// and when it has ended nobody begins.
func TestElectionLeaves(t *testing.T) {
	p := newPolling(t, 3, 9)
	first := p.elected()
	if p.voters[(first+1)%3].e.awaited(p.now) {
		t.Error("a leader that stays is awaited")
	}
	for _, v := range p.voters {
		v.e.leave(v.clock(p.now))
	}
	p.run(20 * time.Second)
	if p.leader() != first {
		t.Fatalf("%d leads, and %d led before", p.leader(), first)
	}
	for i, v := range p.voters {
		if is := v.e.awaited(v.clock(p.now)); is != (i != first) {
			t.Errorf("%d awaits its leader: %v", i, is)
		}
	}
	p.voters[first].cut, p.voters[first].until = true, time.Hour
	p.run(20 * time.Second)
	for i, v := range p.voters {
		if i != first && (v.leads || v.e.awaited(v.clock(p.now))) {
			t.Errorf("%d leads %v, and awaits %v", i, v.leads, v.e.awaited(v.clock(p.now)))
		}
	}
}

// TestElectionWithoutTerms: who needs a term above all that there are leads no more, not even in its own.
func TestElectionWithoutTerms(t *testing.T) {
	p := newPolling(t, 3, 8)
	first := p.elected()
	v := p.voters[first]
	if g, ok := v.e.Claim(v.clock(p.now), MaxTerm+1); ok {
		t.Errorf("it leads in %+v", g)
	}
	v.leads = false
}

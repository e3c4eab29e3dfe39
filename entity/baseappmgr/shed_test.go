package baseappmgr

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// worker is a BaseApp whose bases all take the same work.
type worker struct {
	ch    mercury.ChannelID
	bases int
	cost  float64 // cores a base
	cpu   time.Duration
}

// sheds is a BaseAppMgr with such BaseApps.
type sheds struct {
	*rig
	apps []*worker
}

func newSheds(t *testing.T, apps ...*worker) *sheds {
	s := &sheds{newRig(t), apps}
	for i, w := range apps {
		w.ch = s.joinTold(mercurytest.Host(byte(2+i), 1))
	}
	return s
}

// play has the BaseApps tell their loads once a second and follow orders, and counts the bases that move.
func (s *sheds) play(d time.Duration) (moved int) {
	s.t.Helper()
	for end := s.now + d; s.now < end; {
		for range 10 {
			s.tick(100 * time.Millisecond)
		}
		for _, w := range s.apps {
			w.cpu += time.Duration(float64(time.Second) * w.cost * float64(w.bases))
			s.say(w.ch, &wire.BaseLoad{Bases: uint32(w.bases), CPU: w.cpu})
		}
		moved += s.follow()
	}
	return moved
}

// follow moves what is ordered, with the work that it is.
func (s *sheds) follow() (moved int) {
	s.t.Helper()
	for _, from := range s.apps {
		for _, msg := range s.net.Take(from.ch) {
			var o wire.Shed
			id, body, err := wire.Split(msg)
			if err != nil || id != wire.ShedID || o.Parse(body) != nil {
				s.t.Fatalf("message %v, %v", id, err)
			}
			for _, to := range s.apps {
				if at, _ := s.net.Peer(to.ch); at == o.To {
					n := int(o.Bases)
					to.cost = (to.cost*float64(to.bases) + from.cost*float64(n)) / float64(to.bases+n)
					from.bases, to.bases, moved = from.bases-n, to.bases+n, moved+n
				}
			}
		}
	}
	return moved
}

func (s *sheds) wantLoads(least, most float64) {
	s.t.Helper()
	for i, w := range s.apps {
		if load := w.cost * float64(w.bases); load < least || load > most {
			s.t.Errorf("BaseApp %d has a load of %.3f with %d bases; want %v to %v", i, load, w.bases, least, most)
		}
	}
}

// TestShedByWork: of BaseApps with as many bases each, one with more work gives some away until the
// loads are alike, and then nothing moves.
func TestShedByWork(t *testing.T) {
	s := newSheds(t, &worker{bases: 1000, cost: 0.8e-3}, &worker{bases: 1000, cost: 0.2e-3}, &worker{bases: 1000, cost: 0.2e-3})
	s.play(time.Minute)
	s.wantLoads(0.3, 0.45)
	if n := s.play(5 * time.Minute); n != 0 {
		t.Errorf("%d bases move although the loads are alike", n)
	}
}

// TestShedBesideWork: one with few bases and much work is given hardly any of those that have
// little, for their number.
func TestShedBesideWork(t *testing.T) {
	s := newSheds(t, &worker{bases: 100, cost: 4e-3}, &worker{bases: 5000, cost: 8e-5})
	if n := s.play(time.Minute); n > 500 {
		t.Errorf("%d bases move although the loads are alike", n)
	}
	s.wantLoads(0.35, 0.45)
	if n := s.play(5 * time.Minute); n != 0 {
		t.Errorf("%d bases move to and fro", n)
	}
}

// TestShedByNumber: with little work the numbers become alike.
func TestShedByNumber(t *testing.T) {
	s := newSheds(t, &worker{bases: 3000}, &worker{}, &worker{bases: 600, cost: 1e-5})
	s.play(time.Minute)
	for i, w := range s.apps {
		if w.bases < 1000 || w.bases > 1400 {
			t.Errorf("BaseApp %d has %d bases", i, w.bases)
		}
	}
}

// TestShedLeavesFew: neither a busy second nor a few bases more are worth a move.
func TestShedLeavesFew(t *testing.T) {
	s := newSheds(t, &worker{bases: 150, cost: 1e-3}, &worker{bases: 50, cost: 1e-3})
	s.play(10 * time.Second)
	s.apps[1].cpu += 250 * time.Millisecond
	if n := s.play(time.Minute); n != 0 {
		t.Errorf("%d bases move", n)
	}
}

// TestNothingNewWhereWorkGoes: a BaseApp that has too much work gets no new base, though it has the fewest.
func TestNothingNewWhereWorkGoes(t *testing.T) {
	s := newSheds(t, &worker{bases: 1, cost: 0.9}, &worker{bases: 50, cost: 1e-3})
	s.play(10 * time.Second) // one base cannot be shared out
	s.create("ann")
	if m := s.asked(s.apps[1].ch); m.Account != "ann" {
		t.Errorf("asked for %+v", m)
	}
}
